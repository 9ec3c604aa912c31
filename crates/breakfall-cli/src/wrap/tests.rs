use proptest::prelude::*;
use serde_json::Value;

use super::*;

const PROGRAM: &str = "/opt/bin/breakfall";

fn wrapped(text: &str) -> Plan {
    plan(text, &Way::In(format!("{PROGRAM:?}"))).unwrap()
}

fn undone(text: &str) -> Plan {
    plan(text, &Way::Out).unwrap()
}

/// Wraps, checks that undoing gives the same bytes and wrapping again changes nothing.
fn round(text: &str) -> String {
    let once = wrapped(text);
    let back = undone(&once.text);
    assert_eq!(back.text, text);
    assert_eq!(back.changed, once.changed);
    let twice = wrapped(&once.text);
    assert_eq!((twice.text.as_str(), twice.changed.len()), (once.text.as_str(), 0));
    once.text
}

#[test]
fn only_command_and_args_change() {
    for (text, expected) in [
        (
            r#"{"mcpServers":{"a":{"command":"npx","args":["-y","x"],"env":{"A":"b"}}}}"#,
            r#"{"mcpServers":{"a":{"command":"/opt/bin/breakfall","args":["guard", "--", "npx", "-y","x"],"env":{"A":"b"}}}}"#,
        ),
        (
            r#"{"servers":{"a":{"args":["-y"],"command":"n\u0070x"}}}"#,
            r#"{"servers":{"a":{"args":["guard", "--", "n\u0070x", "-y"],"command":"/opt/bin/breakfall"}}}"#,
        ),
        (
            r#"{"mcpServers":{"a":{"command":"x"}}}"#,
            r#"{"mcpServers":{"a":{"command":"/opt/bin/breakfall", "args": ["guard", "--", "x"]}}}"#,
        ),
        (
            r#"{"mcpServers":{"a":{"command":"x","args":[ ]}}}"#,
            r#"{"mcpServers":{"a":{"command":"/opt/bin/breakfall","args":["guard","--","x" ]}}}"#,
        ),
        (
            "{\"mcpServers\": {\r\n\t\"a\": {\r\n\t\t\"command\": \"x\", // it\r\n\t},\r\n}}",
            "{\"mcpServers\": {\r\n\t\"a\": {\r\n\t\t\"command\": \"/opt/bin/breakfall\",\r\n\t\t\"args\": [\"guard\", \"--\", \"x\"], // it\r\n\t},\r\n}}",
        ),
        (
            "{\"mcpServers\": {\"a\": {\"command\": \"x\", \"args\": [ // these\n  \"-y\", /* , */\n]}}}",
            "{\"mcpServers\": {\"a\": {\"command\": \"/opt/bin/breakfall\", \"args\": [ // these\n  \"guard\",\n  \"--\",\n  \"x\",\n  \"-y\", /* , */\n]}}}",
        ),
        (
            "\u{feff}{\"mcpServers\": {\"a\": {\"command\": \"ü\"}}}",
            "\u{feff}{\"mcpServers\": {\"a\": {\"command\": \"/opt/bin/breakfall\", \"args\": [\"guard\", \"--\", \"ü\"]}}}",
        ),
    ] {
        assert_eq!(round(text), expected);
    }
}

