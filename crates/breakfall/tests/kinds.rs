//! Which kinds the errors of real tools and services are: each test is named for what was read
//! wrong.

use breakfall::FailureKind as K;
use breakfall::{Evidence, FailureKind, MayPass, Reader, Reading};

fn read(text: &str) -> Reading {
    Reader::default().read(&Evidence { text, ..Evidence::default() })
}

fn read_with(status: u16, text: &str) -> Reading {
    let evidence = Evidence { text, http_status: Some(status), ..Evidence::default() };
    Reader::default().read(&evidence)
}

fn kinds(table: &[(&str, FailureKind)]) {
    for (text, kind) in table {
        let reading = read(text);
        assert_eq!(reading.kind, *kind, "{text}: {reading:?}");
    }
}

#[test]
fn a_body_that_tells_its_kind_is_believed_against_a_vague_status() {
    for (status, text, kind) in [
        (400, r#"{"error":{"code":400,"message":"EMAIL_EXISTS"}}"#, K::Conflict),
        (400, r#"{"error":{"message":"INVALID_LOGIN_CREDENTIALS"}}"#, K::Authentication),
        (400, r#"{"error":{"message":"TOO_MANY_ATTEMPTS_TRY_LATER : Access …"}}"#, K::RateLimited),
        (400, r#"{"error":{"type":"budget_exceeded","code":"400"}}"#, K::QuotaExceeded),
        (400, r#"{"type":"x.errors.already_in_desired_state"}"#, K::Conflict),
        (400, r#"{"detail":"Document is not in draft status"}"#, K::Precondition),
        (503, r#"{"error":"etcdserver: request timed out"}"#, K::Timeout),
        (403, r#"{"message":"Check that your token has the required permissions"}"#, K::Permission),
    ] {
        let reading = read_with(status, text);
        assert_eq!(reading.kind, kind, "{text}: {reading:?}");
    }
}

#[test]
fn a_phrase_is_not_taken_too_widely() {
    kinds(&[
        ("Object of type datetime is not JSON serializable", K::Internal),
        ("extra keys not allowed @ data['brightnes']", K::InvalidArguments),
        (
            "Error: Another active process is already in progress.\nPlease wait for it to finish.",
            K::Conflict,
        ),
        ("x.txt: unable to find trailer dictionary in a damaged file", K::InvalidArguments),
    ]);
    assert_ne!(read("Please run the first step again").rule, "text.first");
}

#[test]
fn common_sentences_are_known() {
    kinds(&[
        ("permission deny", K::Permission),
        ("Navigation failed because page crashed!", K::Unavailable),
        (
            "Found 3 matches of the string to replace, but replace_all is false.",
            K::InvalidArguments,
        ),
        ("cannot destroy 'tank/home': filesystem has children", K::Conflict),
        ("[ERROR Port-6443]: Port 6443 is in use", K::Conflict),
    ]);
}

#[test]
fn a_sentence_is_believed_against_the_name_of_its_wrapper() {
    kinds(&[
        (
            "stripe.error.InvalidRequestError: Request req_x: No such customer: 'cus_Nx1'",
            K::NotFound,
        ),
        (
            "Unauthorized: code=2100 [Unauthorized] message=\"User app has no SELECT permission on <table a.b>\"",
            K::Permission,
        ),
        (
            r#"{"error":"Unauthorized","message":"new row violates row-level security policy"}"#,
            K::Permission,
        ),
        (
            r#"unable to connect to database: (1045, "Access denied for user 'root' (using password: YES)")"#,
            K::Authentication,
        ),
        (
            "Connection error: ('Unable to connect to any servers', {'a': AuthFailed('Failed to authenticate to a')})",
            K::Authentication,
        ),
    ]);
}

#[test]
fn a_warning_in_a_box_is_not_the_error() {
    let warning =
        "There are some problems:\n╷\n│ Warning: no\n│\n│ \"/root/.rc\" does not exist.\n╵\n\n";
    let reading = read(&format!("{warning}╷\n│ Error: Unclosed configuration block\n╵"));
    assert_ne!(reading.kind, K::NotFound, "{reading:?}");
    let reading = read(&format!("{warning}Permission denied."));
    assert_eq!((reading.kind, reading.resource), (K::Permission, None));
    assert_eq!(read(warning).kind, K::NotFound);
}

#[test]
fn a_process_id_is_no_sqlstate() {
    kinds(&[
        ("Timeout exceeded.\npid: 23772\nchild_fd: 7", K::Timeout),
        ("pid: 42501\nit timed out", K::Timeout),
        ("FEHLER:  42P01: Relation »x« existiert nicht", K::NotFound),
    ]);
}

#[test]
fn what_is_held_for_a_while_may_pass() {
    for (text, may_pass) in [
        ("rpc error: code = Aborted desc = Transaction was rolled back", MayPass::Yes),
        ("PermissionError: [WinError 32] Der Prozess kann nicht zugreifen: 'a.log'", MayPass::Yes),
        ("[Errno -3] Temporary failure in name resolution", MayPass::Yes),
        ("Another installation is already in progress. Complete that one.", MayPass::Yes),
        ("getaddrinfo ENOTFOUND no.such.host", MayPass::No),
        ("net::ERR_BLOCKED_BY_CLIENT at https://ads.example/x", MayPass::No),
    ] {
        let reading = read(text);
        assert_eq!(reading.may_pass, may_pass, "{text}: {reading:?}");
    }
}

#[test]
fn shells_and_windows_speak_other_languages() {
    kinds(&[
        ("bash: 行 1: nosuchprog: コマンドが見つかりません", K::NotFound),
        ("bash: foo: 未找到命令", K::NotFound),
        ("bash: linia 1: foo: nie znaleziono polecenia", K::NotFound),
        ("head: érvénytelen sorszám: ”abc”", K::InvalidArguments),
        ("ls: opção não reconhecida “--frobnicate”", K::InvalidArguments),
        ("Der angegebene Dienst ist da.\n\nSystemfehler 1060 aufgetreten.", K::NotFound),
        ("Erreur système 5.\n\nAccès.", K::Permission),
        ("El sistema no puede encontrar la ruta especificada.", K::NotFound),
        ("\"frob\" не является внутренней или внешней\nкомандой", K::NotFound),
    ]);
}

#[test]
fn letters_of_a_language_tell_no_kind() {
    kinds(&[("é ó ü öß", K::Execution), ("kérlek várj míg kész", K::Execution)]);
}

#[test]
fn what_a_client_cannot_do_is_no_bad_argument() {
    kinds(&[
        ("Elicitation not supported", K::Unavailable),
        ("Client does not support sampling", K::Unavailable),
        ("Client does not support roots", K::Unavailable),
    ]);
}

#[test]
fn a_model_of_an_answer_is_not_about_arguments() {
    kinds(&[
        ("1 validation error for dbsizeOutput\nresult\n  Input should be text", K::InvalidOutput),
        ("2 validation errors for ListResponse\nitems\n  Field required", K::InvalidOutput),
        ("1 validation error for get_outputArguments\npath\n  Field required", K::InvalidArguments),
    ]);
}

#[test]
fn what_was_given_or_left_out_is_told_from_what_broke() {
    kinds(&[
        (
            "Failed to connect: Invalid scheme, expected connection string to start with \"x://\"",
            K::InvalidArguments,
        ),
        ("Project path not set. Please use set_project_path first", K::Precondition),
        ("division by zero", K::Internal),
        ("ZeroDivisionError: division by zero", K::Internal),
        ("Uncaught DivisionByZeroError: Division by zero in x.php:1", K::Internal),
    ]);
}
