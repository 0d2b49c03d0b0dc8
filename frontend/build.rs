//! Where the browser's module keeps its data: low, because an address below a million takes three bytes of code and one
//! above it four, and there are thousands of them. The stack lies below the data, and so may not be as large as usual.

/// Bytes: five eighths of what is usual.
const STACK: u32 = 640 * 1024;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|target| target == "wasm32") {
        println!("cargo::rustc-link-arg-cdylib=-zstack-size={STACK}");
    }
}