#[test]
fn what_cannot_or_need_not_be_wrapped_is_left_alone() {
    for (entry, reason) in [
        (r#"{"url": "https://x"}"#, Reason::Remote),
        (r#"{"serverUrl": "https://x"}"#, Reason::Remote),
        (r#"{"command": "x", "url": "https://x"}"#, Reason::Remote),
        (r#"{"command": "x", "disabled": true}"#, Reason::Disabled),
        (r#"{"command": "x", "enabled": false}"#, Reason::Disabled),
        (r#"{"command": "breakfall", "args": ["guard", "--", "x"]}"#, Reason::Guarded),
        (r#"{"command": "C:\\x\\Breakfall.EXE", "args": ["guard", "--", "x"]}"#, Reason::Guarded),
        (r#"{"command": "/x/breakfall", "args": ["guard", "--mcp-config", "x"]}"#, Reason::Guarded),
        (r#"{"command": "x", "command": "y"}"#, Reason::Twice),
        (r#"{"command": ["x"]}"#, Reason::OddCommand),
        (r#"{"command": "x", "args": "y"}"#, Reason::OddArgs),
        (r#"{"command": "x", "args": ["y", 1]}"#, Reason::OddArgs),
        ("{}", Reason::NoCommand),
        ("null", Reason::NoObject),
    ] {
        let text = format!(r#"{{"mcpServers": {{"a": {entry}}}}}"#);
        let plan = wrapped(&text);
        assert_eq!((plan.text, plan.changed.len()), (text, 0));
        assert_eq!(plan.left.iter().map(|left| left.1).collect::<Vec<_>>(), [reason], "{entry}");
    }
}

#[test]
fn servers_are_found_where_clients_keep_them_and_nowhere_else() {
    let server = r#"{"a": {"command": "x"}}"#;
    for (text, count) in [
        (format!(r#"{{"mcpServers": {server}}}"#), 1),
        (format!(r#"{{"servers": {server}, "mcpServers": {server}}}"#), 2),
        (format!(r#"{{"mcp": {{"servers": {server}}}, "x": {{"servers": {server}}}}}"#), 1),
        (
            format!(
                r#"{{"projects": {{"/p": {{"mcpServers": {server}}}, "/q": {{"mcpServers": {{}}}}}}}}"#
            ),
            1,
        ),
        (format!(r#"[{{"mcpServers": {server}}}, {{"mcpServers": null}}]"#), 1),
        (format!(r#"{{"context_servers": {server}, "x": {{"context_servers": {server}}}}}"#), 1),
    ] {
        assert_eq!(wrapped(&text).changed.len(), count, "{text}");
    }
}

#[test]
fn undoing_keeps_what_was_edited_since() {
    for (text, expected) in [
        (
            r#"["guard", "--config", "b.toml", "--", "npx", "-y", "new"]"#,
            r#"{"command": "npx", "args": ["-y", "new"]}"#,
        ),
        (
            "[\n  \"guard\", // why\n  \"--\" /* , */,\n  \"npx\",\n  // the rest\n  \"-y\"\n]",
            "{\"command\": \"npx\", \"args\": [\n  // why\n   /* , */// the rest\n  \"-y\"\n]}",
        ),
        ("[\n  \"guard\",\n  \"--\",\n  \"npx\"\n]", r#"{"command": "npx", "args": []}"#),
        (r#"["guard","--","npx",]"#, r#"{"command": "npx", "args": []}"#),
        (r#"["guard", "--", "npx", "--", "x"]"#, r#"{"command": "npx", "args": ["--", "x"]}"#),
    ] {
        let whole = |entry: &str| format!(r#"{{"mcpServers": {{"a": {entry}}}}}"#);
        let text = whole(&format!(r#"{{"command": "/old/breakfall", "args": {text}}}"#));
        assert_eq!(undone(&text).text, whole(expected));
    }
}

/// From a program under another name a second `wrap` put a guard before the guard, and nothing undid
/// it.
#[test]
fn what_a_program_under_another_name_wrote_is_known() {
    let text = r#"{"mcpServers": {"a": {"command": "npx", "args": ["-y", "x"]}}}"#;
    for program in ["/opt/breakfall-x86_64-linux", "/home/ada/bin/bf", "/opt/breakfall_0.2"] {
        let wrapped = plan(text, &Way::In(format!("\"{program}\""))).unwrap();
        let again = plan(&wrapped.text, &Way::In("\"/opt/bin/breakfall\"".to_owned())).unwrap();
        assert_eq!((&again.text, again.left[0].1), (&wrapped.text, Reason::Guarded));
        assert_eq!(undone(&wrapped.text).text, text);
    }
    // Others have a word like that, too.
    for (command, dashes) in [("npx", "--"), ("/usr/bin/npx", "--strict"), ("breakfaller", "--")] {
        let text = format!(
            r#"{{"mcpServers": {{"a": {{"command": "{command}", "args": ["guard", "{dashes}", "x"]}}}}}}"#
        );
        assert_eq!(undone(&text).text, text);
    }
    // Nobody starts a guard before nothing under a name of his own.
    let text = r#"{"mcpServers": {"a": {"command": "/opt/x", "args": ["guard", "--"]}}}"#;
    assert_eq!(wrapped(text).left.len(), 0);
    round(text);
}

#[test]
fn a_guard_set_up_by_hand_is_not_undone() {
    let text =
        r#"{"servers": {"a": {"command": "breakfall", "args": ["guard", "--mcp-config", "x"]}}}"#;
    let plan = undone(text);
    assert_eq!((plan.text.as_str(), plan.left[0].1), (text, Reason::GuardedByHand));
}

#[test]
fn depth_is_refused_and_not_followed() {
    for depth in [600, 200_000] {
        let text = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let why = plan(&text, &Way::Out).unwrap_err();
        assert!(matches!(why.what, What::NotJson(_)));
    }
}

#[test]
fn a_diff_is_coloured_where_asked_and_steers_no_terminal() {
    let texts = ("a\r\n\u{1b}[2J\u{202e}\r\nb", "a\r\n\u{1b}[2J\u{202e}\r\nc");
    let show = |colour| {
        let mut output = Vec::new();
        assert_eq!(diff::show(&mut output, "f", texts, colour).unwrap(), Shown::Whole);
        String::from_utf8(output).unwrap().replace('\u{1b}', "ESC")
    };
    insta::assert_snapshot!(show(Colour::Off), @r"
    --- f
    +++ f
    @@ -1,3 +1,3 @@
     a
     \u{1b}[2J\u{202e}
    -b
    \ No newline at end of file
    +c
    \ No newline at end of file
    ");
    insta::assert_snapshot!(show(Colour::On), @r"
    ESC[1m--- fESC[0m
    ESC[1m+++ fESC[0m
    ESC[36m@@ -1,3 +1,3 @@ESC[0m
     a
     \u{1b}[2J\u{202e}
    ESC[31m-bESC[0m
    \ No newline at end of file
    ESC[32m+cESC[0m
    \ No newline at end of file
    ");
}

#[test]
fn a_file_that_changed_since_it_was_read_is_not_written_over() {
    let path = std::env::temp_dir().join(format!("breakfall-changed-{}.json", std::process::id()));
    std::fs::write(&path, "{}").unwrap();
    let source = Source::read(&path).unwrap();
    std::fs::write(&path, "[]").unwrap();
    let told = source.replace("{ }").unwrap_err().to_string();
    let left = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(left, "[]");
    insta::assert_snapshot!(told.replace(path.to_str().unwrap(), "mcp.json"), @r"
    error: could not write `mcp.json`
      caused by: it has changed since it was read; run this again
    ");
}

/// Space and comments that may stand between any two tokens.
fn gap() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "",
        "",
        "",
        " ",
        "\n",
        "\r\n",
        "\n    ",
        "\r\n\t\t",
        " \t",
        "/* , ] */",
        " // \"guard\", \n  ",
        "\n\n  ",
    ])
}

fn word() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        r#""npx""#,
        r#""-y""#,
        r#""--""#,
        r#""guard""#,
        r#""""#,
        r#""a\"b\\""#,
        r#""\u00e9é""#,
        r#""//x""#,
        r#""${input:x}""#,
    ])
}

/// Tokens with gaps before each.
fn spaced(tokens: Vec<String>) -> impl Strategy<Value = String> {
    let count = tokens.len();
    prop::collection::vec(gap(), count).prop_map(move |gaps| {
        gaps.iter().zip(&tokens).flat_map(|(gap, token)| [*gap, token.as_str()]).collect()
    })
}

fn list(open: &str, parts: &[String], close: &str, trailing: bool) -> Vec<String> {
    let mut tokens = vec![open.to_owned()];
    for (index, part) in parts.iter().enumerate() {
        tokens.push(part.clone());
        if index + 1 < parts.len() || trailing {
            tokens.push(",".to_owned());
        }
    }
    tokens.push(close.to_owned());
    tokens
}

fn entry() -> impl Strategy<Value = String> {
    let args = prop::option::of((prop::collection::vec(word(), 0..4), any::<bool>()));
    (word(), args, any::<bool>(), any::<bool>(), any::<bool>())
        .prop_flat_map(|(command, args, swapped, more, trailing)| {
            let args = match args {
                None => Just(None).boxed(),
                Some((words, trailing)) => {
                    let words: Vec<String> = words.into_iter().map(str::to_owned).collect();
                    let trailing = trailing && !words.is_empty();
                    spaced(list("[", &words, "]", trailing)).prop_map(Some).boxed()
                }
            };
            (Just(command), args, Just((swapped, more, trailing)))
        })
        .prop_flat_map(|(command, args, (swapped, more, trailing))| {
            let mut fields = vec![format!(r#""command":{command}"#)];
            fields.extend(args.map(|args| format!(r#""args" : {args}"#)));
            if more {
                fields.push(r#""env": {"TOKEN": "x"}"#.to_owned());
            }
            if swapped {
                fields.reverse();
            }
            spaced(list("{", &fields, "}", trailing))
        })
}

fn file() -> impl Strategy<Value = String> {
    (prop::collection::vec(entry(), 1..4), gap(), gap()).prop_flat_map(
        |(entries, before, behind)| {
            let entries: Vec<String> = entries
                .iter()
                .enumerate()
                .map(|(key, entry)| format!("\"{key}\": {entry}"))
                .collect();
            spaced(list("{", &entries, "}", false)).prop_map(move |servers| {
                format!("{before}{{\"a\": 1, \"mcpServers\": {servers}}}{behind}")
            })
        },
    )
}

/// What a client reads.
fn read(text: &str) -> Vec<(String, Vec<String>)> {
    let servers = document::servers(text).unwrap();
    let words = |server: Server| match server.entry {
        Entry::Stdio(stdio) => {
            let args = match stdio.args {
                document::Args::Absent => Vec::new(),
                document::Args::List { words, .. } => words.into_iter().map(|w| w.text).collect(),
            };
            (stdio.command.text, args)
        }
        Entry::Other(reason) => panic!("{reason:?}"),
    };
    servers.into_iter().map(words).collect()
}

proptest! {
    #[test]
    fn undoing_gives_back_the_bytes(text in file()) {
        // What is written like a guard is one already.
        prop_assume!(undone(&text).changed.is_empty());
        let after = read(&round(&text));
        for ((command, args), (program, guarded)) in read(&text).into_iter().zip(after) {
            let mut expected = vec!["guard".to_owned(), "--".to_owned(), command];
            expected.extend(args);
            prop_assert_eq!((program.as_str(), guarded), (PROGRAM, expected));
        }
    }

    #[test]
    fn any_text_gets_an_answer(text in file(), at in any::<prop::sample::Index>(), other in "\\PC{0,3}|[{}\\[\\]\",:/*\\\\]{1,3}") {
        let letters: Vec<char> = text.chars().collect();
        let at = at.index(letters.len());
        let text: String = letters[..at].iter().copied().chain(other.chars()).chain(letters[at + 1..].iter().copied()).collect();
        for way in [Way::In("\"x\"".to_owned()), Way::Out] {
            if let Err(why) = plan(&text, &way) {
                prop_assert!(!matches!(why.what, What::Ours), "{}", text);
            }
        }
    }

    #[test]
    fn strict_json_stays_strict(words in prop::collection::vec("\\PC{0,8}", 0..4), pretty in any::<bool>()) {
        let value = serde_json::json!({ "mcpServers": { "a": { "command": "x", "args": words } } });
        let text = if pretty { format!("{value:#}") } else { value.to_string() };
        let wrapped: Value = serde_json::from_str(&round(&text)).unwrap();
        prop_assert_eq!(&wrapped["mcpServers"]["a"]["args"][2], "x");
    }
}
