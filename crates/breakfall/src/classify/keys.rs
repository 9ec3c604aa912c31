//! Words as numbers: tables that are asked for every word of a text hold no strings.

pub(super) const PRIME: u64 = 0x0100_0000_01b3;

/// FNV-1a of a place and a word in lower case.
pub(super) fn key(place: &str, word: &str) -> u64 {
    let bytes = place.bytes().chain([0]).chain(word.bytes().map(|b| b.to_ascii_lowercase()));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME))
}

/// The key of two words that follow each other.
pub(super) fn pair(one: u64, other: u64) -> u64 {
    (one.rotate_left(29) ^ other).wrapping_mul(PRIME)
}

/// Eight letters in lower case.
pub(super) fn lower(letters: u64) -> u64 {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let low = letters & (0x7f * EACH);
    // The highest bit of a byte tells whether it is at least `A`, and beyond `Z`.
    let at_least = low + (0x80 - 0x41) * EACH;
    let beyond = low + (0x7f - 0x5a) * EACH;
    let upper = (at_least ^ beyond) & !letters & (0x80 * EACH);
    letters | upper >> 2
}

#[cfg(test)]
mod tests {
    use super::lower;

    #[test]
    fn letters_are_lower_case_as_one_by_one() {
        for byte in 0..=u8::MAX {
            let letters = [byte, b'Q', b'z', b'@', b'[', 0x80, 0xff, byte];
            let slowly = u64::from_le_bytes(letters.map(|letter| letter.to_ascii_lowercase()));
            assert_eq!(lower(u64::from_le_bytes(letters)), slowly);
        }
    }
}
