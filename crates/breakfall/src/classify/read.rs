//! Evidence in order of trust, and what it comes to.

use std::borrow::Cow;
use std::ops::Range;
use std::time::Duration;

use super::body::Body;
use super::names::{self, Told};
use super::pattern::{Marked, Pattern};
use super::phrases::{BUILT_IN, PhraseRule, Phrases};
use super::quotes::Quotes;
use super::segment::{Segment, bounded};
use super::{codes, resource, wait, words};
use crate::{Error, FailureKind, MayPass};

/// What is known of an error that nobody declared.
#[derive(Clone, Copy, Debug, Default)]
pub struct Evidence<'a> {
    /// Its text.
    pub text: &'a str,
    /// The name of its type, where the caller knows it.
    pub type_name: Option<&'a str>,
    /// The HTTP status it came with.
    pub http_status: Option<u16>,
    /// The exit code of the program that wrote it.
    pub exit_code: Option<i64>,
    /// The JSON-RPC code it came with.
    pub json_rpc_code: Option<i64>,
}

/// What an error comes to.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// Which way it is a failure.
    pub kind: FailureKind,
    /// Which rule decided.
    pub rule: String,
    /// On what words.
    pub words: Option<String>,
    /// What is missing, denied or in the way.
    pub resource: Option<String>,
    /// The HTTP status.
    pub status: Option<u16>,
    /// How long it asks to wait.
    pub wait: Option<Duration>,
    /// Could the same call succeed later?
    pub may_pass: MayPass,
}

/// Reads errors. The user's own phrases come before the built-in ones.
#[derive(Default)]
pub struct Reader {
    own: Option<Phrases>,
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader").finish_non_exhaustive()
    }
}

/// A kind with what decided on it.
struct Verdict {
    kind: FailureKind,
    rule: Cow<'static, str>,
    words: Option<String>,
    /// Where the words stand in the decisive text.
    place: Option<Range<usize>>,
}

impl Verdict {
    fn new(
        kind: FailureKind,
        rule: impl Into<Cow<'static, str>>,
        words: impl Into<String>,
    ) -> Self {
        Self { kind, rule: rule.into(), words: Some(words.into()), place: None }
    }
}

impl Verdict {
    fn copy(&self) -> Self {
        Self {
            kind: self.kind,
            rule: self.rule.clone(),
            words: self.words.clone(),
            place: self.place.clone(),
        }
    }
}

impl Reader {
    /// A reader with rules of the user's own.
    pub fn with_rules(rules: &[PhraseRule]) -> Result<Self, Error> {
        let own = if rules.is_empty() { None } else { Some(Phrases::of_user(rules)?) };
        Ok(Self { own })
    }

    /// Reads an error.
    pub fn read(&self, evidence: &Evidence) -> Reading {
        let text = bounded(evidence.text);
        let segment = Segment::of(&text);
        let marked = Marked::new(segment.text);
        let body = Body::of(&marked);
        let said =
            body.as_ref().map(|body| body.messages.join("\n")).filter(|said| !said.is_empty());
        let said = said.as_deref().unwrap_or(segment.text);
        let quotes = Quotes::of(said);
        let status = evidence
            .http_status
            .filter(|status| *status >= 100)
            .or_else(|| status_in(&marked).or_else(|| body.as_ref().and_then(|body| body.status)));
        let verdict =
            self.decide(evidence, &segment, &marked, body.as_ref(), said, &quotes, status);
        let place =
            verdict.place.clone().filter(|_| resource::is_about(verdict.kind)).or_else(|| {
                resource::is_about(verdict.kind).then_some(())?;
                let of_kind = |quotes: &Quotes| BUILT_IN.find_of(Some(verdict.kind), said, quotes);
                of_kind(&quotes).or_else(|| of_kind(&Quotes::default())).map(|hit| hit.words)
            });
        let resource = resource::find(verdict.kind, said, place.as_ref(), &quotes)
            .or_else(|| {
                body.as_ref()
                    .and_then(|body| body.resource.clone())
                    .filter(|_| about_something(verdict.kind))
            })
            .or_else(|| bare_name(segment.text, verdict.kind))
            .or_else(|| resource::only_quotation(verdict.kind, said, &quotes));
        Reading {
            may_pass: may_pass(&verdict, &text),
            kind: verdict.kind,
            rule: verdict.rule.into_owned(),
            words: verdict.words,
            resource,
            status,
            wait: wait::wait(&Marked::new(&text)),
        }
    }

