//! Words to token ids, and answers.
//!
//! There is no vocabulary: text is cut at blanks and each word is one token, whose id is the word's hash. A chat template
//! adds a few tokens around each message, as real templates do, so that a later turn's prompt begins with the whole prompt of
//! the turn before. Answers are common short words drawn from the request's seed.

use measure::sampling::derive;

/// A token's id.
pub type Token = u32;

/// Tokens that the chat template puts around each message: start, role, end of header, end of message.
pub const TEMPLATE_TOKENS_PER_MESSAGE: usize = 4;
/// Tokens that ask for the answer: start, role, end of header.
pub const GENERATION_TOKENS: usize = 3;

const START: Token = 1;
const HEADER_END: Token = 2;
const MESSAGE_END: Token = 3;

/// The words of answers; each carries its leading blank, which the first word of an answer leaves out.
const WORDS: [&str; 64] = [
    " the", " of", " and", " to", " in", " is", " it", " that", " was", " for", " on", " are",
    " as", " with", " his", " they", " at", " be", " this", " from", " have", " or", " by", " one",
    " had", " not", " but", " what", " all", " were", " when", " we", " there", " can", " an",
    " your", " which", " their", " said", " if", " do", " will", " each", " about", " how", " up",
    " out", " them", " then", " she", " many", " some", " so", " these", " would", " other",
    " into", " has", " more", " her", " two", " like", " him", " see",
];

/// The id of a word: its FNV-1a hash.
pub fn token_of(word: &str) -> Token {
    word.bytes().fold(0x811c_9dc5, |hash: u32, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}

/// Appends the tokens of a text: one a word.
pub fn push_text(text: &str, tokens: &mut Vec<Token>) {
    tokens.extend(text.split_ascii_whitespace().map(token_of));
}

/// The tokens of a chat, generation prompt included. Items are role and text.
pub fn chat_prompt<'a>(messages: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<Token> {
    let mut tokens = Vec::new();
    for (role, text) in messages {
        tokens.extend([START, token_of(role), HEADER_END]);
        push_text(text, &mut tokens);
        tokens.push(MESSAGE_END);
    }
    tokens.extend([START, token_of("assistant"), HEADER_END]);
    tokens
}

/// The text of token `index` of the answer with this seed; words of one answer joined give text with one word a token.
pub fn answer_word(seed: u64, index: u32) -> &'static str {
    let word = WORDS[(derive(seed, &[u64::from(index)]) % WORDS.len() as u64) as usize];
    if index == 0 { &word[1..] } else { word }
}

/// The id of token `index` of the answer: the one its word would have in a prompt.
pub fn answer_token(seed: u64, index: u32) -> Token {
    token_of(answer_word(seed, index).trim_start())
}

/// A request's own seed, from its prompt and the seed the client gave: the same question gets the same answer.
pub fn answer_seed(prompt: &[Token], client_seed: u64, index: u32) -> u64 {
    let prompt = prompt
        .iter()
        .fold(client_seed, |hash, token| mix(hash, u64::from(*token)));
    derive(prompt, &[u64::from(index)])
}

/// The hash of a full block: of all tokens before it (their block's hash) and its own.
pub fn block_hash(before: u64, tokens: &[Token]) -> u64 {
    tokens
        .iter()
        .fold(mix(before, tokens.len() as u64), |hash, token| {
            mix(hash, u64::from(*token))
        })
}

fn mix(hash: u64, value: u64) -> u64 {
    let mixed = (hash ^ value).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed ^ (mixed >> 29)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_count(text: &str, expected: usize) {
        let mut tokens = Vec::new();
        push_text(text, &mut tokens);
        assert_eq!(tokens.len(), expected, "{text:?}");
    }

    #[test]
    fn one_token_a_word() {
        check_count("", 0);
        check_count("  ", 0);
        check_count("one", 1);
        check_count(" one two\nthree  four ", 4);
    }

    #[test]
    fn a_word_has_one_id_wherever_it_stands() {
        assert_eq!(token_of("see"), token_of("see"));
        assert_ne!(token_of("see"), token_of("sea"));
    }

    #[test]
    fn a_template_adds_a_fixed_number_of_tokens() {
        let tokens = chat_prompt([("system", "be kind"), ("user", "hello there you")]);
        assert_eq!(
            tokens.len(),
            5 + 2 * TEMPLATE_TOKENS_PER_MESSAGE + GENERATION_TOKENS
        );
    }

    #[test]
    fn a_later_turn_begins_with_the_whole_turn_before() {
        let first = chat_prompt([("user", "hello there")]);
        let second = chat_prompt([
            ("user", "hello there"),
            ("assistant", "good day"),
            ("user", "and now"),
        ]);
        assert!(second.starts_with(&first));
    }

    #[test]
    fn an_answer_joined_has_one_word_a_token() {
        let text: String = (0..50).map(|index| answer_word(7, index)).collect();
        assert!(!text.starts_with(' '));
        let mut tokens = Vec::new();
        push_text(&text, &mut tokens);
        assert_eq!(
            tokens,
            (0..50)
                .map(|index| answer_token(7, index))
                .collect::<Vec<_>>()
        );
    }

    #[test]
    fn answers_follow_from_prompt_and_seed() {
        assert_eq!(answer_seed(&[1, 2], 0, 0), answer_seed(&[1, 2], 0, 0));
        assert_ne!(answer_seed(&[1, 2], 0, 0), answer_seed(&[1, 3], 0, 0));
        assert_ne!(answer_seed(&[1, 2], 0, 0), answer_seed(&[1, 2], 1, 0));
        assert_ne!(answer_seed(&[1, 2], 0, 0), answer_seed(&[1, 2], 0, 1));
    }

    #[test]
    fn a_block_hash_tells_everything_before_it() {
        let one = block_hash(block_hash(0, &[1; 16]), &[2; 16]);
        let other = block_hash(block_hash(0, &[3; 16]), &[2; 16]);
        assert_ne!(one, other);
        assert_ne!(block_hash(0, &[0; 16]), block_hash(0, &[0; 15]));
    }
}
