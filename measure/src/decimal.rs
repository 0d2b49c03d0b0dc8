//! Numbers as people and JSON write them, read to the last bit.
//!
//! The standard library's reader is quick by a table of ten thousand bytes that nothing compresses. In the browser, where
//! few numbers are read and every byte is downloaded, long multiplication and division do the same.

use std::iter;
use std::str::FromStr;

/// Reads a number as [`str::parse`] does.
#[cfg(not(target_arch = "wasm32"))]
pub fn parse(text: &str) -> Option<f64> {
    text.parse().ok()
}

/// Reads a number as [`str::parse`] does.
#[cfg(target_arch = "wasm32")]
pub fn parse(text: &str) -> Option<f64> {
    by_hand(text)
}

/// A number, for whatever is read by its type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decimal(pub f64);

/// Not a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a number")]
pub struct NotANumber;

impl FromStr for Decimal {
    type Err = NotANumber;
    fn from_str(text: &str) -> Result<Self, NotANumber> {
        parse(text).map(Self).ok_or(NotANumber)
    }
}

/// Longer than any number that is meant, and short enough to multiply by hand.
const LONGEST: usize = 1000;

#[cfg_attr(
    not(any(target_arch = "wasm32", test)),
    expect(dead_code, reason = "the browser's way")
)]
fn by_hand(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let magnitude = if ["inf", "infinity"]
        .iter()
        .any(|word| unsigned.eq_ignore_ascii_case(word))
    {
        f64::INFINITY
    } else if unsigned.eq_ignore_ascii_case("nan") {
        f64::NAN
    } else {
        magnitude(unsigned)?
    };
    Some(if text.starts_with('-') {
        -magnitude
    } else {
        magnitude
    })
}

fn magnitude(text: &str) -> Option<f64> {
    if LONGEST < text.len() {
        return None;
    }
    let (digits, power) = match text.split_once(['e', 'E']) {
        Some((digits, power)) => (digits, exponent(power)?),
        None => (text, 0),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let mut value = Natural::default();
    if whole.len() + fraction.len() == 0 {
        return None;
    }
    for digit in whole.bytes().chain(fraction.bytes()) {
        value.times_ten_and(char::from(digit).to_digit(10)?);
    }
    Some(value.times_ten_to(power - fraction.len() as i32))
}

/// A power of ten, cut off where a number is infinite or nothing anyway.
fn exponent(text: &str) -> Option<i32> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let most = 2 * LONGEST as i32;
    let power = digits.parse().unwrap_or(most).min(most);
    Some(if text.starts_with('-') { -power } else { power })
}

/// A natural number of any size, in pieces of 32 bits, the lowest first; the highest is not zero.
#[derive(Default)]
struct Natural(Vec<u32>);

impl Natural {
    fn times_ten_and(&mut self, digit: u32) {
        let mut carried = u64::from(digit);
        for piece in &mut self.0 {
            carried += u64::from(*piece) * 10;
            *piece = carried as u32;
            carried >>= 32;
        }
        if carried != 0 {
            self.0.push(carried as u32);
        }
    }

    /// Divides by ten and says whether something was left over.
    fn over_ten(&mut self) -> bool {
        let mut left = 0;
        for piece in self.0.iter_mut().rev() {
            let value = (left << 32) | u64::from(*piece);
            *piece = (value / 10) as u32;
            left = value % 10;
        }
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
        left != 0
    }

    /// The floating point number nearest to this one times a power of ten.
    fn times_ten_to(mut self, power: i32) -> f64 {
        if self.0.is_empty() {
            return 0.0;
        }
        for _ in 0..power {
            self.times_ten_and(0);
            // Infinite, however often it goes on.
            if 40 < self.0.len() {
                return f64::INFINITY;
            }
        }
        // Each division takes less than four bits, and 64 must be left.
        let pieces = if power < 0 {
            (64 - 4 * power) / 32 + 1
        } else {
            0
        };
        self.0 = iter::repeat_n(0, pieces as usize).chain(self.0).collect();
        let mut left_over = false;
        for _ in power..0 {
            left_over |= self.over_ten();
        }
        self.rounded(left_over, -32 * pieces)
    }