    fn decide(
        &self,
        evidence: &Evidence,
        segment: &Segment,
        marked: &Marked,
        body: Option<&Body>,
        said: &str,
        quotes: &Quotes,
        status: Option<u16>,
    ) -> Verdict {
        if let Some(own) = self.own.as_ref().and_then(|own| own.find(said, quotes)) {
            return Verdict {
                kind: own.kind,
                rule: Cow::Owned(own.rule.to_owned()),
                words: said.get(own.words.clone()).map(ToOwned::to_owned),
                place: Some(own.words),
            };
        }
        if let Some(verdict) = report(evidence, marked).or_else(|| fixed_code(evidence, body)) {
            return verdict;
        }
        let coded = body.and_then(|body| by_code(&body.codes));
        let (vague, coded) = match coded {
            Some(coded) if is_vague(coded.words.as_deref().unwrap_or_default()) => {
                (Some(coded), None)
            }
            coded => (None, coded),
        };
        if let Some(status) = status.filter(|status| *status >= 400) {
            let told = coded
                .filter(|coded| codes::code_overrides(status, coded.kind))
                .or_else(|| self.phrase(said, quotes).filter(|phrase| believed(status, phrase)))
                .or_else(|| vague.filter(|vague| codes::overrides(status, vague.kind)));
            return told.unwrap_or_else(|| {
                Verdict::new(
                    codes::http_status(status),
                    format!("http.{status}"),
                    status.to_string(),
                )
            });
        }
        let phrase = self.phrase(said, quotes);
        let named = evidence
            .type_name
            .into_iter()
            .chain(segment.names.iter().copied())
            .filter_map(|name| names::tell(name).map(|told| (name, told)));
        let sure = named.clone().find_map(|(name, told)| match told {
            Told::Surely(kind) => Some(Verdict::new(kind, "type", name)),
            Told::Otherwise(_) => None,
        });
        let otherwise = || {
            named.clone().find_map(|(name, told)| match told {
                Told::Otherwise(kind) => Some(Verdict::new(kind, "type", name)),
                Told::Surely(_) => None,
            })
        };
        let hint = phrase.as_ref().map(Verdict::copy);
        let verdict = coded
            .or_else(|| phrase.as_ref().filter(|_| vague.is_some()).map(Verdict::copy))
            .or(vague)
            .or_else(|| in_text(marked))
            .or_else(|| stronger(phrase.as_ref(), sure.as_ref()))
            .or(sure)
            .or_else(|| weaker(phrase, otherwise()))
            .or_else(|| {
                let code = evidence.json_rpc_code.or(body.and_then(|body| body.json_rpc))?;
                codes::json_rpc(code).map(|kind| Verdict::new(kind, "json-rpc", code.to_string()))
            })
            .or_else(|| anywhere(segment.text))
            .or_else(|| {
                let code = evidence.exit_code?;
                codes::exit(code).map(|kind| Verdict::new(kind, "exit-code", code.to_string()))
            })
            .or_else(|| {
                let (kind, words) = words::kind(said, evidence.type_name)?;
                Some(Verdict::new(kind, "text.words", words))
            })
            .unwrap_or_else(|| Verdict {
                words: None,
                ..Verdict::new(FailureKind::Execution, "default", "")
            });
        refined(verdict, hint)
    }

    fn phrase(&self, said: &str, quotes: &Quotes) -> Option<Verdict> {
        let hit =
            BUILT_IN.find(said, quotes).or_else(|| BUILT_IN.find(said, &Quotes::default()))?;
        Some(Verdict {
            kind: hit.kind,
            rule: Cow::Owned(format!("text.{}", hit.rule)),
            words: said.get(hit.words.clone()).map(ToOwned::to_owned),
            place: Some(hit.words),
        })
    }
}

/// Names that stand for two things, told apart by the words.
fn refined(verdict: Verdict, hint: Option<Verdict>) -> Verdict {
    let Some(hint) = hint else { return verdict };
    match (verdict.kind, &*hint.rule) {
        (FailureKind::Permission, "text.login" | "text.password")
        | (FailureKind::Authentication, "text.certificate") => hint,
        _ => verdict,
    }
}

