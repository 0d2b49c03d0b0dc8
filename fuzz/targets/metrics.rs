//! Any bytes whatever: an engine's metrics page.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::metrics(input));
