//! Evidence in order of trust: which of it decides on the kind of an error.

use std::borrow::Cow;
use std::ops::Range;

use super::bare::bare;
use super::believe::{given_up, outspeaks, specific, stronger, weaker};
use super::material::Material;
use super::names::{self, Told};
use super::phrases::{Hit, Phrases};
use super::quotes::Quotes;
use super::reports::{beyond, report};
use super::signals::in_text;
use super::{codes, words};
use crate::{Disposition, FailureKind};

/// Rules of phrases that tell little by themselves, and how likely another kind must be before it
/// is believed against each; measured on errors that neither the rules nor the words had seen.
pub(super) const VAGUE: &[(&str, f32)] = &[
    ("text.value", 0.4),
    ("text.validation", 0.35),
    ("text.not-running", 0.35),
    ("text.no-such", 0.5),
    ("text.syntax", 0.6),
    ("text.bug", 0.8),
    ("text.exit", 0.8),
];

/// A kind with what decided on it.
#[derive(Clone)]
pub(super) struct Verdict {
    pub(super) kind: FailureKind,
    pub(super) rule: Cow<'static, str>,
    pub(super) words: Option<String>,
    /// Where the words stand in the decisive text.
    pub(super) place: Option<Range<usize>>,
}

impl Verdict {
    pub(super) fn new(
        kind: FailureKind,
        rule: impl Into<Cow<'static, str>>,
        words: impl Into<String>,
    ) -> Self {
        Self { kind, rule: rule.into(), words: Some(words.into()), place: None }
    }

    fn guessed(guess: words::Guess) -> Self {
        Self::new(guess.kind, "text.words", guess.loudest())
    }
}

/// What an error comes to. The user's own phrases come first.
pub(super) fn decide(material: &Material, own: Option<&Phrases>) -> Verdict {
    let Material { evidence, marked, body, status, .. } = *material;
    if let Some(verdict) = own.and_then(|own| of_user(own, material)) {
        return verdict;
    }
    // A report quotes every kind of error; what comes before it is true whatever is quoted.
    let of_a_program = evidence.http_status.is_none() && evidence.json_rpc_code.is_none();
    let certain = beyond(&marked)
        .or_else(|| of_a_program.then(|| report(&marked)).flatten())
        .or_else(|| fixed_code(material));
    if let Some(verdict) = certain {
        return verdict;
    }
    let told = body.and_then(|body| by_code(&body.codes));
    // Whose phrase says more is read by it.
    let told =
        told.filter(|told| !is_unauthorized(told) || !outspeaks(material.phrase().as_ref(), told));
    let coded = match told {
        Some(told) if is_vague(told.words.as_deref().unwrap_or_default()) => {
            Codes { vague: Some(told), clear: None }
        }
        clear => Codes { vague: None, clear },
    };
    let verdict = match status.filter(|status| *status >= 400) {
        Some(status) => by_status(material, status, coded),
        None => by_text(material, coded),
    };
    paced(verdict, material.said)
}

/// Of how much there may be in a time: what is used up comes back by itself.
const PACES: &[&str] =
    &["per minute", "per_minute", "per-minute", "perminute", "/ minute", "/minute", "per second"];

/// A quota for a minute is a limit on how often.
fn paced(verdict: Verdict, said: &str) -> Verdict {
    if verdict.kind != FailureKind::QuotaExceeded {
        return verdict;
    }
    let lower = said.to_ascii_lowercase();
    let is_paced = PACES.iter().any(|pace| lower.contains(pace));
    if is_paced { Verdict { kind: FailureKind::RateLimited, ..verdict } } else { verdict }
}

