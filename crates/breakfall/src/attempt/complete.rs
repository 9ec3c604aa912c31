//! A failure is completed with what only the guard knows: what the call brought along, what its
//! arguments lack, what it was about.

use serde_json::{Map, Value};

use super::brought;
use crate::failure::{Facts, Words};
use crate::redact::is_secret_name;
use crate::{
    Arguments, Correction, Detail, Failure, FailureKind, Problem, Provenance, ToolSpec, classify,
};

/// Completes what is known of a failure with what only the guard knows.
pub(super) fn complete(mut failure: Failure, arguments: &Arguments, spec: &ToolSpec) -> Failure {
    // What it was told to run failed, not the tool that ran it.
    if failure.is_told() && brought::has_program(arguments.value()) {
        let facts = failure.facts_mut();
        facts.words = Words::OfProgram;
        if matches!(facts.kind, FailureKind::Internal | FailureKind::Unavailable) {
            facts.kind = FailureKind::Execution;
        }
    }
    let outcome_unknown = matches!(
        failure.kind(),
        FailureKind::Timeout
            | FailureKind::Network
            | FailureKind::Upstream
            | FailureKind::InvalidOutput
            | FailureKind::Internal
            | FailureKind::Cancelled
    );
    let was_dispatched = !failure.never_dispatched();
    let facts = failure.facts_mut();
    // What was found and called exists: what its server lacks, it lacks now. Only a door knows of one
    // that nobody told of.
    if facts.kind == FailureKind::UnknownTool && facts.provenance != Provenance::Guard {
        facts.kind = FailureKind::Unavailable;
    }
    // A call that was dispatched and not answered, or not so that it can be read, may have done its
    // work.
    facts.may_have_taken_effect |= outcome_unknown && was_dispatched && !spec.effect.may_repeat();
    // Who takes nothing and was given nothing did not fail for what it was given.
    if facts.kind == FailureKind::InvalidArguments && takes_nothing(arguments, spec) {
        facts.kind = FailureKind::Execution;
    }
    // Words of the tool's own may tell of something else: they are shown instead.
    let is_told = facts.provenance == Provenance::Tool && !facts.message.is_empty();
    if facts.resource.is_none() && !is_told && is_about_something(facts.kind) {
        facts.resource = only_text(arguments.value());
    }
    if let Some((problems, correction)) = arguments.diagnosis() {
        explain(facts, (spec, arguments.value()), problems, correction.as_ref());
    }
    failure
}

/// A tool that refuses what its schema forbids rarely says all that is wrong: we can. One that fails
/// where it was not given what it needs failed for that, and so did one whose words name what does not
/// fit, and one in which something broke that names no other argument.
fn explain(
    facts: &mut Facts,
    (spec, arguments): (&ToolSpec, &Value),
    problems: &[Problem],
    correction: Option<&Correction>,
) {
    let is_named = |name: &str| names(&facts.message, name, &spec.name);
    let lacks = |problem: &Problem| problem.got.is_none() && problem.nearest.is_none();
    let explains = |problem: &Problem| lacks(problem) || is_named(first_name(&problem.path));
    let properties = spec.input_schema.get("properties").and_then(Value::as_object);
    let names_nothing = || !properties.into_iter().flat_map(Map::keys).any(|name| is_named(name));
    let is_vague = match facts.kind {
        FailureKind::InvalidArguments => false,
        FailureKind::Internal if facts.words == Words::Telling && names_nothing() => true,
        // It looked for what is no name.
        FailureKind::NotFound if classify::speaks_of_an_object(&facts.message) => true,
        FailureKind::Internal | FailureKind::Execution
            if facts.words == Words::Telling && problems.iter().any(explains) =>
        {
            true
        }
        _ => return,
    };
    // Where its words speak of what the schema has nothing against, they are needed, too; and a
    // call with that in it would be refused again.
    let is_told = |name: &str| problems.iter().any(|problem| first_name(&problem.path) == name);
    let mut given = arguments.as_object().into_iter().flat_map(Map::keys);
    let other = given.find(|name| is_named(name) && !is_told(name));
    let has_other = |correction: &&Correction| {
        other.is_none_or(|name| correction.arguments.get(name).is_none())
    };
    let is_covered = problems.iter().any(|problem| is_named(first_name(&problem.path)));
    // Most tools pass over what they do not know: one that speaks of something else was not stopped by
    // that, and would not be by the same call without.
    let is_superfluous = |problem: &Problem, correction: &Correction| {
        problem.got.is_some() && correction.arguments.get(first_name(&problem.path)).is_none()
    };
    let helps = |correction: &&Correction| {
        is_vague
            || is_covered
            || facts.provenance != Provenance::Tool
            || !problems.iter().all(|problem| is_superfluous(problem, correction))
    };
    let correction = correction.filter(has_other).filter(helps).cloned();
    if !is_vague && other.is_none() && is_covered {
        // Its own words are for the developer then.
        facts.provenance = Provenance::Guard;
    }
    facts.kind = FailureKind::InvalidArguments;
    facts.detail = Detail::Arguments { problems: problems.to_vec(), correction };
}

/// Whether there is nothing that a model could give otherwise.
fn takes_nothing(arguments: &Arguments, spec: &ToolSpec) -> bool {
    let is_empty = |value: &Value| value.as_object().is_some_and(Map::is_empty);
    is_empty(arguments.value()) && spec.input_schema.get("properties").is_some_and(is_empty)
}

/// The argument in which a problem lies.
fn first_name(path: &str) -> &str {
    path.split(['.', '[']).next().unwrap_or_default()
}

/// Whether a text has this name in it, as a whole word: not as a part of the tool's, nor as what a
/// validator calls its own.
fn names(text: &str, name: &str, tool: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let is_of_the_tool = |at: usize| {
        let within = tool.match_indices(name).map(|(within, _)| within);
        let mut begins = within.filter_map(|within| text.get(at.checked_sub(within)?..));
        tool.len() > name.len() && begins.any(|text| text.starts_with(tool))
    };
    !name.is_empty()
        && text.match_indices(name).any(|(at, _)| {
            let behind = &text[at + name.len()..];
            let is_word = !text[..at].ends_with(is_part) && !behind.starts_with(is_part);
            is_word && !classify::is_key_of_a_validator(text, at, name) && !is_of_the_tool(at)
        })
}

fn is_about_something(kind: FailureKind) -> bool {
    matches!(kind, FailureKind::NotFound | FailureKind::Permission | FailureKind::Conflict)
}

/// The only text among the arguments: what the call was about, in the model's own words. The
/// operating system says that a file is missing, and not which.
fn only_text(arguments: &Value) -> Option<String> {
    let fields = arguments.as_object()?.iter();
    let mut texts = fields.filter_map(|(name, value)| Some((name, value.as_str()?)));
    let (name, only) = texts.next()?;
    (texts.next().is_none() && only.len() <= 256 && !is_secret_name(name)).then(|| only.to_owned())
}
