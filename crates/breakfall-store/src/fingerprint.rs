//! A message becomes a template in which what differs from call to call is masked, and the template
//! with tool and kind becomes a fingerprint.

/// The algorithm. A change of it is a new version: what was grouped stays grouped.
const VERSION: u32 = 1;

/// How much of a message counts.
const READ: usize = 512;

/// The longest template.
const LONGEST: usize = 200;

/// A message with numbers, ids, paths, addresses and quoted text masked.
pub(crate) fn template(message: &str) -> String {
    let read = &message[..message.floor_char_boundary(READ)];
    let mut words = Words::default();
    let mut quote = None;
    for word in read.split_whitespace() {
        let mark = word.chars().next().filter(|mark| matches!(mark, '"' | '\'' | '`' | '“' | '«'));
        match (quote, mark) {
            (Some(closing), _) => {
                if word.contains(closing) {
                    quote = None;
                }
            }
            (None, Some(mark)) => {
                let closing = closing(mark);
                let inside = &word[mark.len_utf8()..];
                if !inside.contains(closing) {
                    quote = Some(closing);
                }
                words.put("", Some("“…”"), "");
            }
            (None, None) => {
                let bare = word.trim_start_matches(['(', '[']);
                let (before, bare) = (&word[..word.len() - bare.len()], bare);
                let inner = bare.trim_end_matches([':', ',', '.', ';', ')', ']']);
                match mask(inner) {
                    Some(stands) => words.put(before, Some(stands), &bare[inner.len()..]),
                    None => words.put(word, None, ""),
                }
            }
        }
    }
    words.template
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
    if is_path || is_address {
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
