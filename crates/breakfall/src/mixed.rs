//! Keys of what is known again within a process: quick, and the same for the same. They need not
//! withstand anybody: a model that makes two calls look alike fools itself.

/// A key as it grows.
pub(crate) struct Mixed(u64);

/// A number whose bits are as good as thrown.
const ODD: u64 = 0xa076_1d64_78bd_642f;

impl Mixed {
    pub(crate) fn of(text: &str) -> Self {
        let mut mixed = Self(0x9e37_79b9_7f4a_7c15);
        mixed.text(text);
        mixed
    }

    /// What it has become.
    pub(crate) fn word_of_all(&self) -> u64 {
        self.0
    }

    /// Both halves of the product, so that every bit counts for every other.
    pub(crate) fn word(&mut self, word: u64) {
        let product = u128::from(self.0 ^ word) * u128::from(ODD);
        #[allow(clippy::cast_possible_truncation, reason = "the halves are wanted")]
        let (low, high) = (product as u64, (product >> 64) as u64);
        self.0 = (low ^ high).rotate_left(23).wrapping_add(0x8ebc_6af0_9c88_c6e3);
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.word(text.len() as u64);
        let (words, rest) = text.as_bytes().as_chunks();
        for word in words {
            self.word(u64::from_le_bytes(*word));
        }
        if !rest.is_empty() {
            let mut last = [0; 8];
            last[..rest.len()].copy_from_slice(rest);
            self.word(u64::from_le_bytes(last));
        }
    }
}
