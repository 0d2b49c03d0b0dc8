//! From text to a tree. What the studio writes is read as it is meant; of other texts some are taken that are not quite
//! JSON.

use std::borrow::Cow;

use measure::decimal;

use super::Json;

/// Deeper than anything that the studio sends, and not too deep for the stack.
const DEPTH: u32 = 64;

/// The text as a tree, if it is one.
pub fn tree(text: &str) -> Option<Json<'_>> {
    let mut reader = Reader { rest: text };
    let tree = reader.value(DEPTH)?;
    reader.skip_blanks();
    reader.rest.is_empty().then_some(tree)
}

struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\n', '\r', '\t']);
    }

    /// Whether this comes next; then it is taken.
    fn took(&mut self, word: &str) -> bool {
        self.skip_blanks();
        let rest = self.rest.strip_prefix(word);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn value(&mut self, depth: u32) -> Option<Json<'a>> {
        let depth = depth.checked_sub(1)?;
        if self.took("{") {
            return self
                .listed("}", |reader| {
                    let name = reader.name()?;
                    Some((name, reader.value(depth)?))
                })
                .map(Json::Map);
        }
        if self.took("[") {
            return self
                .listed("]", |reader| reader.value(depth))
                .map(Json::List);
        }
        if self.took("\"") {
            return self.text().map(Json::Text);
        }
        for (word, value) in [
            ("null", Json::Null),
            ("true", Json::Switch(true)),
            ("false", Json::Switch(false)),
        ] {
            if self.took(word) {
                return Some(value);
            }
        }
        self.number()
    }

    /// What stands between commas, up to the end.
    fn listed<T>(
        &mut self,
        end: &str,
        mut one: impl FnMut(&mut Self) -> Option<T>,
    ) -> Option<Vec<T>> {
        let mut all = Vec::new();
        if self.took(end) {
            return Some(all);
        }
        loop {
            all.push(one(self)?);
            if !self.took(",") {
                return self.took(end).then_some(all);
            }
        }
    }

    fn name(&mut self) -> Option<Cow<'a, str>> {
        let name = self.took("\"").then(|| self.text())??;
        self.took(":").then_some(name)
    }

    /// A text, after its opening quote.
    fn text(&mut self) -> Option<Cow<'a, str>> {
        let mut read = Cow::Borrowed("");
        loop {
            let at = self.rest.find(['"', '\\'])?;
            let (plain, rest) = self.rest.split_at(at);
            // Texts without escapes stay where they are.
            if read.is_empty() {
                read = Cow::Borrowed(plain);
            } else {
                read.to_mut().push_str(plain);
            }
            self.rest = &rest[1..];
            if rest.starts_with('"') {
                return Some(read);
            }
            let letter = self.escaped()?;
            read.to_mut().push(letter);
        }
    }

    /// The letter that an escape means, after its backslash.
    fn escaped(&mut self) -> Option<char> {
        let mut letters = self.rest.chars();
        let letter = letters.next()?;
        self.rest = letters.as_str();
        Some(match letter {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'u' => return self.by_number(),
            other => other,
        })
    }

    /// The letter of a number in UTF-16, perhaps in two halves. Half of a letter is none.
    fn by_number(&mut self) -> Option<char> {
        let high = self.four_digits()?;
        if !(0xD800..0xDC00).contains(&high) {
            return Some(char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        let low = self.rest.strip_prefix("\\u").and_then(|rest| {
            self.rest = rest;
            self.four_digits()
        });
        let whole = 0x10000 + ((high & 0x3FF) << 10) + (low.unwrap_or_default() & 0x3FF);
        Some(
            low.and_then(|_| char::from_u32(whole))
                .unwrap_or(char::REPLACEMENT_CHARACTER),
        )
    }

    fn four_digits(&mut self) -> Option<u32> {
        let (digits, rest) = self.rest.split_at_checked(4)?;
        self.rest = rest;
        u32::from_str_radix(digits, 16).ok()
    }

    fn number(&mut self) -> Option<Json<'a>> {
        let within = |letter: char| matches!(letter, '0'..='9' | '+' | '-' | '.' | 'e' | 'E');
        let end = self
            .rest
            .find(|letter| !within(letter))
            .unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        self.rest = rest;
        let natural = digits.parse().map(Json::Natural);
        let whole = natural.or_else(|_| digits.parse().map(Json::Whole));
        whole
            .ok()
            .or_else(|| decimal::parse(digits).map(Json::Fraction))
    }
}
