//! Any bytes whatever: sglang_generate.
#![no_main]

use measure::study::Api;

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::dialect(Api::SglangGenerate, input));
