//! The reference: a short stable hash that the model's text, the log and the record share.

use std::fmt;

use serde::Serialize;

use super::FailureKind;

/// Names one way of failing: the same kind, tool and message (numbers, paths, ids and quoted
/// text aside) always give the same reference.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reference([u8; 6]);

/// Letters that nobody mistakes for one another (Crockford's base 32).
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// How much of a message counts, so that a flood costs no more than a line.
const READ: usize = 512;

impl Reference {
    /// The reference of a failure.
    pub fn of(kind: FailureKind, tool: &str, message: &str) -> Self {
        let mut hash = Hash::new();
        hash.all(kind.name());
        hash.byte(0);
        hash.all(tool);
        hash.byte(0);
        hash.normalised(message);
        let mut bits = hash.finish();
        Self(std::array::from_fn(|_| {
            let letter = ALPHABET[(bits & 31) as usize];
            bits >>= 5;
            letter
        }))
    }

    /// Its six letters.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Reference {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// FNV-1a over the stable part of a text. Not a secret's hash: messages come here redacted.
struct Hash(u64);

impl Hash {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn byte(&mut self, byte: u8) {
        self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }

    fn all(&mut self, text: &str) {
        text.bytes().for_each(|byte| self.byte(byte));
    }

    /// Every word, with those that differ from call to call taken for one another: a word with
    /// a digit or a slash in it, and whatever stands between quotes.
    fn normalised(&mut self, message: &str) {
        let mut bytes = message.as_bytes().iter();
        let (mut read, mut quote) = (0, None);
        loop {
            let rest = bytes.as_slice();
            // Hashed on the way, in case that the word counts as it stands.
            let (mut hash, mut kept, mut varies) = (Self(self.0), self.0, false);
            let mut end = rest.len();
            while let Some(&byte) = bytes.next() {
                match CLASSES[usize::from(byte)] {
                    Class::Plain => {
                        hash.byte(byte);
                        kept = hash.0;
                    }
                    Class::Stop => hash.byte(byte),
                    Class::Varying => varies = true,
                    Class::Space => {
                        end = rest.len() - bytes.len() - 1;
                        break;
                    }
                }
            }
            let word = &rest[..end];
            let Some((first, inside)) = word.split_first() else {
                if bytes.as_slice().is_empty() {
                    return;
                }
                continue;
            };
            read += word.len() + 1;
            if read > READ {
                return;
            }
            match quote {
                Some(mark) if word.contains(&mark) => quote = None,
                Some(_) => {}
                None if matches!(first, b'"' | b'\'' | b'`') => {
                    self.all("\"\" ");
                    if !inside.contains(first) {
                        quote = Some(*first);
                    }
                }
                None if varies => self.all("# "),
                None => {
                    self.0 = kept;
                    self.byte(b' ');
                }
            }
        }
    }

    fn finish(self) -> u64 {
        // FNV's low bits are weak on short texts: fold the high ones in.
        self.0 ^ (self.0 >> 32)
    }
}

/// What a byte means within a message.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Plain,
    /// It parts words.
    Space,
    /// At the end of a word it belongs to the sentence.
    Stop,
    /// A word that holds it differs from call to call.
    Varying,
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Plain; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        classes[byte as usize] = match byte {
            b' ' | b'\t' | b'\n' | b'\r' | 0x0c => Class::Space,
            b':' | b',' | b'.' | b';' => Class::Stop,
            b'0'..=b'9' | b'/' | b'\\' => Class::Varying,
            _ => Class::Plain,
        };
        byte += 1;
    }
    classes
};

#[cfg(test)]
mod tests {
    use super::*;

    fn reference(message: &str) -> Reference {
        Reference::of(FailureKind::NotFound, "read_file", message)
    }

    #[test]
    fn what_differs_from_call_to_call_does_not_matter() {
        for (one, other) in [
            ("no such file: /tmp/a.txt", "no such file: /tmp/other/b.txt"),
            ("took 30ms, gave up", "took 1200ms, gave up"),
            ("key 'a' is missing", "key 'another one' is missing"),
            ("id 4f2a-11 is gone", "id 99ff-23 is gone"),
            ("key ' a ' is missing", "key 'a' is missing"),
        ] {
            assert_eq!(reference(one), reference(other), "{one} / {other}");
        }
    }

    #[test]
    fn what_differs_from_failure_to_failure_does() {
        assert_ne!(reference("no such file"), reference("no such table"));
        assert_ne!(
            Reference::of(FailureKind::Timeout, "a", ""),
            Reference::of(FailureKind::Timeout, "b", "")
        );
        assert_ne!(
            Reference::of(FailureKind::Timeout, "a", ""),
            Reference::of(FailureKind::Network, "a", "")
        );
    }

    #[test]
    fn it_is_the_same_in_every_build() {
        assert_eq!(reference("no such file").as_str(), "x1rxj5");
    }

    #[test]
    fn a_flood_costs_no_more_than_a_line() {
        let long = "word ".repeat(1_000_000);
        assert_eq!(reference(&long), reference(&"word ".repeat(1_000)));
    }
}
