//! Any bytes whatever: llamacpp_completion.
#![no_main]

use measure::study::Api;

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::dialect(Api::LlamacppCompletion, input));
