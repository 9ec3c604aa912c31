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
        (
            "An error occurred (OperationAborted) when calling the PutObject operation: A conflicting conditional operation is currently in progress. Please try again.",
            MayPass::Yes,
        ),
        ("ServerBusy: Ingress is over the account limit.", MayPass::Yes),
        ("URLError: <urlopen error unknown url type: htp>", MayPass::No),
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

#[test]
fn what_comes_by_itself_is_waited_for() {
    for (text, kind, may_pass) in [
        ("build 17 is still running", K::Conflict, MayPass::Yes),
        ("job is still processing", K::Unavailable, MayPass::Yes),
        ("The report is not ready yet", K::Unavailable, MayPass::Yes),
        ("Video is still processing; try again in 90 seconds", K::Unavailable, MayPass::Yes),
        ("Circuit breaker 'stock' is open", K::Unavailable, MayPass::Yes),
        ("Conflict while saving. Please try again.", K::Conflict, MayPass::Yes),
        (
            r#"{"code": "aborted", "message": "changed by another transaction"}"#,
            K::Conflict,
            MayPass::Yes,
        ),
        // What somebody has to do comes first.
        (
            "Build 17 cannot be retried because it is still running",
            K::Precondition,
            MayPass::AfterAnotherStep,
        ),
        ("The server 'a' is not running. Start it and try again.", K::Unavailable, MayPass::Later),
        ("The name \"a\" is already in use. You have to rename one.", K::Conflict, MayPass::No),
        (
            "SSLHandshakeException: PKIX path building failed: no trust anchor",
            K::Network,
            MayPass::No,
        ),
    ] {
        let reading = read(text);
        assert_eq!((reading.kind, reading.may_pass), (kind, may_pass), "{text}: {reading:?}");
    }
}

#[test]
fn one_word_says_what_its_noun_makes_of_it() {
    kinds(&[
        ("bad", K::Execution),
        ("WorkloadCredential authentication unavailable.", K::Authentication),
        ("Bad authentication method; allowed: ['publickey']", K::Authentication),
        ("the passphrase given by the agent is incorrect", K::Authentication),
        ("Missing sudo password", K::Authentication),
        ("sensor is unavailable", K::Unavailable),
        ("the service is unavailable", K::Upstream),
        ("The date is outside of the open booking period.", K::InvalidArguments),
        ("File is outside of the workspace", K::Permission),
        ("Maintenance window until 23:00; writes are disabled", K::Unavailable),
        ("Garbled date", K::InvalidArguments),
        ("exited in: Task.await(%Task{mfa: {:m, :f, 2}}, 50)\n** (EXIT) time out", K::Timeout),
        ("status: DataLoss, message: \"checksum mismatch\", details: []", K::Internal),
        ("{\"error\": \"400 Page token is too old\"}", K::InvalidArguments),
    ]);
}

