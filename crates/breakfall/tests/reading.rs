//! Any text is read, cleaned and redacted without a panic, and redaction holds what it promises.

use breakfall::FailureKind as K;
use breakfall::{
    Allowlist, Call, Evidence, FailureKind, Guard, PhraseRule, Reader, RedactingStream, Redactor,
    SecretRule, explain, function, silent,
};
use breakfall_test::Script;
use proptest::prelude::*;
use serde_json::Value;

/// Texts made of what the rules look for, so that they meet in every order.
fn hostile_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "\\PC{0,12}",
        "[ -~]{0,20}",
        proptest::sample::select(vec![
            "password=",
            "token: ",
            "\"api_key\": \"",
            "://bob:",
            "@db/",
            "-----BEGIN PRIVATE KEY-----\n",
            "-----END PRIVATE KEY-----",
            "MIIEowIBAAKCAQEAx7Qm2ZpL9vTnR4bWyD6s\n",
            "Authorization: Bearer ",
            "Cookie: a=",
            "[redacted:",
            "]",
            "eyJhbGciOiJIUzI1NiJ9.eyJz",
            "\u{1b}[31m",
            "Traceback (most recent call last):\n",
            "Caused by: ",
            "HTTP/1.1 404",
            "{\"error\": {",
            "[Errno 2] ",
            "'",
            "\"",
            "`",
            "‘",
            "«",
            "é",
            "错误: ",
            "\n",
            "\\",
            "not found",
            "FATAL:  ",
            "curl -u ",
            "<Code>",
            "sk-",
            "\u{202e}",
            "：",
            "exit code 137",
            "retry after 3",
            "time=\"1\" level=error msg=\"",
            "│ Warning: ",
            "f[x](y)",
            "=",
            ":",
        ])
        .prop_map(ToOwned::to_owned),
    ];
    proptest::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_text_is_read(text in hostile_text(), name in proptest::option::of("\\PC{0,20}"), status in proptest::option::of(0_u16..700), exit in proptest::option::of(any::<i64>())) {
        let reader = Reader::default();
        let evidence = Evidence { text: &text, type_name: name.as_deref(), http_status: status, exit_code: exit, json_rpc_code: exit };
        let explanation = explain(&reader, &evidence);
        prop_assert!(explanation.told.len() < 4_096);
        let _ = silent(&reader, &text);
    }

    #[test]
    fn redaction_is_idempotent_and_its_places_are_true(text in hostile_text()) {
        let redactor = Redactor::default();
        let once = redactor.redact(&text).into_owned();
        prop_assert_eq!(redactor.redact(&once), once.as_str(), "{:?}", text);
        for span in redactor.find(&text) {
            prop_assert!(text.get(span.start..span.end).is_some_and(|secret| !secret.is_empty()));
        }
    }

    #[test]
    fn a_stream_cut_anywhere_is_redacted_as_a_whole(text in hostile_text(), cuts in proptest::collection::vec(1_usize..40, 1..20)) {
        let mut stream = RedactingStream::new(Redactor::default());
        let mut out = String::new();
        let mut rest = text.as_bytes();
        for cut in cuts.iter().cycle() {
            if rest.is_empty() { break; }
            let (chunk, after) = rest.split_at((*cut).min(rest.len()));
            out.push_str(&stream.push(chunk));
            rest = after;
        }
        out.push_str(&stream.finish());
        prop_assert_eq!(out, Redactor::default().redact(&text).into_owned());
    }
}