/// Words that are believed against the name of a type.
fn stronger(phrase: Option<&Verdict>, sure: Option<&Verdict>) -> Option<Verdict> {
    use FailureKind as K;
    let (phrase, sure) = (phrase?, sure?);
    let believed = match sure.kind {
        // `QueryCanceled` for a statement that took too long, `PermissionError` for a key.
        K::Cancelled => matches!(phrase.kind, K::Timeout),
        K::RateLimited => matches!(phrase.kind, K::QuotaExceeded),
        K::Permission => {
            matches!(phrase.kind, K::RateLimited | K::QuotaExceeded)
                || matches!(&*phrase.rule, "text.password" | "text.not-loaded")
        }
        K::Network => {
            matches!(phrase.kind, K::Timeout)
                && phrase.rule == "text.timed-out"
                && sure
                    .words
                    .as_deref()
                    .is_some_and(|w| w.contains("Connection") || w == "ECONNABORTED")
        }
        K::InvalidArguments => matches!(phrase.kind, K::QuotaExceeded | K::System),
        K::Upstream => matches!(phrase.kind, K::RateLimited | K::QuotaExceeded),
        _ => false,
    };
    believed.then(|| phrase.copy())
}

/// A phrase, unless it is one of the vaguest and a name tells as much.
fn weaker(phrase: Option<Verdict>, otherwise: Option<Verdict>) -> Option<Verdict> {
    match (phrase, otherwise) {
        (Some(phrase), Some(otherwise))
            if matches!(&*phrase.rule, "text.value" | "text.bug" | "text.exit")
                && otherwise.kind == FailureKind::Internal =>
        {
            let argument = phrase.words.as_deref().is_some_and(|w| w.contains("argument must be"));
            Some(if argument { phrase } else { otherwise })
        }
        (phrase, otherwise) => phrase.or(otherwise),
    }
}

/// Which phrases are believed against a status.
fn believed(status: u16, phrase: &Verdict) -> bool {
    let vague = matches!(
        &*phrase.rule,
        "text.value" | "text.bug" | "text.exit" | "text.syntax" | "text.server-error"
    );
    !vague && codes::overrides(status, phrase.kind)
}

fn about_something(kind: FailureKind) -> bool {
    use FailureKind as K;
    matches!(kind, K::NotFound | K::Permission | K::Conflict | K::Unavailable)
}

/// Java's exceptions say nothing but the path or the name.
fn bare_name(text: &str, kind: FailureKind) -> Option<String> {
    let line = text.trim().lines().next()?;
    let named = line.rsplit_once(": ").filter(|(name, _)| {
        let name = name.rsplit([' ', ':']).next().unwrap_or(name);
        names::is_type_name(name) || names::is_telling(name)
    });
    let name = match named {
        Some((_, name)) => name,
        None if line.starts_with('/') => line,
        None => return None,
    };
    (about_something(kind) && (2..256).contains(&name.len()) && !name.contains(char::is_whitespace))
        .then(|| name.to_owned())
}

static TEST_REPORTS: Pattern = Pattern::new(
    &["FAIL", "ail", "not ok", "ERRORS"],
    r"(?m)(^\s*FAIL\s+\S+\.\w+|Failed Tests \d|^=+ (?:FAILURES|ERRORS|short test summary info) =+|^FAILED \S+::|^--- FAIL: |^FAIL\s+\S+|^Tests?:\s+\d+ failed|^\s*\d+ failed(?:,| in )|^not ok \d+|^test result: FAILED|^FAILURES!|^Failures?: \d+|^\d+ examples?, [1-9]\d* failures?|Tests run: \d+, Failures: [1-9]|^FAILED \(|^Failed example:|^#\s+Failed test|^Result: FAIL|\b[1-9]\d* (?:tests?|scenarios?|examples?|items?|specs?|steps?|checks?|suites?),? (?:had )?fail(?:ed|ures?|ing)\b|\b[1-9]\d* failed, \d+ passed|passed, [1-9]\d* failed)",
);
static COMPILER: Pattern = Pattern::new(
    &[
        "rror",
        "arning",
        ":1:",
        ":2:",
        ":3:",
        ":4:",
        ":5:",
        ":6:",
        ":7:",
        ":8:",
        ":9:",
        ":0:",
        "-->",
        "undefined",
        "did NOT",
        "*** [",
        "characters",
        "problem",
    ],
    r"(?m)(\berror TS\d{4}\b|\bTS\d{4} \[ERROR\]|^\S+\.\w{1,5}:\d+:\d+:|^\S+\.\w{1,5}:\d+(?::\d+)? (?:error|warning) |^\S+\.\w{1,5}\(\d+, ?\d+\):? Error:|^File \x22[^\x22]+\x22, line \d+, characters|^error\[E\d{4}\]|^\S+\.(?:c|cc|cpp|h|hpp|go|rs|java|ts|tsx|kt|swift|scala|cs|py):\d+(?::\d+)?: (?:error|undefined|cannot)|^\S+\.(?:ts|tsx|cs|vb)\(\d+,\d+\): error|collect2: error|ld returned \d|undefined reference to|^\s*--> \S+\.\w+:\d+:\d+|\d+ problems? \(\d+ errors?|^Found \d+ errors?\b|did NOT match|^make: \*\*\* \[)",
);

