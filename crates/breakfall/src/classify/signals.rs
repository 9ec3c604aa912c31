//! Codes within a text: errno, SQLSTATE, gRPC, exit codes, HTTP status. Never a bare number.

use std::sync::LazyLock;

use super::codes;
use super::decide::Verdict;
use super::names::{self, Told};
use super::pattern::{Marked, Pattern, bits};
use crate::FailureKind;

static AWS: Pattern =
    Pattern::new(&["An error occurred ("], r"An error occurred \(([A-Za-z0-9.]+)\)");
static NAMED_CODE: Pattern = Pattern::new(
    &["ode"],
    r#"(?:ErrorCode|errorCode|error_code|codeName|npm error code|\bcode)['"]?\s*[:= ]\s*['"]?([A-Z][A-Za-z0-9_]{3,})\b"#,
);
static GRPC: Pattern = Pattern::new(
    &["StatusCode.", "code = ", "grpc-status", ", message: "],
    r"(?:(?:StatusCode\.|code = |grpc-status: )([A-Za-z_]+)|\bstatus: ([A-Z][A-Za-z]+), message: )",
);
static ERRNO: Pattern = Pattern::new(
    &[
        "rrno",
        "os error",
        "rror is ",
        "0 connecting",
        "1 connecting",
        "2 connecting",
        "3 connecting",
        "4 connecting",
        "5 connecting",
        "6 connecting",
        "7 connecting",
        "8 connecting",
        "9 connecting",
    ],
    r"(?:\[Errno (\d+)\]|\(?os error (\d+)\)?|\berrno[=: ]+-?(\d+)\b|\bError (\d{1,3}) connecting|\b[Ee]rror is (\d{1,3})\b)",
);
static WINDOWS: Pattern = Pattern::new(
    &[
        "WinError",
        "ystem error ",
        "ystemfehler ",
        "rreur syst",
        "de sistema ",
        "di sistema ",
        "ysteemfout ",
        "błąd systemu ",
        "истемная ошибка ",
        "システム エラー ",
        "系统错误 ",
        "系統錯誤 ",
        "시스템 오류 ",
    ],
    r"(?:\[WinError (\d+)\]|\b[Ss]ystem error (\d+) has occurred|(?:[Ss]ystemfehler|[Ee]rreur système|[Ee]rror de sistema|[Ee]rrore di sistema|[Ee]rro de sistema|[Ss]ysteemfout|błąd systemu|истемная ошибка|システム エラー|系统错误|系統錯誤|시스템 오류) (\d+)\b)",
);
static APPLE_SCRIPT: Pattern =
    Pattern::new(&["execution error: "], r"execution error: [^\n]*\((-\d{2,5})\)");
static HRESULT: Pattern = Pattern::new(&["0x8007"], r"\b0x8007([0-9A-Fa-f]{4})\b");
static APPLE: Pattern = Pattern::new(
    &["Domain Code=", "Domain error "],
    r"\b(NS\w+ErrorDomain (?:Code=|error )-?\d+)\b",
);
static MAIL: Pattern = Pattern::new(
    &[
        "4.1.", "4.2.", "4.3.", "4.4.", "4.5.", "4.7.", "5.1.", "5.2.", "5.3.", "5.4.", "5.5.",
        "5.7.",
    ],
    r"\b[45]\d\d(?:[ -]#?|, b?['\x22]#?)([45]\.[123457]\.\d{1,3})\b",
);
static LDAP: Pattern = Pattern::new(&["ldap_"], r"\bldap_\w+(?:\(\w+\))?: [^(\n]+ \((-?\d+)\)");
static ORACLE: Pattern = Pattern::new(&["ORA-"], r"\bORA-(\d{5})\b");
static SQL_SERVER: Pattern =
    Pattern::new(&["Msg ", "(SQL"], r"(?:\bMsg (\d{3,5}), Level \d|\((\d{3,5})\) \(SQL\w+\))");
