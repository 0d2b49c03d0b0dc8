//! Any bytes whatever: ndjson.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::ndjson(input));
