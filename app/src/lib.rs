//! The screens of Goodput Studio. Rendered on the server first (feature `ssr`), woken up in the browser (`hydrate`).

pub mod studio; // the door to the world, and the views that pass through it
