//! Files of histories: nothing that is in one is lost, and what is none is left as it is.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::path::PathBuf;

use breakfall_chat::{Loaded, Message, Saved};

fn file(name: &str, text: &str) -> PathBuf {
    let file = std::env::temp_dir().join(format!("breakfall-saved-{}-{name}", std::process::id()));
    std::fs::write(&file, text).unwrap();
    file
}

fn line(text: &str) -> String {
    serde_json::to_string(&Message::user(text)).unwrap()
}

#[test]
fn a_file_that_is_no_history_is_refused_and_left_as_it_is() {
    for text in [
        "My diary, without an end",
        "a: 1\nb: 2\n",
        "{\"a\": 1}",
        "{\n  \"a\": 1\n}",
        "{\"role\":\"user\",\"content\":\"Hello.\"}\n",
    ] {
        let file = file("none", text);
        let error = Saved::open(&file).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("`{}` is no history of a conversation", file.display())
        );
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    }
    assert_eq!(Saved::open(file("empty", "\n")).unwrap().1, Loaded::default());
}

#[test]
fn a_last_message_that_lacks_only_its_newline_is_kept() {
    let file = file("whole", &format!("{}\n{}", line("one"), line("two")));
    let (mut saved, loaded) = Saved::open(&file).unwrap();
    let both = vec![Message::user("one"), Message::user("two")];
    assert_eq!(loaded, Loaded { history: both, lost_lines: 0 });
    saved.append(&Message::user("three")).unwrap();
    let text = format!("{}\n{}\n{}\n", line("one"), line("two"), line("three"));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
}

#[test]
fn a_last_line_that_is_torn_stays_and_what_follows_is_read() {
    let torn = format!("{}\n{{\"user\"", line("one"));
    let file = file("torn", &torn);
    let (mut saved, loaded) = Saved::open(&file).unwrap();
    assert_eq!(loaded, Loaded { history: vec![Message::user("one")], lost_lines: 1 });
    saved.append(&Message::user("two")).unwrap();
    drop(saved);
    let text = format!("{torn}\n{}\n", line("two"));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    let (_, loaded) = Saved::open(&file).unwrap();
    let both = vec![Message::user("one"), Message::user("two")];
    assert_eq!(loaded, Loaded { history: both, lost_lines: 1 });
}

#[test]
fn a_history_of_which_only_a_torn_line_is_there_is_one() {
    let whole = line("Grüße");
    for length in 1..whole.len() {
        let file = file("first", "");
        std::fs::write(&file, &whole.as_bytes()[..length]).unwrap();
        for _ in 0..2 {
            let (_, loaded) = Saved::open(&file).unwrap();
            assert_eq!(loaded, Loaded { history: Vec::new(), lost_lines: 1 }, "{length}");
        }
        let (mut saved, _) = Saved::open(&file).unwrap();
        saved.append(&Message::user("two")).unwrap();
        drop(saved);
        let (_, loaded) = Saved::open(&file).unwrap();
        assert_eq!(loaded, Loaded { history: vec![Message::user("two")], lost_lines: 1 });
    }
}
