//! goodput
fn main() {}
