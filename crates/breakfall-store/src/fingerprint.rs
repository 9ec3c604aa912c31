//! A message becomes a template in which what differs from call to call is masked, and the template
//! with tool and kind becomes a fingerprint.

/// The algorithm. A change of it is a new version: what was grouped stays grouped.
const VERSION: u32 = 1;

/// How much of a message counts.
const READ: usize = 512;

/// What stands for quoted text.
const QUOTED: &str = "“…”";

/// The longest template.
const LONGEST: usize = 200;

/// A message with numbers, ids, paths, addresses and quoted text masked.
pub(crate) fn template(message: &str) -> String {
    let read = unquoted(&message[..message.floor_char_boundary(READ)]);
    let mut words = Words::default();
    for word in read.split_whitespace() {
        let bare = word.trim_start_matches(['(', '[']);
        let before = &word[..word.len() - bare.len()];
        let inner = bare.trim_end_matches([':', ',', '.', ';', ')', ']']);
        match mask(inner) {
            Some(stands) => words.put(before, Some(stands), &bare[inner.len()..]),
            None => words.put(word, None, ""),
        }
    }
    words.template
}

/// The text with what stands between quotes masked; a mark that nothing closes is a letter.
fn unquoted(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((at, mark)) = rest.char_indices().find(|(_, c)| is_quote(*c)) {
        let behind = &rest[at + mark.len_utf8()..];
        plain.push_str(&rest[..at]);
        // An apostrophe stands within a word, or closes nothing.
        let is_within = mark == '\'' && plain.ends_with(char::is_alphanumeric);
        match behind.find(closing(mark)).filter(|_| !is_within) {
            Some(end) => {
                plain.push_str(QUOTED);
                rest = &behind[end + closing(mark).len_utf8()..];
            }
            None => {
                plain.push(mark);
                rest = behind;
            }
        }
    }
    plain.push_str(rest);
    plain
}

fn is_quote(c: char) -> bool {
    matches!(c, '"' | '\'' | '`' | '“' | '«')
}

/// A template in the making.
#[derive(Default)]
struct Words {
    template: String,
    last: Option<&'static str>,
    is_full: bool,
}

impl Words {
    /// Adds a word, or what stands for it between what stands around it.
    fn put(&mut self, before: &str, mask: Option<&'static str>, after: &str) {
        let repeats = mask.is_some() && mask == self.last;
        self.last = mask;
        // What is masked twice in a row says nothing more.
        if self.is_full || repeats {
            return;
        }
        let mask = mask.unwrap_or_default();
        if self.template.len() + before.len() + mask.len() + after.len() + 1 > LONGEST {
            self.template.push('…');
            self.is_full = true;
            return;
        }
        if !self.template.is_empty() {
            self.template.push(' ');
        }
        self.template.extend([before, mask, after]);
    }
}

fn closing(mark: char) -> char {
    match mark {
        '“' => '”',
        '«' => '»',
        mark => mark,
    }
}

/// What stands for words of this sort; nothing for a word that says something.
fn mask(word: &str) -> Option<&'static str> {
    let is_path = word.contains('/') || word.contains('\\');
    let is_address = word.contains('@') && word.contains('.');
    let is_hex = word.len() >= 8 && word.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
    if word == QUOTED {
        Some(QUOTED)
    } else if is_path || is_address {
        Some("…")
    } else if word.chars().any(|c| c.is_ascii_digit()) || is_hex {
        Some("#")
    } else {
        None
    }
}

/// Names a group: the same upstream, tool, kind and template always give the same.
pub(crate) fn fingerprint(upstream: &str, tool: &str, kind: &str, template: &str) -> String {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for part in [upstream, tool, kind, template] {
        for byte in part.bytes().chain([0]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    format!("{VERSION}-{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_from_call_to_call_is_masked() {
        for (message, is) in [
            ("no such file: /tmp/a.txt", "no such file: …"),
            ("took 30ms, gave up after 3 attempts", "took #, gave up after # attempts"),
            ("key 'another one' is missing", "key “…” is missing"),
            ("user bob@example.com at https://x.y/z", "user … at …"),
            ("id 4f2a11bc-deadbeef is gone", "id # is gone"),
            ("row name=\"alice b\" (\"bob\") ['carol']", "row name=“…” (“…”)"),
            ("it's not bob's", "it's not bob's"),
            ("lone 'quote of one", "lone 'quote of one"),
            ("waited (2 attempts), lines 1, 2, 3.", "waited (# attempts), lines #,"),
            ("", ""),
        ] {
            assert_eq!(template(message), is);
        }
        assert!(template(&"word ".repeat(1000)).len() <= LONGEST + "…".len());
        assert_eq!(template("“é” ü"), "“…” ü");
    }

    #[test]
    fn a_fingerprint_is_the_same_in_every_build() {
        assert_eq!(fingerprint("git", "git_add", "not_found", "a"), "1-9b1cdcf2551bbfce");
        assert_ne!(fingerprint("a", "bc", "", ""), fingerprint("ab", "c", "", ""));
    }
}