/// By the user's own phrases: these hold wherever they stand, also in what else is not read.
fn of_user(own: &Phrases, material: &Material) -> Option<Verdict> {
    let Material { segment, body, said, quotes, .. } = *material;
    let verdict = |hit: Hit, text: &str, place| Verdict {
        kind: hit.kind,
        rule: Cow::Owned(hit.rule.to_owned()),
        words: text.get(hit.words).map(ToOwned::to_owned),
        place,
    };
    if let Some(hit) = own.find(said, quotes) {
        let place = Some(hit.words.clone());
        return Some(verdict(hit, said, place));
    }
    let all = Some(segment.text).filter(|all| body.is_none() && all.len() > said.len())?;
    own.find(all, &Quotes::of(all)).map(|hit| verdict(hit, all, None))
}

/// What the codes of a body tell.
struct Codes {
    clear: Option<Verdict>,
    /// A code that services use for every fault of the caller's.
    vague: Option<Verdict>,
}

/// By the status, unless a code or the words are believed against it.
fn by_status(material: &Material, status: u16, coded: Codes) -> Verdict {
    coded
        .clear
        .filter(|clear| codes::code_overrides(status, clear.kind))
        .or_else(|| material.phrase().filter(|phrase| believed(status, phrase)))
        .or_else(|| material.of_a_daemon(status))
        .or_else(|| coded.vague.filter(|vague| codes::overrides(status, vague.kind)))
        .unwrap_or_else(|| {
            Verdict::new(codes::http_status(status), format!("http.{status}"), status.to_string())
        })
}

/// By codes, names and words, in order of trust.
fn by_text(material: &Material, coded: Codes) -> Verdict {
    let Material { evidence, segment, marked, said, pieces, quotes, .. } = *material;
    let phrase = material.phrase();
    let names = evidence.type_name.into_iter().chain(segment.names.iter().copied());
    let all_told: Vec<(&str, Told)> =
        names.filter_map(|name| names::tell(name).map(|told| (name, told))).collect();
    let mut surely = all_told.iter().filter_map(|(name, told)| match told {
        Told::Surely(kind) => Some(Verdict::new(*kind, "type", *name)),
        Told::Otherwise(_) => None,
    });
    // A bad request may say by another name what is bad about it.
    let first = surely.next();
    let vague = first.as_ref().is_some_and(|first| {
        first.words.as_deref().is_some_and(|name| name.contains("BadRequest"))
    });
    let sure = if vague { surely.next().or(first) } else { first };
    let otherwise = || {
        all_told.iter().find_map(|(name, told)| match told {
            Told::Otherwise(kind) => {
                given(name, segment.text).or_else(|| Some(Verdict::new(*kind, "type", *name)))
            }
            Told::Surely(_) => None,
        })
    };
    let hint = phrase.as_ref().filter(|phrase| REFINING.contains(&&*phrase.rule)).cloned();
    let verdict = coded
        .clear
        .map(|code| given_up(code, phrase.as_ref()))
        .or_else(|| phrase.as_ref().filter(|_| coded.vague.is_some()).cloned())
        .or(coded.vague)
        .or_else(|| {
            let code = in_text(&marked)?;
            Some(given_up(specific(code, phrase.as_ref()), phrase.as_ref()))
        })
        .or_else(|| page(said))
        .or_else(|| usage(segment.text))
        .or_else(|| stronger(phrase.as_ref(), sure.as_ref()))
        .or(sure)
        .or_else(|| weaker(phrase, otherwise))
        .or_else(|| {
            let code = material.json_rpc()?;
            codes::json_rpc(code).map(|kind| Verdict::new(kind, "json-rpc", code.to_string()))
        })
        .or_else(|| anywhere(segment.text, said))
        .or_else(|| {
            // Cargo ends as a panic does, whatever it found.
            let code = evidence.exit_code.filter(|code| *code != 101 || !is_of_cargo(said))?;
            codes::exit(code).map(|kind| Verdict::new(kind, "exit-code", code.to_string()))
        })
        .map(|verdict| outspoken(verdict, material))
        .or_else(|| bare(said))
        .or_else(|| words::guess(pieces, quotes, evidence.type_name).map(Verdict::guessed))
        .unwrap_or_else(|| Verdict {
            words: None,
            ..Verdict::new(FailureKind::Execution, "default", "")
        });
    refined(verdict, hint)
}