/// Reports of tests and compilers quote every kind of error and are none of them.
fn report(evidence: &Evidence, marked: &Marked) -> Option<Verdict> {
    let text = marked.text;
    if evidence.http_status.is_some()
        || evidence.json_rpc_code.is_some()
        || text.contains("No such file or directory") && !text.contains("FAILED")
    {
        return None;
    }
    if text.contains("unrecognized command-line option")
        || text.contains("Unknown compiler option")
        || text.contains("KeyboardInterrupt")
    {
        return None;
    }
    let words = TEST_REPORTS.text(marked).or_else(|| COMPILER.text(marked))?;
    Some(Verdict::new(FailureKind::Execution, "report", words))
}

/// Codes that leave no doubt.
fn fixed_code(evidence: &Evidence, body: Option<&Body>) -> Option<Verdict> {
    let code = evidence.json_rpc_code.or(body.and_then(|body| body.json_rpc))?;
    let kind = match code {
        -32800 | -32601 | -32002 => codes::json_rpc(code)?,
        _ => return None,
    };
    Some(Verdict::new(kind, "json-rpc", code.to_string()))
}

/// `invalid_request_error` is what services say of every fault of the caller's.
fn is_vague(code: &str) -> bool {
    let code = code.to_ascii_lowercase();
    code.contains("invalid_request")
        || code.contains("invalidrequest")
        || code == "error"
        || code.contains("validation")
}

/// The first code that tells surely; a code that tells only otherwise, last.
fn by_code(all: &[String]) -> Option<Verdict> {
    let told = |code: &String| {
        codes::grpc(code)
            .filter(|_| code.contains('_') || code.chars().all(char::is_uppercase))
            .map(Told::Surely)
            .or_else(|| names::tell(code))
    };
    let mut all_told = all.iter().filter_map(|code| match told(code) {
        Some(Told::Surely(kind)) => Some((code, kind)),
        _ => None,
    });
    let found = all_told.clone().find(|(code, _)| !is_vague(code)).or_else(|| all_told.next())?;
    Some(Verdict::new(found.1, "code", found.0.clone()))
}

static AWS: Pattern =
    Pattern::new(&["An error occurred ("], r"An error occurred \(([A-Za-z0-9.]+)\)");
