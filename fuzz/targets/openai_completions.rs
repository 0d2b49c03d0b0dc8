//! Any bytes whatever: openai_completions.
#![no_main]

use measure::study::Api;

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::dialect(Api::OpenAiCompletions, input));
