//! One call to a tool that was found, with arguments that were checked: tried within its time.

mod execute;
pub(crate) mod panics;
mod policy;

pub use policy::{Checking, Policy, Repair};

use serde_json::Value;

use crate::classify::{self, Reader};
use crate::redact::is_secret_name;
use crate::tool::Context;
use crate::toolbox::Slot;
use crate::{Arguments, Detail, Failure, FailureKind, Outcome};

/// Tries a call: execute, classify, settle.
pub(crate) async fn attempt(
    slot: &Slot,
    arguments: &Arguments,
    context: Context<'_>,
    policy: &Policy,
    reader: &Reader,
) -> Outcome {
    match execute::execute(&slot.entry, arguments, context, policy).await {
        Ok(output) => Ok(output),
        Err(mut failure) => {
            classify::classify(&mut failure, reader);
            Err(settle(failure, arguments, slot.entry.spec.effect.may_repeat()))
        }
    }
}

/// Completes what is known of a failure with what only the guard knows.
fn settle(mut failure: Failure, arguments: &Arguments, may_repeat: bool) -> Failure {
    let outcome_unknown = matches!(
        failure.kind(),
        FailureKind::Timeout
            | FailureKind::Network
            | FailureKind::Upstream
            | FailureKind::Internal
            | FailureKind::Cancelled
    );
    let was_dispatched = !never_arrived(&failure);
    let facts = failure.facts_mut();
    // A call that was dispatched and not answered may have done its work.
    facts.may_have_taken_effect |= outcome_unknown && was_dispatched && !may_repeat;
    if facts.resource.is_none() && is_about_something(facts.kind) {
        facts.resource = only_text(arguments.value());
    }
    // A tool that refuses what its schema forbids rarely says all that is wrong: we can.
    if facts.kind == FailureKind::InvalidArguments
        && let Some((problems, correction)) = &arguments.diagnosis
    {
        facts.detail =
            Detail::Arguments { problems: problems.clone(), correction: correction.clone() };
    }
    failure
}

/// Whether a failure proves that the call never reached the service.
fn never_arrived(failure: &Failure) -> bool {
    let refused = |error: &(dyn std::error::Error + 'static)| {
        error
            .downcast_ref::<std::io::Error>()
            .is_some_and(|error| error.kind() == std::io::ErrorKind::ConnectionRefused)
    };
    let words = ["connection refused", "econnrefused", "name or service not known", "enotfound"];
    let message = failure.message().to_ascii_lowercase();
    failure.kind() == FailureKind::Network
        && (failure.source().is_some_and(|source| classify::causes(source).any(refused))
            || words.iter().any(|word| message.contains(word)))
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
