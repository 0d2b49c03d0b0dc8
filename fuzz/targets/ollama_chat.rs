//! Any bytes whatever: ollama_chat.
#![no_main]

use measure::study::Api;

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::dialect(Api::OllamaChat, input));
