//! Rebuilds the server when a migration is added: the folders are embedded into it.

fn main() {
    println!("cargo::rerun-if-changed=../migrations");
}
