//! Any bytes whatever: sse.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::sse(input));