#[test]
fn hostile_inputs_are_read_in_bounds() {
    let reader = Reader::default();
    let redactor = Redactor::default();
    for text in [
        "a".repeat(1 << 20),
        "\"".repeat(1 << 20),
        "[".repeat(10_000),
        "{\"a\":".repeat(10_000),
        "Caused by:".repeat(100_000),
        "Traceback (most recent call last):\n".repeat(30_000),
        ": ".repeat(500_000),
        "not found ".repeat(100_000),
        "\u{1b}[".repeat(500_000),
        "half an escape \u{1b}[3".to_owned(),
        "time=\"\\ msg=\"\\".repeat(50_000),
        "│ Warning: \n".repeat(50_000),
    ] {
        let started = std::time::Instant::now();
        let explanation = explain(&reader, &Evidence { text: &text, ..Evidence::default() });
        assert!(explanation.failure.message.len() < 9 << 10);
        let _ = redactor.redact(&text);
        assert!(
            started.elapsed() < std::time::Duration::from_secs(15),
            "{:.20}: {:?}",
            text,
            started.elapsed()
        );
    }
}

#[tokio::test]
async fn a_resource_that_was_read_in_the_place_of_a_secret_is_not_told() {
    // Built from parts, so that nobody takes it for a real one.
    let secret = ["hunter2", "secret"].concat();
    for text in [
        format!(r#"could not connect with {{"user": "u", "password": "{secret}"}}"#),
        format!("login failed: {{'user': 'u', 'password': '{secret}'}} not found"),
        format!("cannot open Server=db;Uid=sa;Password={secret}; not found"),
        format!("not found, sent Authorization: Basic {secret}{secret}"),
        format!("access denied for user 'u' with password '{secret}'"),
        format!("no such password: '{secret}'"),
        format!("failed: mysqldump -uroot -p{secret} shop: not found"),
        format!("not found: postgres%3A%2F%2Fu%3A{secret}%40h%2Fdb"),
    ] {
        let said = text.clone();
        let fails = function("boom", "Fails.", move |_: Value| {
            let error = std::io::Error::other(said.clone());
            async move { Err::<String, _>(error) }
        });
        let guard = Guard::builder().tool(fails).build().unwrap();
        let reply = guard.handle(Call::new("a", "boom", "{}")).await;
        let account = format!("{reply:?}");
        assert!(reply.is_error && !account.contains(&secret), "{text}: {account}");
        let evidence = Evidence { text: &text, ..Evidence::default() };
        let explained = format!("{:?}", guard.explain(&evidence));
        assert!(!explained.contains(&secret), "{text}: {explained}");
    }
}

#[tokio::test]
async fn what_frameworks_say_around_every_error_decides_nothing() {
    for (said, expected) in [
        ("Error executing tool boom", K::Execution),
        ("Error executing tool boom: singular matrix", K::Execution),
        ("Error executing tool boom: No such file or directory: 'a.txt'", K::NotFound),
        ("Error calling tool 'boom': connection refused", K::Network),
        ("Tool boom failed", K::Execution),
    ] {
        for name in ["boom", "delete_file", "send_email", "login", "search", "get_weather"] {
            let text = said.replace("boom", name);
            let fails = function(name, "Fails.", move |_: Value| {
                let error = std::io::Error::other(text.clone());
                async move { Err::<String, _>(error) }
            });
            let guard = Guard::builder().tool(fails).build().unwrap();
            let reply = guard.handle(Call::new("a", name, "{}")).await;
            assert_eq!(reply.kind(), Some(expected), "{said} of {name}: {}", reply.text);
        }
    }
}

#[test]
fn a_secret_across_a_chunk_boundary_is_one_secret() {
    let secret = ["ghp", &"aB3dE5gH7jK9".repeat(3)].join("_");
    let key = format!(
        "-----BEGIN PRIVATE KEY-----\n{}-----END PRIVATE KEY-----\n",
        "MIIEowIBAAKCAQEAx7Qm2ZpL9vTnR4bWyD6sKjE1uGfHaQ5oViB8\n".repeat(400)
    );
    let filler = "plain text without anything in it, over and over again\n".repeat(2_000);
    let text = format!("{filler}{secret} {key}{filler}");
    for size in [1_000, 16_384, 65_536] {
        let mut stream = RedactingStream::new(Redactor::default());
        let mut out: String =
            text.as_bytes().chunks(size).map(|chunk| stream.push(chunk)).collect();
        out.push_str(&stream.finish());
        assert!(!out.contains(&secret) && !out.contains("MIIEow"), "{size}");
        assert_eq!(out.matches("plain text").count(), 4_000, "{size}");
    }
}

#[test]
fn words_in_passing_fool_nobody() {
    for (text, status, kind) in [
        (
            "cat: /data/timeouts/connection-timeout-404.log: No such file or directory",
            None,
            FailureKind::NotFound,
        ),
        ("{\"code\":500,\"message\":\"not found in cache\"}", Some(500), FailureKind::Upstream),
        (
            "1 validation error for A\nname\n  Value error, user not found, permission denied [type=value_error]",
            None,
            FailureKind::InvalidArguments,
        ),
        (
            "Traceback (most recent call last):\n  File \"timeout.py\", line 404, in unauthorized\nKeyError: 'x'",
            None,
            FailureKind::Internal,
        ),
        (
            "--- FAIL: TestLogin (0.01s)\n    auth_test.go:42: unauthorized user should get 403, got 200",
            None,
            FailureKind::Execution,
        ),
        (
            "429 {\"error\": {\"code\": \"insufficient_quota\", \"message\": \"x\"}}",
            Some(429),
            FailureKind::QuotaExceeded,
        ),
        ("cat: x: Нет такого файла или каталога", None, FailureKind::NotFound),
        ("FEHLER:  23505: doppelter Schlüsselwert", None, FailureKind::Conflict),
    ] {
        let reading =
            Reader::default().read(&Evidence { text, http_status: status, ..Evidence::default() });
        assert_eq!(reading.kind, kind, "{text}: {reading:?}");
    }
}

#[test]
fn what_decides_is_found_behind_what_does_not() {
    for (text, status, kind) in [
        // A warning is no cause where a line calls itself an error.
        (
            "[WARNING] Running as root is not recommended\n[ERROR] the index was not found",
            None,
            FailureKind::NotFound,
        ),
        // The name of what is missing is no name of an error.
        ("Error: no such function: NoSuchFn", None, FailureKind::InvalidArguments),
        // The first part of a code tells, where the second tells whose.
        (
            "{\"Code\": \"Throttling.User\", \"Message\": \"Request was denied.\"}",
            Some(400),
            FailureKind::RateLimited,
        ),
        // Java has one exception for every file that it cannot open.
        (
            "java.io.FileNotFoundException: /etc/shadow (Permission denied)",
            None,
            FailureKind::Permission,
        ),
        // The tool is only who says it.
        ("Error executing tool list_mail: Account work was not found", None, FailureKind::NotFound),
        // A body behind headers.
        (
            "(404)\nReason: Not Found\nHTTP response headers: HTTPHeaderDict({'Server': 'x'})\nHTTP response body: {\"code\": \"not found\", \"message\": \"bucket \\\"metrics\\\" not found\"}",
            None,
            FailureKind::NotFound,
        ),
        // Who may not do a thing is often called unauthorized.
        (
            "{\"error\": \"action is unauthorized for user [reader]\"}",
            Some(403),
            FailureKind::Permission,
        ),
        // What holds a lock file is denied, not in conflict.
        (
            "E: Could not open lock file /var/lock/x - open (13: Permission denied)\nE: Unable to acquire the lock",
            None,
            FailureKind::Permission,
        ),
        ("activity heartbeat timeout", None, FailureKind::Timeout),
        // The options of a program speak of everything.
        (
            "Error: -t <topic> missing\n\nUsage: kcat <options>\n  -m <seconds>  Metadata request timeout",
            None,
            FailureKind::InvalidArguments,
        ),
        // One code for every broken constraint, one name for every bad request.
        (
            "SQLSTATE[23000]: Integrity constraint violation: 19 UNIQUE constraint failed: k.code",
            None,
            FailureKind::Conflict,
        ),
        ("BadRequestError: RecordNotFound: no record 3k", None, FailureKind::NotFound),
        // A client that finds no host has made up the status.
        ("500 Internal Response: Cannot resolve host name: x.invalid", None, FailureKind::Network),
        ("Error: accepts 1 arg(s), received 0", None, FailureKind::InvalidArguments),
        // A person stopped it, whatever the report quotes.
        ("=== FAILURES ===\nKeyboardInterrupt\n1 failed, 2 passed", None, FailureKind::Cancelled),
    ] {
        let reading =
            Reader::default().read(&Evidence { text, http_status: status, ..Evidence::default() });
        assert_eq!(reading.kind, kind, "{text}: {reading:?}");
    }
}

#[test]
fn the_users_own_phrases_hold_across_a_colon() {
    let rule = PhraseRule {
        id: "acme".to_owned(),
        kind: "quota_exceeded".to_owned(),
        phrases: vec!["flux…exhausted".to_owned()],
    };
    let reader = Reader::with_rules(&[rule]).unwrap();
    let read = |text| reader.read(&Evidence { text, ..Evidence::default() }).kind;
    assert_eq!(read("flux capacitor: power is Exhausted"), FailureKind::QuotaExceeded);
    assert_ne!(read("flux capacitor:\nexhausted"), FailureKind::QuotaExceeded);
}

#[tokio::test]
async fn a_user_teaches_the_guard_the_errors_of_a_tool_and_the_shape_of_a_secret() {
    let rule = PhraseRule {
        id: "acme".to_owned(),
        kind: "quota_exceeded".to_owned(),
        phrases: vec!["flux…exhausted".to_owned()],
    };
    let secret = SecretRule {
        id: "acme-key".to_owned(),
        regex: r"\b(acme_[a-z0-9]{8})\b".to_owned(),
        keywords: vec!["acme_".to_owned()],
        allowlists: vec![Allowlist {
            stopwords: vec!["example".to_owned()],
            ..Allowlist::default()
        }],
        ..SecretRule::default()
    };
    let guard = Guard::builder()
        .tool(Script::new("t").errs("flux 7 exhausted for acme_ab12cd34").tool())
        .phrases([rule.clone()])
        .secret_rule(secret.clone())
        .build()
        .unwrap();
    let reply = guard.handle(breakfall::Call::new("1", "t", "{}")).await;
    assert_eq!(reply.kind(), Some(FailureKind::QuotaExceeded));
    let message = &guard.journal().samples()[0].failure.as_ref().unwrap().message.clone();
    assert!(message.contains("for [redacted:acme-key#"), "{message}");
    let wrong = PhraseRule { kind: "time_out".to_owned(), ..rule };
    assert!(
        Guard::builder().phrases([wrong]).build().unwrap_err().to_string().contains("`time_out`")
    );
    let wrong = SecretRule { regex: "(".to_owned(), ..secret };
    assert!(
        Guard::builder().secret_rule(wrong).build().unwrap_err().to_string().contains("`acme-key`")
    );
}

#[test]
fn a_phrase_that_stands_everywhere_is_refused() {
    let rule = breakfall::PhraseRule {
        kind: "network".to_owned(),
        id: "mine".to_owned(),
        phrases: vec![" ".to_owned()],
    };
    let error = breakfall::Reader::with_rules(&[rule]).unwrap_err();
    assert_eq!(error.to_string(), "the rule `mine` for errors has an empty phrase");
}

#[test]
fn the_group_that_gitleaks_names_is_the_secret() {
    let mut redactor = breakfall::Redactor::default();
    let rule = breakfall::SecretRule {
        id: "acme".to_owned(),
        regex: r"(acme|corp)-([a-z0-9]{8})-end".to_owned(),
        secret_group: Some(2),
        ..breakfall::SecretRule::default()
    };
    redactor.add_rule(rule).unwrap();
    let text = redactor.redact("key acme-a1b2c3d4-end here").into_owned();
    assert!(text.starts_with("key acme-[redacted:acme#") && text.ends_with("]-end here"), "{text}");
}
