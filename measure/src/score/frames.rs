//! Blocks of many points in one body: each behind its point's id and its length.

use super::DecodeError;

/// Bytes of an id and of a length.
const ID: usize = 16;
const LENGTH: usize = 4;

/// Appends one point's block: its id (16 bytes, big-endian), the block's length (u32, little-endian), the block.
pub fn push_frame(body: &mut Vec<u8>, id: u128, block: &[u8]) {
    body.extend_from_slice(&id.to_be_bytes());
    body.extend_from_slice(&(block.len() as u32).to_le_bytes());
    body.extend_from_slice(block);
}

/// The inverse: each point's id and its block, in the order of the body.
pub fn frames(mut body: &[u8]) -> Result<Vec<(u128, &[u8])>, DecodeError> {
    let mut frames = Vec::new();
    while !body.is_empty() {
        let (id, rest) = body.split_first_chunk::<ID>().ok_or(DecodeError::Short)?;
        let (length, rest) = rest
            .split_first_chunk::<LENGTH>()
            .ok_or(DecodeError::Short)?;
        let (block, rest) = rest
            .split_at_checked(u32::from_le_bytes(*length) as usize)
            .ok_or(DecodeError::Short)?;
        frames.push((u128::from_be_bytes(*id), block));
        body = rest;
    }
    Ok(frames)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_survive_their_body_and_no_end_of_it_is_missed() {
        let mut body = Vec::new();
        push_frame(&mut body, 7, b"seven");
        push_frame(&mut body, u128::MAX, b"");
        assert_eq!(
            frames(&body),
            Ok(vec![(7, &b"seven"[..]), (u128::MAX, &b""[..])])
        );
        assert_eq!(frames(&[]), Ok(Vec::new()));
        for end in (1..body.len()).filter(|end| *end != ID + LENGTH + 5) {
            assert_eq!(frames(&body[..end]), Err(DecodeError::Short), "{end}");
        }
    }
}
