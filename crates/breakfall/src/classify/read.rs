//! An error becomes a reading: taken apart, its kind decided, its resource and its wait found.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::body::Body;
use super::decide::{USAGE, Verdict, decide};
use super::material::Material;
use super::passing::may_pass;
use super::pattern::Marked;
use super::phrases::{BUILT_IN, PhraseRule, Phrases};
use super::pieces::Pieces;
use super::quotes::Quotes;
use super::segment::{Segment, both_ends, bounded};
use super::signals::status_in;
use super::spelling::Words;
use super::{memory, resource, wait, wrapper};
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
    /// Tells readers with rules of their own apart; 0 for those without.
    number: u64,
}

/// How many readers have rules of their own.
static NUMBERED: AtomicU64 = AtomicU64::new(0);

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader").finish_non_exhaustive()
    }
}

impl Reader {
    /// A reader with rules of the user's own.
    pub fn with_rules(rules: &[PhraseRule]) -> Result<Self, Error> {
        if rules.is_empty() {
            return Ok(Self::default());
        }
        let number = NUMBERED.fetch_add(1, Ordering::Relaxed) + 1;
        Ok(Self { own: Some(Phrases::of_user(rules)?), number })
    }

    /// Reads an error.
    pub fn read(&self, evidence: &Evidence) -> Reading {
        Self::taken_apart(evidence, |material, text| self.reading(material, text))
    }

    /// What an error comes to, which is not read again where it was read last.
    pub(super) fn recall<T>(&self, evidence: &Evidence, tell: impl Fn(&Reading) -> T) -> T {
        memory::recall(self.number, evidence, || self.read(evidence), tell)
    }

    /// What the weights of a resource's signs are learned from: its candidates, each with its
    /// signs, and first what speaks for none.
    #[doc(hidden)]
    pub fn signs(&self, evidence: &Evidence) -> Vec<(String, Vec<String>)> {
        Self::taken_apart(evidence, |material, text| {
            let verdict = decide(material, self.own.as_ref());
            material.about(&verdict, text).map(|about| about.signs()).unwrap_or_default()
        })
    }

    /// The words that are asked where no rule knows a phrase: what their weights are learned from.
    #[doc(hidden)]
    pub fn words(evidence: &Evidence) -> Vec<String> {
        Self::taken_apart(evidence, |material, _| {
            Words::of(material.pieces, material.quotes, evidence.type_name).spelled()
        })
    }

    fn taken_apart<T>(evidence: &Evidence, then: impl FnOnce(&Material, &str) -> T) -> T {
        let text = bounded(wrapper::inside(evidence.text, None));
        let read = both_ends(&text);
        let whole = Marked::new(&read);
        let is_whole = read.len() == text.len();
        let looked = if is_whole { whole } else { Marked::unread(&text) };
        let segment = Segment::of(&looked);
        let body = Body::of(&looked.part(segment.text));
        // A body is read whole: half of one is none.
        let decisive = match &body {
            Some(_) => Cow::Borrowed(segment.text),
            None => both_ends(segment.text),
        };
        let marked = if is_whole || decisive == read {
            whole.part(&decisive)
        } else {
            Marked::new(&decisive)
        };
        let said =
            body.as_ref().map(|body| body.messages.join("\n")).filter(|said| !said.is_empty());
        let said = said.as_deref().unwrap_or(&decisive);
        let quotes = Quotes::of(said);
        let pieces = Pieces::of(said);
        let spoken = BUILT_IN.spoken_in(&pieces);
        let status = evidence
            .http_status
            .filter(|status| *status >= 100)
            .or_else(|| status_in(&marked).or_else(|| body.as_ref().and_then(|body| body.status)));
        let material = Material {
            evidence,
            whole,
            segment: &segment,
            marked,
            body: body.as_ref(),
            said,
            pieces: &pieces,
            quotes: &quotes,
            spoken: &spoken,
            status,
        };
        then(&material, &text)
    }

