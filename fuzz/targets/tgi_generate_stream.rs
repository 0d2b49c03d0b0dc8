//! Any bytes whatever: tgi_generate_stream.
#![no_main]

use measure::study::Api;

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::dialect(Api::TgiGenerateStream, input));