static NAMED_CODE: Pattern = Pattern::new(
    &["ode"],
    r#"(?:ErrorCode|errorCode|error_code|codeName|npm error code|\bcode)['"]?\s*[:= ]\s*['"]?([A-Z][A-Za-z0-9_]{3,})\b"#,
);
static GRPC: Pattern = Pattern::new(
    &["StatusCode.", "code = ", "grpc-status"],
    r"(?:StatusCode\.|code = |grpc-status: )([A-Za-z_]+)",
);
static ERRNO: Pattern = Pattern::new(
    &["rrno", "os error", "connecting"],
    r"(?:\[Errno (\d+)\]|\(?os error (\d+)\)?|\berrno[=: ]+-?(\d+)\b|\bError (\d{1,3}) connecting)",
);
static WINDOWS: Pattern = Pattern::new(&["WinError"], r"\[WinError (\d+)\]");
static ERRNO_NAME: Pattern = Pattern::new(
    &[
        "EN", "EA", "EC", "EP", "EE", "EI", "ER", "EB", "EH", "ET", "EM", "EX", "ES", "EO", "EU",
        "ED", "EF", "EJ", "EL", "EW", "UND",
    ],
    r"\b((?:E[A-Z]{3,14}|ERR_[A-Z_]+|UND_ERR_[A-Z_]+|EAI_[A-Z]+))\b",
);
static SQLSTATE: Pattern = Pattern::new(
    &["ERROR", "FATAL", "SQL", "Sql", ":  ", ": 0", ": 2", ": 3", ": 4", ": 5"],
    r"(?:ERROR:\s+|FATAL:\s+|SQLSTATE[\[: (]+|ERROR \d{4} \(|SQL state: |SqlState[:= ]+|(?m:^)[^\s:]{3,24}:\s{1,2})([0-9][0-9A-Z]{4}|XX[0-9]{3})(?:[:)\] ]|$)",
);
static MYSQL: Pattern =
    Pattern::new(&["ERROR ", "(1", "(2", "(3"], r#"(?:\((\d{4}), ["']|ERROR (\d{4})\b)"#);
static EXIT: Pattern =
    Pattern::new(&["xit"], r"(?i)\bexit(?:ed)?(?: with)?(?: code| status)? (1[23]\d)\b");
static CURL: Pattern = Pattern::new(&["curl: ("], r"curl: \((\d+)\)");

/// Codes within a text.
fn in_text(marked: &Marked) -> Option<Verdict> {
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
            let kind = if code == "57014" && text.contains("user request") {
                FailureKind::Cancelled
            } else {
                kind
            };
            Some(Verdict::new(kind, "sqlstate", code))
        })
        .or_else(|| by_number(&ERRNO, "errno", codes::errno))
        .or_else(|| by_number(&WINDOWS, "errno", codes::windows))
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

/// The first word of a short text that is a name or a code and tells its kind.
fn anywhere(text: &str) -> Option<Verdict> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.')));
    words.take(80).find_map(|word| {
        let camel = word.len() > 8
            && word.bytes().skip(1).any(|b| b.is_ascii_uppercase())
            && word.bytes().any(|b| b.is_ascii_lowercase());
        let code = camel || word.contains('_') && word.len() > 6;
        match names::tell(word).filter(|_| code || names::is_type_name(word))? {
            Told::Surely(kind) | Told::Otherwise(kind) => Some(Verdict::new(kind, "name", word)),
        }
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
    r#"(?i)(?:\bHTTP/\d(?:\.\d)? (\d{3})\b|\bstatus(?: code)?(?: of)?['"]?[:= ]+\(?(\d{3})\b|\b(\d{3}) (?:Client|Server) Error\b|\bError code:? (\d{3})\b|\bHTTP (?:Error )?(\d{3})\b|\bHttpError (\d{3})\b|returned error: (\d{3})\b|error '(\d{3}) |error \((\d{3}) |server response: (\d{3})\b|<title>(\d{3}) |<title>[^<]*\| (\d{3}):|^(\d{3}),? (?:message=|\{|[A-Z][a-z]+ )|^\((\d{3})\)\s|^(\d{3}): |failed with (\d{3})\b|returned (\d{3})(?::| )|responded with (?:a )?(?:status )?(\d{3})\b|: (\d{3}) \{"|(?:Exception|Error)\((\d{3}), |\bCode: (\d{3})\.|too many (\d{3}) error|status code from registry (\d{3}))"#,
);

/// The HTTP status that a text tells as such: never a bare number.
fn status_in(text: &Marked) -> Option<u16> {
    let status: u16 = STATUS.last(text)?.parse().ok()?;
    // FTP and mail servers have numbers of their own beyond these.
    (matches!(status, 400..=431 | 444 | 451 | 499..=511 | 520..=529)).then_some(status)
}

/// Could the same call succeed if it were simply repeated?
fn may_pass(verdict: &Verdict, text: &str) -> MayPass {
    use FailureKind as K;
    let says = |words: &[&str]| {
        let lower = text.to_ascii_lowercase();
        words.iter().any(|word| lower.contains(word))
    };
    match verdict.kind {
        K::Conflict
            if says(&[
                "lock",
                "busy",
                "deadlock",
                "in use",
                "in-progress",
                "serialize",
                "another process",
            ]) =>
        {
            MayPass::Yes
        }
        K::Network
            if says(&[
                "certificate",
                "ssl",
                "not known",
                "enotfound",
                "resolve",
                "no such host",
                "dns",
                "translate host",
            ]) =>
        {
            MayPass::No
        }
        kind => kind.may_pass(),
    }
}