    fn reading(&self, material: &Material, text: &str) -> Reading {
        let verdict = decide(material, self.own.as_ref());
        let resource = material.about(&verdict, text).and_then(|about| about.resource());
        Reading {
            may_pass: may_pass(&verdict, text),
            kind: verdict.kind,
            rule: verdict.rule.into_owned(),
            words: verdict.words,
            resource,
            status: material.status,
            wait: wait::wait(&material.whole),
        }
    }
}

/// Rules that decide by a code which names nothing, in whatever form it stands.
const CODES: &[&str] =
    &["code", "sqlstate", "mysql", "oracle", "sql-server", "apple-script", "errno"];

impl<'a> Material<'a> {
    /// The code that decided, where it stands in what is said.
    fn code(&self, verdict: &Verdict) -> Option<&'a str> {
        let words = verdict.words.as_deref()?;
        if !CODES.contains(&&*verdict.rule) || words.len() < 3 {
            return None;
        }
        let at = self.said.find(words)?;
        self.said.get(at..at + words.len())
    }

    /// What is needed to find the resource.
    fn about(&self, verdict: &Verdict, text: &'a str) -> Option<resource::About<'a>> {
        let place = verdict.place.as_ref();
        if verdict.rule == USAGE
            || place.is_some_and(|it| resource::is_of_nothing(self.said, it.start))
        {
            return None;
        }
        let mut about = resource::About::new(verdict.kind, self.said, self.quotes, self.spoken)?;
        about.decided_by(verdict.place.clone());
        about.body = self.body;
        about.pieces = Some(self.pieces);
        about.marked = (self.said.len() == self.marked.text.len()).then_some(self.marked);
        about.status = self.status;
        about.code = self.code(verdict);
        let decisive = self.segment.text;
        if let Some(before) = self.body.and_then(|body| decisive.get(..body.start)) {
            about = about.with_around(before);
        }
        if decisive.len() < text.len() {
            // The cause stands behind its wrapper.
            let before = text.rfind(decisive).and_then(|at| text.get(..at));
            about = about.with_around(before.unwrap_or(text));
        }
        Some(about)
    }
}

#[cfg(test)]
mod tests {
    use super::{Evidence, PhraseRule, Reader};
    use crate::FailureKind as K;

