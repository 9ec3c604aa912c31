//! Words as numbers: tables that are asked for every word of a text hold no strings.

use super::pieces::key_of_word;

const PRIME: u64 = 0x0100_0000_01b3;

/// A one in each of eight bytes.
pub(super) const EACH: u64 = 0x0101_0101_0101_0101;

/// The key of a word, in whatever case.
pub(super) fn key(word: &str) -> u64 {
    key_of_word(word.as_bytes())
}

/// FNV-1a of a word: in which order words are added up where that matters.
pub(super) fn rank(word: &str) -> u64 {
    let bytes = [0].into_iter().chain(word.bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME))
}

/// The key of two words that follow each other, or their rank.
pub(super) fn pair(one: u64, other: u64) -> u64 {
    (one.rotate_left(29) ^ other).wrapping_mul(PRIME)
}

/// Eight letters in lower case.
#[inline]
pub(super) fn lower(letters: u64) -> u64 {
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
