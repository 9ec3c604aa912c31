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

#[test]
fn where_in_the_code_something_failed_is_no_name() {
    names(&[
        ("Error: Access denied\n    at check (/srv/api/auth.js:12:11)", None),
        (
            "/srv/users.js:1\nthrow new Error(\"Not found\")\n^\n\nError: Not found\n    at Object.<anonymous> (/srv/users.js:1:7)\n\nNode.js v20.20.2",
            None,
        ),
        (
            "node:internal/process/per_thread:225\n      throw new ErrnoException(err, 'kill');\n      ^\n\nError: kill ESRCH\n    at process.kill (node:internal/process/per_thread:225:13) {\n  errno: -3,\n  code: 'ESRCH',\n  syscall: 'kill'\n}",
            None,
        ),
        (
            "AccessDenied: Access Denied\n    at A.handleError (/srv/index.js:1398:27) {\n  '$fault': 'client',\n  '$metadata': {\n    httpStatusCode: 403,\n    attempts: 1\n  },\n  Code: 'AccessDenied'\n}",
            None,
        ),
        (
            "WebAPIPlatformError: An API error occurred: name_taken\n    at WebClient.apiCall (/srv/WebClient.js:206:19) {\n  code: 'slack_webapi_platform_error',\n  data: { ok: false, error: 'name_taken', response_metadata: {} }\n}",
            None,
        ),
        (
            "Error: ENOENT: no such file or directory, open '/srv/users.js'\n    at Object.openSync (node:fs:603:3) {\n  errno: -2,\n  code: 'ENOENT',\n  path: '/srv/users.js'\n}",
            Some("/srv/users.js"),
        ),
        (
            "NoSuchKey: The specified key does not exist.\n    at de_Res (/srv/index.js:5:1) {\n  '$fault': 'client',\n  Code: 'NoSuchKey',\n  Key: 'reports/2026.csv'\n}",
            Some("reports/2026.csv"),
        ),
        (
            "System.Exception: Not found\n   at Acme.Users.Get(String id) in /src/Users.cs:line 42",
            None,
        ),
        (
            "Exception in thread \"main\" java.lang.RuntimeException: Access denied\n\tat U.main(U.java:1)",
            None,
        ),
        (
            "/app/users.rb:42:in `get': Access denied (RuntimeError)\n\tfrom /app/main.rb:7:in `<main>'",
            None,
        ),
        (
            "PHP Fatal error:  Uncaught Exception: Access denied in /srv/users.php:1\nStack trace:\n#0 {main}\n  thrown in /srv/users.php on line 1",
            None,
        ),
        ("Access denied at /srv/users.pl line 1.", None),
        ("Can't open /srv/in.csv: No such file or directory at x.pl line 3.", Some("/srv/in.csv")),
        (
            "lua5.4: users.lua:1: permission denied\nstack traceback:\n\t[C]: in function 'error'",
            None,
        ),
        (
            "** (RuntimeError) not found\n    (acme 0.1.0) lib/acme/users.ex:42: Acme.Users.get/1",
            None,
        ),
        ("Error: not found\n\nLocation:\n    src/users.rs:42:9", None),
        (
            "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\nsqlite3.OperationalError: unable to open database file",
            None,
        ),
        ("dbm.error: db file doesn't exist; use 'c' or 'n' flag to create a new db", None),
        ("HttpError: Not Found - https://docs.github.com/rest/issues", None),
        ("NotFound: UnknownError", None),
    ]);
}

#[test]
fn what_is_missing_is_named_not_what_stands_near() {
    names(&[
        (
            "merge: feature-9 - not something we can merge\n\nDid you mean this?\n\tfeature-8",
            Some("feature-9"),
        ),
        (
            "error: The branch 'f1' is not fully merged.\nIf you are sure you want to delete it, run 'git branch -D f1'.",
            Some("f1"),
        ),
        (
            "SlackApiError: The request to the Slack API failed. (url: https://slack.com/api/x)\nThe server responded with: {'ok': False, 'error': 'missing_scope', 'needed': 'chat:write', 'provided': 'users:read'}",
            Some("chat:write"),
        ),
        (
            "tar (child): /nodir/x.tgz: Cannot open: No such file or directory\ntar (child): Error is not recoverable: exiting now\ntar: /nodir/x.tgz: Cannot write: Broken pipe\ntar: Child returned status 2\ntar: Error is not recoverable: exiting now",
            Some("/nodir/x.tgz"),
        ),
        ("ENOENT: no such file or directory, chdir '/tmp/h3/w' -> '/nope'", Some("/nope")),
        (
            "zip warning: name not matched: nofile\n\nzip error: Nothing to do! (o.zip)",
            Some("nofile"),
        ),
        ("Archive:  z.zip\ncaution: filename not matched:  nofile", Some("nofile")),
        ("taskset: failed to get pid 999999's affinity: No such process", Some("999999")),
        ("fatal: Need to specify how to reconcile divergent branches.", None),
        (
            "java.security.NoSuchAlgorithmException: Cannot find any provider supporting Foo",
            Some("Foo"),
        ),
        (
            "zoneinfo._common.ZoneInfoNotFoundError: 'No time zone found with key Europe/Atlantis'",
            Some("Europe/Atlantis"),
        ),
        (
            "PermissionError: The provided key 'rk_test_x' does not have the required permissions for this endpoint on account 'acct_1'.",
            Some("acct_1"),
        ),
        ("no such provider: aws", Some("aws")),
        ("no such database: db", Some("db")),
        ("sqlalchemy.exc.NoResultFound: No row was found when one was required", None),
        ("[Error: SQLITE_BUSY: database is locked] {\n  errno: 5,\n  code: 'SQLITE_BUSY'\n}", None),
        (
            "Can't open /nope for reading, No such file or directory\nunable to load certificate",
            Some("/nope"),
        ),
        (
            "403 Storage API has not been used in project 123 before or it is disabled. Enable it by visiting https://console.example.com/apis then retry.",
            None,
        ),
    ]);
}

#[test]
fn what_is_named_beside_an_empty_name_is_something_else() {
    names(&[
        ("Error: Sheet '' not found. Available sheets: 'Sheet1'.", None),
        ("table \"\" does not exist; there are: users, orders", None),
        ("Error: Sheet 'x' not found. Available sheets: 'Sheet1'.", Some("x")),
    ]);
}

#[test]
fn a_plain_word_of_another_language_is_no_name() {
    names(&[
        ("Cette adresse est déjà utilisée", None),
        ("Der Dienst ist derzeit nicht verfügbar.", None),
        ("El nombre de usuario ya está en uso.", None),
        ("Le client n° 4711 est introuvable.", Some("4711")),
        ("Fichier introuvable : rapport.pdf", Some("rapport.pdf")),
        ("O utilizador 'maria' não existe.", Some("maria")),
    ]);
}