/// The vaguest phrases stand in errors of every kind: where the other words of the text speak
/// clearly for another one, they are believed.
fn outspoken(verdict: Verdict, material: &Material) -> Verdict {
    let Some((_, sure)) = VAGUE.iter().find(|(rule, _)| *rule == verdict.rule) else {
        return verdict;
    };
    match words::guess(material.pieces, material.quotes, material.evidence.type_name) {
        // What stops a run is believed later.
        Some(guess)
            if guess.kind != verdict.kind
                && guess.likely
                    > sure.max(if guess.kind.disposition() == Disposition::Fatal {
                        0.7
                    } else {
                        0.0
                    }) =>
        {
            // What is missing is often named by who gave it: `unknown order 7`.
            let either = verdict.kind == FailureKind::NotFound
                && guess.kind == FailureKind::InvalidArguments;
            if either { verdict } else { Verdict::guessed(guess) }
        }
        _ => verdict,
    }
}

fn is_of_cargo(said: &str) -> bool {
    said.starts_with("error: ") || said.starts_with("error[")
}

/// What a program says that was called in a wrong way, where it says nothing but how it is used.
fn usage(text: &str) -> Option<Verdict> {
    let words = text.trim_start().get(..6)?;
    let is_usage = words.eq_ignore_ascii_case("usage:") && !text.contains("rror: ");
    is_usage.then(|| Verdict::new(FailureKind::InvalidArguments, USAGE, words))
}

/// The rule for that: all that it names is what may be given.
pub(super) const USAGE: &str = "usage";

/// A web page that was met by who expected data: a login or an error page of somebody else's.
fn page(said: &str) -> Option<Verdict> {
    let at = said.find('<')?;
    let lower = said.get(at..)?.to_ascii_lowercase();
    let words = ["<!doctype", "<html"].into_iter().find(|words| lower.contains(words))?;
    let before = said[..at].to_ascii_lowercase();
    let expected = ["json", "pars", "decod", "token", "unexpected", "deserial"];
    let met = expected.iter().any(|word| before.contains(word));
    met.then(|| Verdict::new(FailureKind::InvalidOutput, "page", words))
}

/// The rules that tell names apart which stand for two things.
const REFINING: &[&str] = &["text.login", "text.password", "text.certificate"];

/// Names that stand for two things, told apart by the words.
fn refined(verdict: Verdict, hint: Option<Verdict>) -> Verdict {
    let Some(hint) = hint.filter(|hint| !is_unauthorized(hint)) else { return verdict };
    match (verdict.kind, &*hint.rule) {
        (FailureKind::Permission, "text.login" | "text.password")
        | (FailureKind::Authentication, "text.certificate") => hint,
        _ => verdict,
    }
}

/// Who may not do a thing is often called unauthorized, as is who did not log in.
pub(super) fn is_unauthorized(phrase: &Verdict) -> bool {
    phrase.words.as_deref().is_some_and(|words| words.eq_ignore_ascii_case("unauthorized"))
}

/// Which phrases are believed against a status.
fn believed(status: u16, phrase: &Verdict) -> bool {
    let vague = matches!(
        &*phrase.rule,
        "text.value" | "text.bug" | "text.exit" | "text.syntax" | "text.server-error"
    );
    // Who did not log in gets another status.
    let unauthorized = status == 403 && (is_unauthorized(phrase) || speaks_of_a_token(phrase));
    // A client that finds no host has made up the status.
    let nowhere = status == 500 && phrase.rule == "text.dns";
    // Who is known, and may not do this one thing.
    let known = status == 401
        && phrase.rule == "text.denied"
        && phrase.words.as_deref().is_some_and(|words| {
            let words = words.to_ascii_lowercase();
            words.ends_with(" authorized to") || words.contains("scope") || words.contains("isn't")
        });
    !vague && !unauthorized && (nowhere || known || codes::overrides(status, phrase.kind))
}

