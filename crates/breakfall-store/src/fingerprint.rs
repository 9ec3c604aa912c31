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
    let mut words: Vec<&str> = Vec::new();
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
                words.push("“…”");
            }
            (None, None) => words.push(masked(word)),
        }
    }
    let mut template = String::new();
    for word in words {
        // What is masked twice in a row says nothing more.
        if template.ends_with(word) && matches!(word, "#" | "…" | "“…”") {
            continue;
        }
        if template.len() + word.len() + 1 > LONGEST {
            template.push('…');
            break;
        }
        if !template.is_empty() {
            template.push(' ');
        }
        template.push_str(word);
    }
    template
}

fn closing(mark: char) -> char {
    match mark {
        '“' => '”',
        '«' => '»',
        mark => mark,
    }
}

/// A word, or what stands for words of its sort.
fn masked(word: &str) -> &str {
    let bare = word.trim_end_matches([':', ',', '.', ';', ')', ']']).trim_start_matches(['(', '[']);
    let has = |test: fn(char) -> bool| bare.chars().any(test);
    let is_path = bare.contains('/') || bare.contains('\\') || bare.contains("://");
    let is_address = bare.contains('@') && bare.contains('.');
    let is_hex = bare.len() >= 8 && bare.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
    if is_path || is_address {
        "…"
    } else if has(|c| c.is_ascii_digit()) || is_hex {
        "#"
    } else {
        word
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
            ("took 30ms, gave up after 3 attempts", "took # gave up after # attempts"),
            ("key 'another one' is missing", "key “…” is missing"),
            ("user bob@example.com at https://x.y/z", "user … at …"),
            ("id 4f2a11bc-deadbeef is gone", "id # is gone"),
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
