//! What the server draws ready-made: pages and parts of pages that only show, and fields without a component of their own.
//! Browsers get them as HTML, so that their module has no code for them.

pub mod docs; // what the words mean, and how things are done
pub mod document; // around what is drawn whole
pub mod engines; // which engines there are
pub mod fields; // fields of the new study's form
pub mod iso; // what each pair of bounds on TTFT and TPOT would keep
pub mod keys; // keys, and what stands at every page's end
pub mod presets; // questions that a study is begun with
pub mod sample; // what a workload would send
pub mod start; // studies, newest first
pub mod starts; // each start of an engine for a study
pub mod written; // a study in forms that can be copied