/// A token is also spoken of where it lacks a right.
fn speaks_of_a_token(phrase: &Verdict) -> bool {
    phrase.words.as_deref().is_some_and(|words| words.eq_ignore_ascii_case("your token"))
}

/// Codes that leave no doubt.
fn fixed_code(material: &Material) -> Option<Verdict> {
    let code = material.json_rpc()?;
    let kind = match code {
        -32800 | -32601 | -32002 => codes::json_rpc(code)?,
        _ => return None,
    };
    Some(Verdict::new(kind, "json-rpc", code.to_string()))
}

/// `invalid_request_error` is what services say of every fault of the caller's.
pub(super) fn is_vague(code: &str) -> bool {
    let code = code.to_ascii_lowercase();
    code.contains("invalid_request")
        || code.contains("invalidrequest")
        || code == "error"
        || code == "input_error"
        || code == "user_error"
        || code == "bad_user_input"
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

/// What a shell says of a program that was ended, on a line of its own.
fn alone(line: &str) -> Option<(FailureKind, &str)> {
    let word = line.trim_matches(|c: char| !c.is_ascii_alphabetic());
    let kind = match word {
        "Interrupt" | "Interrupted" | "Terminated" | "interrupted" => FailureKind::Cancelled,
        "Killed" => FailureKind::System,
        _ => return None,
    };
    Some((kind, word))
}

/// The first word of a short text that is a name or a code and tells its kind.
fn anywhere(text: &str, said: &str) -> Option<Verdict> {
    if let Some((kind, word)) = text.lines().rev().take(3).find_map(alone) {
        return Some(Verdict::new(kind, "name", word));
    }
    // The first line may say no more than that.
    let line = said.lines().next().unwrap_or_default().trim_end_matches(['.', ' ', '!']);
    if line.len() < 120 && (line.ends_with(" timeout") || line.ends_with(" Timeout")) {
        return Some(Verdict::new(FailureKind::Timeout, "name", "timeout"));
    }
    all_named(text).next().map(|(word, told)| match told {
        Told::Surely(kind) | Told::Otherwise(kind) => Verdict::new(kind, "name", word),
    })
}

/// What stands between letters that no name or code has.
fn coded_words(text: &str) -> impl Iterator<Item = &str> {
    let ends = |byte: u8| !(byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.'));
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let end = text.bytes().position(ends);
        let behind = end.and_then(|end| text[end..].chars().next().map(|c| end + c.len_utf8()));
        rest = behind.map(|behind| &text[behind..]);
        Some(&text[..end.unwrap_or(text.len())])
    })
}

/// The words of a short text that are names or codes and tell their kind.
fn all_named(text: &str) -> impl Iterator<Item = (&str, Told)> {
    // Most words are short, or all in lower case.
    let may_be_named = |word: &&str| {
        word.len() > 3 && word.bytes().any(|byte| byte.is_ascii_uppercase() || byte == b'_')
    };
    coded_words(text).take(80).filter(may_be_named).filter_map(|word| {
        let camel = word.len() > 8
            && word.bytes().skip(1).any(|b| b.is_ascii_uppercase())
            && word.bytes().any(|b| b.is_ascii_lowercase());
        let code = camel || word.contains('_') && word.len() > 6;
        let may_tell = code || names::is_type_name(word);
        may_tell.then(|| names::tell(word)).flatten().map(|told| (word, told))
    })
}

/// What is given to an error of a type that says little: `ApiError('7', LookupError('not_found'))`.
fn given(name: &str, text: &str) -> Option<Verdict> {
    let (_, given) = text.split_once(name)?;
    let given = given.strip_prefix('(')?;
    all_named(given).find_map(|(word, told)| match told {
        Told::Surely(kind) => Some(Verdict::new(kind, "name", word)),
        Told::Otherwise(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::coded_words;

    proptest! {
        #[test]
        fn coded_words_stand_between_all_other_letters(text in "[aB7_.é错 :]{0,40}") {
            let other = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.'));
            prop_assert!(coded_words(&text).eq(text.split(other)));
        }
    }
}
