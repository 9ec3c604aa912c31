//! What errors are about: each test is named for what was taken for the name, or was not.

use breakfall::{Evidence, Reader};

fn names(table: &[(&str, Option<&str>)]) {
    for (text, name) in table {
        let reading = Reader::default().read(&Evidence { text, ..Evidence::default() });
        assert_eq!(reading.resource.as_deref(), *name, "{text}: {reading:?}");
    }
}

#[test]
fn a_plain_word_of_the_sentence_is_no_name() {
    names(&[
        ("The requested resource wasn't found.", None),
        ("No route found between points", None),
        ("No session found for PID 999999", Some("999999")),
        ("bash: línea 1: nosuchprog: orden no encontrada", Some("nosuchprog")),
        ("The Reports feature(s) is/are not permitted for you", None),
        ("Client does not support elicitation (required for elicitation/create)", None),
        ("fatal: not a git repository (or any of the parent directories): .git", None),
        // Where nothing else stands, any word may be one.
        ("no such table: user", Some("user")),
        ("no such volume: data", Some("data")),
    ]);
}

#[test]
fn an_id_a_time_or_a_code_is_no_name() {
    names(&[
        (r#"time="2026-11-16T17:58:28Z" level=error msg="container does not exist""#, None),
        (r#"time="2026-11-16T17:58:28Z" level=error msg="no such image: web7""#, Some("web7")),
        (
            r#"{"errors":[{"message":"No user was found with id user_2NN"}],"x_trace_id":"a1b2c3d4e5"}"#,
            Some("user_2NN"),
        ),
        ("execution error: osascript is not allowed it. (-1743)", None),
        ("Error 200, reqId 4: No security definition has been found for the request", None),
        ("no such item (4)", None),
        ("Access denied. Request ID: 9f8e7d6c5b", None),
        ("[task-server] No tasks file found.", None),
        ("Statement failed, SQLSTATE = 42S02\nTable unknown", None),
    ]);
}

#[test]
fn a_name_is_whole() {
    names(&[
        ("\"getTypeFace: no afm found for faceName='Comic Snas'\"", Some("Comic Snas")),
        ("ObjectNotFound: P[77]", Some("P[77]")),
        (
            "SplFileObject::__construct(none.csv): Failed to open stream: No such file or directory",
            Some("none.csv"),
        ),
    ]);
}

#[test]
fn a_name_is_found_beside_a_side_path() {
    names(&[
        ("Error: nosuchimg: image not known", Some("nosuchimg")),
        ("rm: no se puede borrar 'old.d': Es un directorio", Some("old.d")),
        ("rm: 'old.d' を削除できません: ディレクトリです", Some("old.d")),
        (
            "./app: libc.so.6: version `GLIBC_2.38' not found (required by ./app)",
            Some("GLIBC_2.38"),
        ),
        (
            "Because app depends on frobber any (could not find package frobber at https://pub.dev)",
            Some("frobber"),
        ),
        ("Error: app not found (hint: run `fly apps list`)", Some("app")),
    ]);
}

#[test]
fn the_sort_of_a_thing_is_not_its_name() {
    names(&[
        ("Board not found", None),
        ("Endpoint does not exist", None),
        ("The specified load balancer does not exist.", None),
        ("Something you need was not found", None),
        ("Missing Permissions: forbidden", None),
        ("Board 42 not found", Some("42")),
    ]);
}

#[test]
fn a_code_a_frame_or_advice_is_no_name() {
    names(&[
        (r#"{"errors": [{"message": "PersistedQueryNotFound"}]}"#, None),
        ("ConflictError(409, 'version_conflict_engine_exception')", None),
        (
            r#"{"code": "Exists", "message": {"lang": "en-US", "value": "It already exists."}}"#,
            None,
        ),
        ("Error 1205 (HY000): Lock wait timeout exceeded; try restarting transaction", None),
        ("Session not found: please re-initialize", None),
        (
            "failed: POST https://a.dev/refs: 422 Reference already exists",
            Some("https://a.dev/refs"),
        ),
        (
            "Traceback (most recent call last):\n  File \"/srv/a.py\", line 3, in <module>\na.b.ObjectNotFound: [Errno 404] Not Found",
            None,
        ),
    ]);
}

#[test]
fn a_quoted_name_of_two_words_is_whole() {
    names(&[("IMAP folder 'Archiv 2031' doesn't exist", Some("Archiv 2031"))]);
}