#[test]
fn a_plain_sentence_is_believed_against_a_vague_code() {
    kinds(&[
        (r#"{"message": "Entity not found: Issue", "code": "INPUT_ERROR"}"#, K::NotFound),
        ("ApiError('7', GetError('path', LookupError('not_found', None)))", K::NotFound),
        ("AnalysisException: Path does not exist: s3a://a/b. SQLSTATE: 42K03", K::NotFound),
        ("DefaultCredentialsError: File /srv/sa.json was not found.", K::NotFound),
        ("ConnectionClosedError: received 1008 token expired", K::Authentication),
        ("page.goto: net::ERR_CERT_DATE_INVALID at https://a.example/", K::Network),
        ("BadRequest('Chat not found')", K::NotFound),
    ]);
}

#[test]
fn the_cause_of_an_error_is_read_not_what_became_of_it() {
    let chained = "Traceback (most recent call last):\n  File \"a.py\", line 4, in read\n    open(p)\nPermissionError: [Errno 13] Permission denied: '/srv/a.db'\n\nThe above exception was the direct cause of the following exception:\n\nTraceback (most recent call last):\n  File \"b.py\", line 9, in <module>\n    boot()\nRuntimeError: boot failed";
    let reading = read(chained);
    assert_eq!((reading.kind, reading.resource.as_deref()), (K::Permission, Some("/srv/a.db")));
    kinds(&[
        // An outer error that tells its kind says more than what it was made of.
        (
            "Traceback (most recent call last):\n  File \"a.py\", line 4, in f\nKeyError: 'a'\n\nThe above exception was the direct cause of the following exception:\n\nTraceback (most recent call last):\n  File \"b.py\", line 9, in g\nTableNotFoundError: a",
            K::NotFound,
        ),
        ("** (MatchError) no match of right hand side value: {:error, :econnrefused}", K::Network),
        ("** (MatchError) no match of right hand side value: {:error, :enoent}", K::NotFound),
        ("Fortran runtime error: Cannot open file 'a.dat': No such file or directory", K::NotFound),
        ("Error in f(): cannot open the connection to 'http://127.0.0.1:9/x'", K::Network),
        (
            "`x.txt' not recognized as a supported file format.\nunable to open 'x.txt'.",
            K::InvalidArguments,
        ),
        ("{\"error\": \"nats: timeout\"}", K::Timeout),
        ("SearchApiError('timeout')", K::Timeout),
    ]);
}

#[test]
fn services_speak_other_languages_too() {
    kinds(&[
        (r#"{"erro": "Usuário ou senha inválidos"}"#, K::Authentication),
        (r#"{"pesan": "Terlalu banyak permintaan, coba lagi"}"#, K::RateLimited),
        (r#"{"erreur": "Le jeton d'accès a expiré"}"#, K::Authentication),
        (r#"{"mensaje": "No tiene permisos para ver el recurso"}"#, K::Permission),
        (r#"{"meldung": "Zu viele Anfragen"}"#, K::RateLimited),
        (r#"{"message": "密码错误"}"#, K::Authentication),
        ("bash: frobcmd: الأمر غير موجود", K::NotFound),
    ]);
}

#[test]
fn what_stops_a_run_is_not_read_into_what_was_given_wrongly() {
    kinds(&[
        ("error: invalid key pattern: [", K::InvalidArguments),
        ("crypto: Invalid key length", K::InvalidArguments),
        (
            "struct.error: unpack_from requires a buffer of at least 12 bytes for unpacking 4 bytes at offset 8",
            K::InvalidArguments,
        ),
        ("HTTP 426 Upgrade Required", K::InvalidArguments),
        ("402 Client Error: Payment Required for url: https://a.dev/v1", K::QuotaExceeded),
        (
            "403 {\"message\": \"Although you appear to have the correct authorization credentials, the `acme` organization has enabled OAuth App access restrictions, meaning that data access to third-parties is limited. For more information on these restrictions, including how to enable this app, visit https://docs.github.com/articles/restricting-access-to-your-organization-s-data/\", \"documentation_url\": \"https://docs.github.com/rest\"}",
            K::Permission,
        ),
        (
            "HttpError: Resource protected by organization SAML enforcement. You must grant your Personal Access token access to this organization.",
            K::Permission,
        ),
        ("Bad credentials", K::Authentication),
        (
            "HttpResponseError: Ingress is over the account limit.\nErrorCode:ServerBusy",
            K::RateLimited,
        ),
    ]);
}

#[test]
fn what_was_given_wrongly_does_not_pass() {
    kinds(&[
        ("Aborting commit due to empty commit message.", K::InvalidArguments),
        ("Aborting commit; you did not edit the message.", K::InvalidArguments),
        ("URLError: <urlopen error unknown url type: htp>", K::InvalidArguments),
        ("SSHException: not a valid RSA private key file", K::InvalidArguments),
        ("paramiko.ssh_exception.SSHException: Error reading SSH protocol banner", K::Network),
        (
            "An error occurred (TooManyBuckets) when calling the CreateBucket operation: You have attempted to create more buckets than allowed",
            K::QuotaExceeded,
        ),
        ("TooManyHostedZones: Limits Exceeded: MAX_HOSTED_ZONES_BY_OWNER", K::QuotaExceeded),
        (
            "curl: option --badopt: is unknown\ncurl: try 'curl --help' for more information",
            K::InvalidArguments,
        ),
        (
            "curl: option -X: requires parameter\ncurl: try 'curl --help' for more information",
            K::InvalidArguments,
        ),
        (
            "usage: git credential-store [<options>] <action>\n\n    --[no-]file <path>    fetch and store credentials in <path>",
            K::InvalidArguments,
        ),
        (
            "Usage: kill [options] <pid> [...]\n\nOptions:\n <pid> [...]            send signal to every <pid> listed",
            K::InvalidArguments,
        ),
        (
            "usage: prog [-h] --name NAME\nprog: error: the following arguments are required: --name",
            K::InvalidArguments,
        ),
        (
            "tarfile.ReadError: file could not be opened successfully:\n- method gz: ReadError('not a gzip file')\n- method tar: ReadError('invalid header')",
            K::InvalidArguments,
        ),
        ("wave.Error: file does not start with RIFF id", K::InvalidArguments),
        (
            "Can't open /nope for reading, No such file or directory\nunable to load certificate",
            K::NotFound,
        ),
        ("SyntaxError: Identifier 'x' has already been declared", K::InvalidArguments),
        ("Webhook has already been registered", K::Conflict),
        ("GitlabGetError: 400: branch is missing, content is missing", K::InvalidArguments),
        ("GitlabGetError: 404: 404 Project Not Found", K::NotFound),
        ("error: no objects passed to apply", K::InvalidArguments),
        (
            "tool run\n\nRuns all.\n\nOptions:\n  -d  Where it is  [required]\n  -f  If it has already been changed\n\nMissing required argument: d",
            K::InvalidArguments,
        ),
    ]);
}

#[test]
fn what_docker_says_in_quotes_is_believed_against_its_one_status() {
    kinds(&[
        (
            "docker.errors.APIError: 500 Server Error for http+docker://localhost/v1.43/containers/ab/start: Internal Server Error (\"driver failed programming external connectivity on endpoint web (ab12): Bind for 0.0.0.0:8080 failed: port is already allocated\")",
            K::Conflict,
        ),
        (
            "docker.errors.APIError: 500 Server Error for http+docker://localhost/v1.43/containers/ab/start: Internal Server Error (\"toomanyrequests: You have reached your pull rate limit.\")",
            K::RateLimited,
        ),
        (
            "docker.errors.APIError: 500 Server Error for http+docker://localhost/v1.43/containers/ab/start: Internal Server Error (\"write /var/lib/docker/tmp/GetImageBlob1: no space left on device\")",
            K::System,
        ),
        (
            "docker.errors.APIError: 500 Server Error for http+docker://localhost/v1.43/containers/ab/start: Internal Server Error (\"something odd happened\")",
            K::Upstream,
        ),
        ("500 Server Error: Internal Server Error for url: https://a.dev/v1", K::Upstream),
    ]);
}

#[test]
fn a_number_beside_a_librarys_own_code_is_not_the_systems() {
    kinds(&[
        (
            "Error: incorrect header check\n    at genericNodeError (node:internal/errors:984:15) {\n  errno: -3,\n  code: 'Z_DATA_ERROR'\n}",
            K::InvalidArguments,
        ),
        (
            "Error: unexpected end of file\n    at genericNodeError (node:internal/errors:984:15) {\n  errno: -5,\n  code: 'Z_BUF_ERROR'\n}",
            K::InvalidArguments,
        ),
        (
            "[Error: SQLITE_ERROR: no such table: foo] {\n  errno: 1,\n  code: 'SQLITE_ERROR'\n}",
            K::NotFound,
        ),
        (
            "[Error: SQLITE_CONSTRAINT: UNIQUE constraint failed: users.email] {\n  errno: 19,\n  code: 'SQLITE_CONSTRAINT'\n}",
            K::Conflict,
        ),
        (
            "Error: ENOENT: no such file or directory, open 'a' {\n  errno: -2,\n  code: 'ENOENT'\n}",
            K::NotFound,
        ),
    ]);
}

#[test]
fn who_gave_up_may_say_why() {
    kinds(&[
        (
            "An error occurred (OperationAborted) when calling the PutObject operation: A conflicting conditional operation is currently in progress against this resource. Please try again.",
            K::Conflict,
        ),
        ("OperationAborted: the operation was aborted", K::Cancelled),
        ("AxiosError: timeout of 500ms exceeded {\n  code: 'ECONNABORTED'\n}", K::Timeout),
        ("Error: read ECONNABORTED", K::Network),
        (
            "tar (child): /nodir/x.tgz: Cannot open: No such file or directory\ntar (child): Error is not recoverable: exiting now\ntar: /nodir/x.tgz: Cannot write: Broken pipe\ntar: Child returned status 2\ntar: Error is not recoverable: exiting now",
            K::NotFound,
        ),
        ("write failed: Broken pipe", K::Network),
    ]);
}

#[test]
fn what_was_found_otherwise_is_not_missing() {
    kinds(&[
        ("merge: origin/mian - not something we can merge", K::NotFound),
        (
            "error: the branch 'f1' is not fully merged\nhint: If you are sure you want to delete it, run 'git branch -D f1'",
            K::Precondition,
        ),
        (
            "HTTPStatusError: Redirect response '302 Found' for url 'http://a.dev/v1'\nRedirect location: 'https://a.dev/login'\nFor more information check: https://httpstatuses.com/302",
            K::Execution,
        ),
        (
            "sqlalchemy.exc.MultipleResultsFound: Multiple rows were found when exactly one was required",
            K::Execution,
        ),
        (
            "myapp.models.User.MultipleObjectsReturned: get() returned more than one User -- it returned 2!",
            K::Execution,
        ),
        ("sqlalchemy.exc.NoResultFound: No row was found when one was required", K::NotFound),
    ]);
}

#[test]
fn a_client_that_says_the_same_of_every_call_is_read_by_what_the_server_said() {
    for (code, kind) in [
        ("fatal_error", K::Execution),
        ("too_many_attachments", K::InvalidArguments),
        ("time_in_past", K::InvalidArguments),
        ("bad_timestamp", K::InvalidArguments),
        ("edit_window_closed", K::Precondition),
        ("cant_update_message", K::Permission),
        ("user_not_found", K::NotFound),
        ("name_taken", K::Conflict),
        ("ratelimited", K::RateLimited),
    ] {
        let reading = read(&format!(
            "SlackApiError: The request to the Slack API failed. (url: https://slack.com/api/x)\nThe server responded with: {{'ok': False, 'error': '{code}'}}"
        ));
        assert_eq!((reading.kind, reading.resource), (kind, None), "{code}");
    }
}

#[test]
fn cargo_ends_as_a_panic_does() {
    let text = "error: failed to select a version for the requirement `serde = \"^99\"`\ncandidate versions found which didn't match: 1.0.229";
    let read = |text| {
        Reader::default().read(&Evidence { text, exit_code: Some(101), ..Evidence::default() })
    };
    let reading = read(text);
    assert_eq!((reading.kind, reading.resource.as_deref()), (K::NotFound, Some("serde")));
    assert_eq!(read("").kind, K::Internal);
}

#[test]
fn what_a_service_says_in_another_language_is_read() {
    kinds(&[
        ("O utilizador 'maria' não existe.", K::NotFound),
        ("Zugriff auf den Ordner 'Rechnungen' wurde verweigert.", K::Permission),
        ("您没有权限执行此操作", K::Permission),
        ("Nieprawidłowe hasło", K::Authentication),
        ("Die Zeit für die Anfrage ist abgelaufen.", K::Timeout),
        ("No se pudo conectar con el servidor", K::Network),
        ("サーバーに接続できません", K::Network),
        ("Cette adresse est déjà utilisée", K::Conflict),
        ("Le champ « email » est obligatoire.", K::InvalidArguments),
        ("缺少必填参数", K::InvalidArguments),
        ("磁盘空间不足", K::System),
        ("Nicht genügend Speicherplatz auf dem Datenträger", K::System),
        ("Errore interno del server", K::Upstream),
        ("El servicio no está disponible temporalmente", K::Unavailable),
        ("Ihr Guthaben ist aufgebraucht", K::QuotaExceeded),
        ("Trop de tentatives. Réessayez dans 30 secondes.", K::RateLimited),
    ]);
}

#[test]
fn a_value_that_is_compared_is_no_order_of_steps() {
    kinds(&[
        (r#"{"non_field_errors": ["Start must be before end."]}"#, K::InvalidArguments),
        ("dueAt must be in the future", K::InvalidArguments),
        ("The order must be paid before it can be shipped", K::Precondition),
        ("No file is open. Use open_file.", K::Precondition),
    ]);
}

#[test]
fn what_a_row_refers_to_is_given_wrongly_not_missing() {
    kinds(&[
        (
            "ERROR:  insert or update on table \"orders\" violates foreign key constraint \"fk\"\nDETAIL:  Key (customer_id)=(9) is not present in table \"customers\".",
            K::InvalidArguments,
        ),
        (
            "Code: 47. DB::Exception: Unknown expression identifier `usr` in scope",
            K::InvalidArguments,
        ),
        ("NoSuchOption: No such option: --verbos", K::InvalidArguments),
        ("ninja: build stopped: subcommand failed.", K::Execution),
        ("Command 'curl' is not in the list of allowed commands", K::Permission),
        ("timeout: invalid time interval ‘abc’", K::InvalidArguments),
    ]);
}
