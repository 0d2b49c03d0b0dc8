//! Rebuilds the server when a migration or an example is added: the folders are embedded into it.

fn main() {
    println!("cargo::rerun-if-changed=../migrations");
    println!("cargo::rerun-if-changed=../examples");
}
