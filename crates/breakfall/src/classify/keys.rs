//! Words as numbers: tables that are asked for every word of a text hold no strings.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// A set of words.
pub(super) type Keys = HashSet<u64, BuildHasherDefault<Same>>;

/// What is known of words.
pub(super) type ByKey<T> = HashMap<u64, T, BuildHasherDefault<Same>>;

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

/// Keys are hashes already.
#[derive(Default)]
pub(super) struct Same(u64);

impl Hasher for Same {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}