static ERRNO_NAME: Pattern = Pattern::new(
    &[
        "EN", "EA", "EC", "EP", "EE", "EI", "ER", "EB", "EH", "ET", "EM", "EX", "ES", "EO", "EU",
        "ED", "EF", "EJ", "EL", "EW", "UND",
    ],
    r"\b((?:E[A-Z]{3,14}|ERR_[A-Z_]+|UND_ERR_[A-Z_]+|EAI_[A-Z]+))\b",
);
static SQLSTATE: Pattern = Pattern::new(
    &["ERROR", "FATAL", "SQL", "Sql", ":  ", ": 0", ": 2", ": 3", ": 4", ": 5"],
    r"(?:ERROR:?\s+|FATAL:\s+|SQLSTATE[\[: (=]+|ERROR \d{4} \(|SQL state: |SqlState[:= ]+)([0-9][0-9A-Z]{4}|XX[0-9]{3})(?:[:)\],.; ]|(?m:$))|(?m:^)[^\s:]{3,24}:\s{1,2}([0-9][0-9A-Z]{4}|XX[0-9]{3}):",
);
static MYSQL: Pattern =
    Pattern::new(&["ERROR ", "(1", "(2", "(3"], r#"(?:\((\d{4}), \\?["']|ERROR (\d{4})\b)"#);
static EXIT: Pattern = Pattern::new(
    &["xit"],
    r"(?i)\bexit(?:ed)?(?: with)?(?: code| status)?(?: is|:|=)? ?(1[23]\d)\b",
);
static JSON_RPC: Pattern = Pattern::new(&["-32"], r"(?:^|[\s(\[{:=,])(-32[0-8]\d\d)\b");
static CURL: Pattern = Pattern::new(&["curl: ("], r"curl: \((\d+)\)");

/// Every pattern of this file.
pub(super) static PATTERNS: &[&Pattern] = &[
    &AWS,
    &NAMED_CODE,
    &GRPC,
    &ERRNO,
    &WINDOWS,
    &HRESULT,
    &APPLE,
    &APPLE_SCRIPT,
    &MAIL,
    &LDAP,
    &ORACLE,
    &SQL_SERVER,
    &ERRNO_NAME,
    &SQLSTATE,
    &MYSQL,
    &EXIT,
    &JSON_RPC,
    &CURL,
    &STATUS,
];

/// The patterns of codes, a bit each: most texts have none.
static CODES: LazyLock<u128> =
    LazyLock::new(|| bits(PATTERNS) & !bits(&[&JSON_RPC]) & !bits(&[&STATUS]));

/// Codes within a text.
pub(super) fn in_text(marked: &Marked) -> Option<Verdict> {
    if !marked.announces_any(*CODES) {
        return None;
    }
    let text = marked.text;
    let told = |name: &str| match names::tell(name) {
        Some(Told::Surely(kind)) => Some(kind),
        _ => None,
    };
    let by_name = |pattern: &Pattern, rule: &'static str| {
        let name = pattern.text(marked)?;
        told(name).map(|kind| Verdict::new(kind, rule, name))
    };
    let by_number =
        |pattern: &Pattern, rule: &'static str, table: fn(i32) -> Option<FailureKind>| {
            let number = pattern.last(marked)?;
            table(number.parse().ok()?).map(|kind| Verdict::new(kind, rule, number))
        };
    by_name(&AWS, "code")
        .or_else(|| {
            GRPC.text(marked)
                .and_then(|name| codes::grpc(name).map(|kind| Verdict::new(kind, "grpc", name)))
        })
        .or_else(|| {
            by_number(&MYSQL, "mysql", |number| codes::mysql(u32::try_from(number).ok()?))
                .filter(|_| !text.contains("timed out"))
        })
        .or_else(|| {
            let code =
                SQLSTATE.text(marked).filter(|code| code.bytes().any(|b| b.is_ascii_digit()))?;
            let kind = codes::sqlstate(code)?;
            // Codes that stand for two things, told apart by the words.
            let unique = || ["UNIQUE", "unique", "Duplicate", "duplicate"].iter();
            let kind = match code {
                "57014" if text.contains("user request") => FailureKind::Cancelled,
                "08004" if text.contains("uthentication") => FailureKind::Authentication,
                "23000" if unique().any(|word| text.contains(word)) => FailureKind::Conflict,
                _ => kind,
            };
            Some(Verdict::new(kind, "sqlstate", code))
        })
        .or_else(|| by_number(&ERRNO, "errno", codes::errno).filter(|_| is_of_the_system(marked)))
        .or_else(|| by_number(&WINDOWS, "errno", codes::windows))
        .or_else(|| of_vendors(marked))
        .or_else(|| by_name(&ERRNO_NAME, "errno"))
        .or_else(|| by_name(&NAMED_CODE, "code"))
        .or_else(|| {
            let code = EXIT.last(marked)?;
            codes::exit(code.parse().ok()?).map(|kind| Verdict::new(kind, "exit-code", code))
        })
        .or_else(|| {
            let code = CURL.text(marked)?;
            curl(code.parse().ok()?).map(|kind| Verdict::new(kind, "curl", code))
        })
}

/// Whether the number that a text calls errno is one of the system's: npm tells the exit code of a
/// script so, and libraries their own numbers, beside a code: `errno: -3, code: 'Z_DATA_ERROR'`.
fn is_of_the_system(marked: &Marked) -> bool {
    let is_of_npm = marked.text.contains("ELIFECYCLE");
    let is_keyed = || marked.text.contains("errno: ");
    let is_other = || NAMED_CODE.text(marked).is_some_and(|code| !code.starts_with('E'));
    !is_of_npm && (!is_keyed() || !is_other())
}

/// The JSON-RPC code that a text tells.
pub(super) fn json_rpc_in(marked: &Marked) -> Option<i64> {
    JSON_RPC.text(marked)?.parse().ok()
}

