//! Evidence in order of trust, and what it comes to.

use std::borrow::Cow;
use std::ops::Range;
use std::time::Duration;

use super::body::Body;
use super::names::{self, Told};
use super::pattern::Marked;
use super::phrases::{BUILT_IN, PhraseRule, Phrases, Spoken};
use super::quotes::Quotes;
use super::reports::report;
use super::segment::{Segment, bounded};
use super::signals::{in_text, status_in};
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

/// An error taken apart.
#[derive(Clone, Copy)]
struct Material<'a> {
    evidence: &'a Evidence<'a>,
    segment: &'a Segment<'a>,
    marked: Marked<'a>,
    body: Option<&'a Body>,
    /// What the body says, or the decisive part of the text.
    said: &'a str,
    quotes: &'a Quotes,
    spoken: &'a Spoken,
    status: Option<u16>,
}

impl<'a> Material<'a> {
    /// What the text says, by the table of phrases.
    fn phrase(&self) -> Option<Verdict> {
        let first = |quotes: &Quotes| BUILT_IN.first(self.said, self.spoken, quotes);
        let hit = first(self.quotes).or_else(|| first(&Quotes::default()))?;
        Some(Verdict {
            kind: hit.kind,
            rule: Cow::Owned(format!("text.{}", hit.rule)),
            words: self.said.get(hit.words.clone()).map(ToOwned::to_owned),
            place: Some(hit.words),
        })
    }

    /// What is needed to find the resource.
    fn about(&self, verdict: &Verdict, text: &'a str) -> Option<resource::About<'a>> {
        let mut about = resource::About::new(verdict.kind, self.said, self.quotes, self.spoken)?;
        about.decided_by(verdict.place.clone());
        about.body = self.body;
        about.marked = (self.said.len() == self.marked.text.len()).then_some(self.marked);
        about.status = self.status;
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

/// A kind with what decided on it.
pub(super) struct Verdict {
    pub(super) kind: FailureKind,
    rule: Cow<'static, str>,
    words: Option<String>,
    /// Where the words stand in the decisive text.
    place: Option<Range<usize>>,
}

impl Verdict {
    pub(super) fn new(
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
        Self::taken_apart(evidence, |material, text| self.reading(material, text))
    }

    /// What the weights of a resource's signs are learned from: its candidates, each with its
    /// signs, and first what speaks for none.
    #[doc(hidden)]
    pub fn signs(&self, evidence: &Evidence) -> Vec<(String, Vec<String>)> {
        Self::taken_apart(evidence, |material, text| {
            let verdict = self.decide(material);
            material.about(&verdict, text).map(|about| about.signs()).unwrap_or_default()
        })
    }

    fn taken_apart<T>(evidence: &Evidence, then: impl FnOnce(&Material, &str) -> T) -> T {
        let text = bounded(evidence.text);
        let whole = Marked::new(&text);
        let segment = Segment::of(&whole);
        let marked = whole.part(segment.text);
        let body = Body::of(&marked);
        let said =
            body.as_ref().map(|body| body.messages.join("\n")).filter(|said| !said.is_empty());
        let said = said.as_deref().unwrap_or(segment.text);
        let quotes = Quotes::of(said);
        let spoken = BUILT_IN.spoken(said);
        let status = evidence
            .http_status
            .filter(|status| *status >= 100)
            .or_else(|| status_in(&marked).or_else(|| body.as_ref().and_then(|body| body.status)));
        let material = Material {
            evidence,
            segment: &segment,
            marked,
            body: body.as_ref(),
            said,
            quotes: &quotes,
            spoken: &spoken,
            status,
        };
        then(&material, &text)
    }

    fn reading(&self, material: &Material, text: &str) -> Reading {
        let verdict = self.decide(material);
        let resource = material.about(&verdict, text).and_then(|about| about.resource());
        Reading {
            may_pass: may_pass(&verdict, text),
            kind: verdict.kind,
            rule: verdict.rule.into_owned(),
            words: verdict.words,
            resource,
            status: material.status,
            wait: wait::wait(&material.marked.part(text)),
        }
    }

    fn decide(&self, material: &Material) -> Verdict {
        let Material { evidence, segment, marked, body, said, quotes, status, .. } = *material;
        if let Some(own) = self.own.as_ref().and_then(|own| own.find(said, quotes)) {
            return Verdict {
                kind: own.kind,
                rule: Cow::Owned(own.rule.to_owned()),
                words: said.get(own.words.clone()).map(ToOwned::to_owned),
                place: Some(own.words),
            };
        }
        if let Some(verdict) = report(evidence, &marked).or_else(|| fixed_code(evidence, body)) {
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
                .or_else(|| material.phrase().filter(|phrase| believed(status, phrase)))
                .or_else(|| vague.filter(|vague| codes::overrides(status, vague.kind)));
            return told.unwrap_or_else(|| {
                Verdict::new(
                    codes::http_status(status),
                    format!("http.{status}"),
                    status.to_string(),
                )
            });
        }
        let phrase = material.phrase();
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
            .or_else(|| in_text(&marked))
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
        // Java has one exception for every file that it cannot open, and says why in brackets.
        K::NotFound => {
            phrase.kind == K::Permission && matches!(&*phrase.rule, "text.denied" | "text.errno")
        }
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
    // Who may not do a thing is often called unauthorized; who did not log in gets another status.
    let unauthorized = status == 403
        && phrase.words.as_deref().is_some_and(|words| words.eq_ignore_ascii_case("unauthorized"));
    !vague && !unauthorized && codes::overrides(status, phrase.kind)
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
            // `Throttling.User`
            .or_else(|| names::tell(code.split_once('.')?.0))
    };
    let mut all_told = all.iter().filter_map(|code| match told(code) {
        Some(Told::Surely(kind)) => Some((code, kind)),
        _ => None,
    });
    let found = all_told.clone().find(|(code, _)| !is_vague(code)).or_else(|| all_told.next())?;
    Some(Verdict::new(found.1, "code", found.0.clone()))
}

/// The first word of a short text that is a name or a code and tells its kind.
fn anywhere(text: &str) -> Option<Verdict> {
    // The first line may say no more than that.
    let line = text.lines().next().unwrap_or_default().trim_end_matches(['.', ' ', '!']);
    if line.len() < 120 && (line.ends_with(" timeout") || line.ends_with(" Timeout")) {
        return Some(Verdict::new(FailureKind::Timeout, "name", "timeout"));
    }
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