    #[test]
    fn kinds_are_told_apart() {
        for (text, kind) in [
            // What is there already, however it is said.
            ("directory 'out' exists", K::Conflict),
            ("No stop with id 'de:1:2' exists", K::NotFound),
            // A status with its own words is one wherever it stands.
            (
                "server response 401 Unauthorized (request={  }, code=SERVER_ERROR)",
                K::Authentication,
            ),
            // A page where data were expected.
            ("Unexpected token '<', \"<!DOCTYPE \"... is not valid JSON", K::InvalidOutput),
            ("Failed to parse JSON: <html><title>Login</title></html>", K::InvalidOutput),
            // A mistake of the program's, not of the caller's.
            ("MCP error -32603: list index out of range", K::Internal),
            // Numbers of vendors, where the words tell another kind or none.
            ("ORA-12541: TNS:no listener", K::Network),
            (
                "ORA-02291: integrity constraint (A.B) violated - parent key not found",
                K::InvalidArguments,
            ),
            ("Msg 208, Level 16, State 1, Line 1\nInvalid object name 'dbo.Orders'.", K::NotFound),
            ("Exception from HRESULT: 0x80070002", K::NotFound),
            ("The RPC server did it. (Exception from HRESULT: 0x800706BA)", K::Unavailable),
            ("System error 1326 has occurred.", K::Authentication),
            (
                "Error Domain=NSURLErrorDomain Code=-1003 \"A server could not be found.\"",
                K::Network,
            ),
            ("Error Domain=NSCocoaErrorDomain Code=513 \"(null)\"", K::Permission),
            ("552 5.2.2 The account that you tried to reach is full", K::QuotaExceeded),
            ("(550, b'5.1.1 <a@b.c>: Recipient address rejected')", K::NotFound),
            ("ldap_modify: Insufficient access (50)", K::Permission),
            ("Statement failed, SQLSTATE = 28000\nAsk your administrator.", K::Authentication),
            ("Container killed on request. Exit code is 137", K::System),
            // A parser's token is no credential; a quota for a minute comes back by itself.
            ("Invalid token: unexpected \"]\" at line 3", K::InvalidArguments),
            (
                "Quota exceeded for quota metric 'Read' and limit 'Reads per minute per user'",
                K::RateLimited,
            ),
            ("open db.bolt: resource temporarily unavailable", K::Conflict),
            ("bash: fork: retry: Resource temporarily unavailable", K::System),
            (
                "HttpRequestException: Response status code does not indicate success: 429",
                K::RateLimited,
            ),
            // What is said of an argument is no status, and nothing that took too long.
            ("Timeout must be between 1 and 600", K::InvalidArguments),
            ("Invalid timeout value: -5", K::InvalidArguments),
            ("Order 503 not found", K::NotFound),
            ("429 items selected", K::Execution),
            ("Waiting for approval", K::Execution),
            ("Query returned too many rows", K::InvalidArguments),
            ("Timeout: no reply", K::Timeout),
            ("upstream said 503 Service Unavailable", K::Upstream),
            // Who is known, and may not.
            (
                "Illuminate\\Auth\\Access\\AuthorizationException: This action is unauthorized.",
                K::Permission,
            ),
        ] {
            let reading = Reader::default().read(&Evidence { text, ..Evidence::default() });
            assert_eq!(reading.kind, kind, "{text}: {reading:?}");
        }
    }

    #[test]
    fn a_rule_of_the_user_holds_in_the_middle_of_a_long_text() {
        let rule = PhraseRule {
            id: "seats".to_owned(),
            kind: "conflict".to_owned(),
            phrases: vec!["row seven".to_owned()],
        };
        let reader = Reader::with_rules(&[rule]).unwrap();
        let log = "step 7 of 9 is done, as ever\n".repeat(100);
        let text = format!("{log}no place in row seven\n{log}");
        let reading = reader.read(&Evidence { text: &text, ..Evidence::default() });
        assert_eq!((reading.kind, &*reading.rule), (K::Conflict, "seats"));
        assert_eq!(reading.words.as_deref(), Some("row seven"));
    }

    #[test]
    fn a_long_text_is_read_where_it_says_what_failed() {
        let lines = |line: &str| format!("{line}\n").repeat(100);
        let (frames, log) =
            (lines("\tat a.b.C.d(E.java:12)"), lines("step 7 of 9 is done, as ever"));
        let fields = (0..100).map(|n| format!("\"field{n}\": \"value {n} of them\", "));
        let fields: String = fields.collect();
        for (text, kind) in [
            (format!("open data/in.csv: no such file or directory\n{log}"), K::NotFound),
            (format!("{log}open data/in.csv: permission denied"), K::Permission),
            // So does a line that calls itself an error.
            (format!("{log}ERROR: write failed: No space left on device\n{log}"), K::System),
            // A cause, an error behind frames and a body stand wherever they stand.
            (
                format!(
                    "x.RuntimeException: a\n{frames}Caused by: java.net.ConnectException: b\n{frames}"
                ),
                K::Network,
            ),
            (
                format!(
                    "Traceback (most recent call last):\n{}FileNotFoundError: in.csv\n",
                    lines("  File \"a.py\", line 7, in x")
                ),
                K::NotFound,
            ),
            (
                format!("{{{fields}\"code\": \"rate_limit_exceeded\", {fields}\"a\": 1}}"),
                K::RateLimited,
            ),
        ] {
            let reading = Reader::default().read(&Evidence { text: &text, ..Evidence::default() });
            assert_eq!(reading.kind, kind, "{reading:?}");
        }
    }
}