/// Numbers that vendors put a mark before.
fn of_vendors(marked: &Marked) -> Option<Verdict> {
    let first = |pattern: &Pattern, rule, table: fn(i32) -> Option<FailureKind>| {
        let number = pattern.text(marked)?;
        table(number.parse().ok()?).map(|kind| Verdict::new(kind, rule, number))
    };
    first(&ORACLE, "oracle", codes::oracle)
        .or_else(|| first(&SQL_SERVER, "sql-server", codes::sql_server))
        .or_else(|| first(&LDAP, "ldap", codes::ldap))
        .or_else(|| first(&APPLE_SCRIPT, "apple-script", codes::apple_script))
        .or_else(|| {
            let low = HRESULT.text(marked)?;
            let kind = codes::windows(i32::from_str_radix(low, 16).ok()?)?;
            Some(Verdict::new(kind, "hresult", format!("0x8007{low}")))
        })
        .or_else(|| {
            let words = APPLE.last(marked)?;
            let (domain, number) = words.rsplit_once(['=', ' '])?;
            let kind = codes::apple(domain.split(' ').next()?, number.parse().ok()?)?;
            Some(Verdict::new(kind, "domain", words))
        })
        .or_else(|| {
            let code = MAIL.text(marked)?;
            let mut parts = code.split('.').map_while(|part| part.parse::<u32>().ok());
            let (class, subject, detail) = (parts.next()?, parts.next()?, parts.next()?);
            codes::mail(class == 5, subject, detail).map(|kind| Verdict::new(kind, "mail", code))
        })
}

/// What curl's exit codes stand for.
fn curl(code: u32) -> Option<FailureKind> {
    use FailureKind as K;
    Some(match code {
        1..=3 | 43 | 48 | 49 => K::InvalidArguments,
        5 | 6 | 7 | 8 | 18 | 35 | 51..=56 | 58 | 59 | 60 | 77 | 80 | 83 | 90 | 91 | 92 | 95 => {
            K::Network
        }
        9 => K::Permission,
        26 | 37 | 78 => K::NotFound,
        28 => K::Timeout,
        47 => K::Execution,
        67 => K::Authentication,
        27 | 70 => K::System,
        _ => return None,
    })
}

static STATUS: Pattern = Pattern::new(
    &["40", "41", "42", "43", "44", "45", "49", "50", "51", "52"],
    r#"(?i)(?:\bHTTP/\d(?:\.\d)? (\d{3})\b|\bstatus(?: code)?(?: of)?['"]?[:= ]+\(?(\d{3})\b|\b(\d{3}) (?:Client|Server) Error\b|\bError code:? (\d{3})\b|\bHTTP (?:Error:? )?(\d{3})\b|\bHttpError (\d{3})\b|returned error: (\d{3})\b|error '(\d{3}) |error \((\d{3}) |server response: (\d{3})\b|<title>(\d{3}) |<title>[^<]*\| (\d{3}):|^(\d{3}),? (?:message=|\{|(?-i:[A-Z])[a-z]+ )|^\((\d{3})\)\s|^(\d{3}): |failed with (\d{3})\b|returned (\d{3})(?::| )|responded with (?:a )?(?:status )?(\d{3})\b|: (\d{3}) \{"|(?:Exception|Error)\((\d{3}), |^[\w.]+(?:Exception|Error): (\d{3})[: ]|\b(\d{3}) https?://|\bCode: (\d{3})\.|too many (\d{3}) error|response code: (\d{3})|HTTP code (\d{3})|Invalid response: (\d{3})|Unexpected Response: (\d{3})\b|status code from registry (\d{3})|indicate success: (\d{3})\b|\bresponse(?: status)?:? (\d{3})\b|\b(400):? Bad Request\b|\b(401):? Unauthorized\b|\b(402):? Payment Required\b|\b(403):? Forbidden\b|\b(404):? Not Found\b|\b(405):? Method Not Allowed\b|\b(412):? Precondition Failed\b|\b(413):? Payload Too Large\b|\b(422):? Unprocessable\b|\b(429):? Too Many Requests\b|\b(500):? Internal Server Error\b|\b(501):? Not Implemented\b|\b(502):? Bad Gateway\b|\b(503):? Service Unavailable\b|\b(504):? Gateway Time-?out\b)"#,
);

/// The HTTP status that a text tells as such: never a bare number.
pub(super) fn status_in(text: &Marked) -> Option<u16> {
    if !STATUS.may_match(text) || !may_tell(text.text.as_bytes()) {
        return None;
    }
    let status: u16 = STATUS.last(text)?.parse().ok()?;
    // FTP and mail servers have numbers of their own beyond these.
    (matches!(status, 400..=431 | 444 | 451 | 499..=505 | 507..=511 | 520..=529)).then_some(status)
}

/// Whether three digits stand by themselves that may be a status of a failure.
fn may_tell(text: &[u8]) -> bool {
    let mut at = 0;
    while let Some(behind) = text[at..].iter().position(u8::is_ascii_digit) {
        let start = at + behind;
        let length = text[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if length == 3 && matches!(text[start], b'4' | b'5') {
            return true;
        }
        at = start + length;
    }
    false
}