    /// The nearest floating point number to this one times a power of two; to an even one where two are as near, unless
    /// something was left over.
    fn rounded(&self, mut left_over: bool, power: i32) -> f64 {
        let (mut top, mut bits) = (0_u128, 0);
        for piece in self.0.iter().rev() {
            if bits < 96 {
                top = (top << 32) | u128::from(*piece);
                bits += 32;
            } else {
                left_over |= *piece != 0;
            }
        }
        let below = 32 * self.0.len() as i32 - bits;
        let length = 128 - top.leading_zeros() as i32;
        // Where the highest bit stands.
        let highest = length - 1 + below + power;
        // How many bits there is room for: fewer where numbers are next to nothing.
        let room = (highest + 1075).min(53);
        if room < 0 {
            return 0.0;
        }
        if 1023 < highest {
            return f64::INFINITY;
        }
        // Two bits more than there is room for, so that there is always something to round.
        let top = top << 2 << (53 - length).max(0);
        let length = length.max(53) + 2;
        let dropped = length - room;
        let (kept, rest, half) = (
            top >> dropped,
            top & ((1 << dropped) - 1),
            1 << (dropped - 1),
        );
        let up = half < rest || rest == half && (left_over || kept & 1 == 1);
        let kept = kept as u64 + u64::from(up);
        // A bit too many is carried into the exponent.
        f64::from_bits(if room < 53 {
            kept
        } else {
            kept - (1 << 52) + (((highest + 1023) as u64) << 52)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str) {
        let expected = text.parse::<f64>().ok();
        assert_eq!(
            by_hand(text).map(f64::to_bits),
            expected.map(f64::to_bits),
            "{text}"
        );
        assert_eq!(
            parse(text).map(f64::to_bits),
            expected.map(f64::to_bits),
            "{text}"
        );
    }

    #[test]
    fn reads_what_the_standard_library_reads() {
        for text in [
            "0",
            "-0",
            "+1",
            "1.",
            ".5",
            "5e3",
            "5E-3",
            "1e+2",
            "0.1",
            "0.3",
            "123456789012345678901234567890",
            "inf",
            "-Infinity",
            "",
            ".",
            "e5",
            "1e",
            "1e+",
            "-",
            "+-1",
            "1_0",
            "0x1",
            " 1",
            "1 ",
            "½",
            "1.5.2",
            "--1",
            "1e1.0",
        ] {
            check(text);
        }
        assert!(by_hand("NaN").is_some_and(f64::is_nan));
        assert_eq!(by_hand(&"1".repeat(LONGEST + 1)), None);
    }

    #[test]
    fn the_nearest_number_is_found_at_every_edge() {
        for text in [
            "9007199254740993",
            "9007199254740992.99999",
            "9007199254740993.00000000000000000001",
            "1.7976931348623157e308",
            "1.7976931348623158e308",
            "1.7976931348623159e308",
            "1e309",
            "1e400",
            "1e99999999999",
            "5e-324",
            "2.5e-324",
            "2.4703282292062327208e-324",
            "2.4703282292062327209e-324",
            "1e-400",
            "1e-99999999999",
            "0e999999",
            "2.2250738585072014e-308",
            "2.2250738585072011e-308",
            "2.225073858507201136057409796709131975934819546351645648e-308",
            "0.5e-323",
            "6929495644600919.5",
            "3002399751580331.5",
            "10000000000000000000000",
            "8.98846567431158e307",
        ] {
            check(text);
        }
        check(&format!("0.{}1", "0".repeat(400)));
        check(&format!("0.{}1e401", "0".repeat(400)));
        check(&"9".repeat(400));
        check(&format!("1.{}1", "0".repeat(700)));
    }

    #[test]
    fn every_number_that_is_printed_is_read_back() {
        // Bits from one end of what there is to the other.
        let mut bits = 0x9E37_79B9_7F4A_7C15_u64;
        for _ in 0..20_000 {
            bits = bits
                .wrapping_mul(0xD120_0000_0000_0F25)
                .wrapping_add(0x1405_7B7E_F767_814F)
                ^ (bits >> 29);
            let number = f64::from_bits(bits);
            if number.is_finite() {
                check(&format!("{number:e}"));
                check(&format!("{number:.3e}"));
            }
            let short = (bits >> 20) as f64 / 1e6;
            check(&format!("{short}"));
            check(&format!("{short:.2}"));
        }
    }
}
