//! A response that is no answer becomes an error of the model's own table: by status and code
//! first, by words last.

use std::time::Duration;

use breakfall::Redactor;
use serde_json::Value;

use super::{Bounds, text};
use crate::error::{ModelError, ModelErrorKind};

/// How much of a refusal is read, and how much of it is shown.
const READ: usize = 64 << 10;
const SHOWN: usize = 500;

/// Codes and types by which providers tell errors apart.
const CODES: &[(&str, ModelErrorKind)] = &[
    ("invalid_api_key", ModelErrorKind::BadKey),
    ("authentication_error", ModelErrorKind::BadKey),
    ("API_KEY_INVALID", ModelErrorKind::BadKey),
    ("insufficient_quota", ModelErrorKind::NoCredit),
    ("billing_error", ModelErrorKind::NoCredit),
    ("billing_hard_limit_reached", ModelErrorKind::NoCredit),
    ("billing_not_active", ModelErrorKind::NoCredit),
    ("insufficient_balance", ModelErrorKind::NoCredit),
    ("exceeded_current_quota_error", ModelErrorKind::NoCredit),
    ("Arrearage", ModelErrorKind::NoCredit),
    ("rate_limit_exceeded", ModelErrorKind::RateLimited),
    ("rate_limit_error", ModelErrorKind::RateLimited),
    ("ThrottlingException", ModelErrorKind::RateLimited),
    ("overloaded_error", ModelErrorKind::Overloaded),
    ("server_is_overloaded", ModelErrorKind::Overloaded),
    ("slow_down", ModelErrorKind::Overloaded),
    ("context_length_exceeded", ModelErrorKind::ContextTooLong),
    ("exceed_context_size_error", ModelErrorKind::ContextTooLong),
    ("request_too_large", ModelErrorKind::ContextTooLong),
    ("content_filter", ModelErrorKind::Refused),
    ("content_policy_violation", ModelErrorKind::Refused),
    ("invalid_prompt", ModelErrorKind::Refused),
    ("data_inspection_failed", ModelErrorKind::Refused),
    ("model_not_found", ModelErrorKind::UnknownModel),
    ("model_decommissioned", ModelErrorKind::UnknownModel),
    ("invalid_model", ModelErrorKind::UnknownModel),
    ("not_found_error", ModelErrorKind::UnknownModel),
    ("permission_error", ModelErrorKind::Forbidden),
    ("server_error", ModelErrorKind::ProviderFailed),
    ("api_error", ModelErrorKind::ProviderFailed),
    ("internal_error", ModelErrorKind::ProviderFailed),
    ("timeout_error", ModelErrorKind::ProviderFailed),
    ("tool_use_failed", ModelErrorKind::Malformed),
];

/// What servers without codes say, where a status of bad requests says nothing more.
const PHRASES: &[(&str, ModelErrorKind)] = &[
    ("api key not valid", ModelErrorKind::BadKey),
    ("api key expired", ModelErrorKind::BadKey),
    ("incorrect api key", ModelErrorKind::BadKey),
    ("context length", ModelErrorKind::ContextTooLong),
    ("context size", ModelErrorKind::ContextTooLong),
    ("context window", ModelErrorKind::ContextTooLong),
    ("prompt is too long", ModelErrorKind::ContextTooLong),
    ("contextwindow", ModelErrorKind::ContextTooLong),
    ("context limit", ModelErrorKind::ContextTooLong),
    ("input is too long", ModelErrorKind::ContextTooLong),
    ("request too large", ModelErrorKind::ContextTooLong),
    ("too many tokens", ModelErrorKind::ContextTooLong),
    ("token limit", ModelErrorKind::ContextTooLong),
    ("token count", ModelErrorKind::ContextTooLong),
    ("maximum prompt length", ModelErrorKind::ContextTooLong),
    ("prompt exceeds max length", ModelErrorKind::ContextTooLong),
    ("range of input length", ModelErrorKind::ContextTooLong),
    ("`inputs` tokens", ModelErrorKind::ContextTooLong),
    ("`inputs` must have less than", ModelErrorKind::ContextTooLong),
    ("credit balance is too low", ModelErrorKind::NoCredit),
    ("insufficient balance", ModelErrorKind::NoCredit),
    ("insufficient credits", ModelErrorKind::NoCredit),
    ("have any credits", ModelErrorKind::NoCredit),
    ("model not exist", ModelErrorKind::UnknownModel),
    ("invalid model", ModelErrorKind::UnknownModel),
    ("not a valid model", ModelErrorKind::UnknownModel),
    ("model identifier is invalid", ModelErrorKind::UnknownModel),
    ("input was flagged", ModelErrorKind::Refused),
    ("content management policy", ModelErrorKind::Refused),
];

/// Reads a response whose status is no success.
pub(super) async fn read(mut response: reqwest::Response, bounds: Bounds) -> ModelError {
    let status = response.status().as_u16();
    let wait = wait(response.headers());
    let moved = response.headers().get("location").and_then(|to| to.to_str().ok());
    let moved = moved.map(|to| format!("it moved to {to}"));
    let mut body = Vec::new();
    let reading = async {
        while let Some(bytes) = response.chunk().await.ok().flatten().filter(|_| body.len() < READ)
        {
            body.extend_from_slice(&bytes);
        }
    };
    // What comes in drops is waited for no longer than for what does not come.
    let _ = tokio::time::timeout(bounds.silence, reading).await;
    body.truncate(READ);
    let words = String::from_utf8_lossy(&body).into_owned();
    let value: Value = serde_json::from_str(&words).unwrap_or_default();
    let mut error = of(Some(status), &value, &words);
    error.wait = wait.or(error.wait);
    if let Some(moved) = moved.filter(|_| (300..400).contains(&status)) {
        error.detail = moved;
    }
    error
}

/// An error that came in the stream.
pub(super) fn within(value: &Value) -> ModelError {
    of(None, value, "")
}

fn of(status: Option<u16>, value: &Value, body: &str) -> ModelError {
    // `{"error": {…}}`, `{"error": "…"}`, `{"code": …, "message": …}`, a list with one of them.
    let value = value.get(0).unwrap_or(value);
    let error = value.get("error").filter(|error| !error.is_null()).unwrap_or(value);
    let said = match error.as_str() {
        Some(said) => said,
        None => [text(error, "message"), text(error, "detail"), body]
            .into_iter()
            .find(|said| !said.is_empty())
            .unwrap_or_default(),
    };
    // A gateway says whose error it is, and beside it what that one said.
    let behind = error.get("metadata").map_or("", |metadata| text(metadata, "raw"));
    let said = if behind.is_empty() { said.to_owned() } else { format!("{said}: {behind}") };
    // Proxies that began to stream tell the status of the provider behind them.
    let told = error.get("code").and_then(number);
    let told = told.and_then(|code| u16::try_from(code).ok());
    let status = status.or(told.filter(|code| (400..600).contains(code)));
    let details = error.get("details").and_then(Value::as_array);
    let details = || details.into_iter().flatten();
    let codes = ["code", "type", "__type"].map(|key| text(error, key)).into_iter();
    let mut codes = codes.chain(details().map(|detail| text(detail, "reason")));
    let kind = match codes.find_map(|code| listed(CODES, |known| known == code)) {
        // A request that is larger than what is taken in a minute will never be taken.
        Some(ModelErrorKind::RateLimited) => {
            by_status(status.filter(|status| *status == 413).or(Some(429)), &said)
        }
        // Some call every error so: the status says more.
        Some(ModelErrorKind::ProviderFailed) | None => by_status(status, &said),
        Some(kind) => kind,
    };
    let wait =
        details().find_map(|detail| text(detail, "retryDelay").strip_suffix('s')?.parse().ok());
    let wait = wait.and_then(|wait| Duration::try_from_secs_f64(wait).ok());
    ModelError { status, wait, ..ModelError::new(kind, said) }
}

/// A number, also one that is written as text.
fn number(code: &Value) -> Option<u64> {
    code.as_u64().or_else(|| code.as_str()?.parse().ok())
}

fn by_status(status: Option<u16>, said: &str) -> ModelErrorKind {
    use ModelErrorKind as K;
    let said = said.to_lowercase();
    let phrase = || listed(PHRASES, |phrase| said.contains(phrase));
    let phrase_of = |kinds: &[K]| phrase().filter(|kind| kinds.contains(kind));
    match status {
        Some(401) => K::BadKey,
        Some(402) => K::NoCredit,
        Some(403) => phrase_of(&[K::NoCredit, K::Refused]).unwrap_or(K::Forbidden),
        Some(404 | 405 | 300..=399) => K::UnknownModel,
        Some(413) => K::ContextTooLong,
        Some(429) if said.contains("request too large") => K::ContextTooLong,
        Some(429) => phrase_of(&[K::NoCredit]).unwrap_or(K::RateLimited),
        Some(503 | 529) => K::Overloaded,
        None | Some(408 | 500..) => phrase().unwrap_or(K::ProviderFailed),
        Some(_) => phrase().unwrap_or(K::BadRequest),
    }
}

fn listed(table: &[(&str, ModelErrorKind)], is: impl Fn(&str) -> bool) -> Option<ModelErrorKind> {
    table.iter().find(|(known, _)| is(known)).map(|(_, kind)| *kind)
}

/// The wait that a response asks for: in milliseconds, in seconds, or until a date.
fn wait(headers: &reqwest::header::HeaderMap) -> Option<Duration> {
    let header = |name: &str| headers.get(name)?.to_str().ok();
    let milliseconds = || header("retry-after-ms")?.trim().parse::<f64>().ok();
    if let Some(wait) = milliseconds() {
        return Duration::try_from_secs_f64(wait / 1000.0).ok();
    }
    breakfall::retry_after(header("retry-after")?)
}

/// What is shown of a provider's words: without secrets, in one line, not too much.
pub(super) fn shown(redactor: &Redactor, said: &str) -> String {
    let clean = redactor.redact(said);
    let line = clean.split_whitespace().collect::<Vec<_>>().join(" ");
    let line: String = line.chars().filter(|c| !c.is_control()).collect();
    if line.len() <= SHOWN {
        return line;
    }
    format!("{}…", &line[..line.floor_char_boundary(SHOWN)])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_providers_say_is_told_apart() {
        use ModelErrorKind as K;
        let error =
            |kind: &str, words: &str| json!({ "error": { "type": kind, "message": words } });
        for (status, body, kind) in [
            (401, error("invalid_request_error", "Incorrect API key provided"), K::BadKey),
            (401, Value::Null, K::BadKey),
            (400, json!({ "error": { "code": "invalid_api_key" } }), K::BadKey),
            (
                400,
                json!([{ "error": { "code": 400, "message": "API key not valid. Please pass a valid API key." } }]),
                K::BadKey,
            ),
            (
                400,
                json!([{ "error": { "code": 400, "details": [{ "reason": "API_KEY_INVALID" }] } }]),
                K::BadKey,
            ),
            (
                400,
                json!({ "code": "invalid-argument", "error": "Incorrect API key provided: k" }),
                K::BadKey,
            ),
            (403, error("permission_error", ""), K::Forbidden),
            (429, json!({ "error": { "code": "insufficient_quota" } }), K::NoCredit),
            (400, error("invalid_request_error", "Your credit balance is too low"), K::NoCredit),
            (402, Value::Null, K::NoCredit),
            (429, json!({ "error": "slow down" }), K::RateLimited),
            (529, error("overloaded_error", "Overloaded"), K::Overloaded),
            (503, Value::Null, K::Overloaded),
            (500, json!({ "error": { "message": "API key service down" } }), K::ProviderFailed),
            (400, json!({ "error": { "code": "context_length_exceeded" } }), K::ContextTooLong),
            (
                400,
                json!({ "error": { "code": 400, "type": "exceed_context_size_error" } }),
                K::ContextTooLong,
            ),
            (400, error("invalid_request_error", "prompt is too long: 9 > 8"), K::ContextTooLong),
            (400, json!({ "message": "maximum context length is 8" }), K::ContextTooLong),
            (413, Value::Null, K::ContextTooLong),
            (400, json!({ "error": { "code": "content_filter" } }), K::Refused),
            (404, json!({ "error": "model 'x' not found" }), K::UnknownModel),
            (302, Value::Null, K::UnknownModel),
            (404, error("api_error", "model 'x' not found"), K::UnknownModel),
            (400, error("api_error", "x does not support tools"), K::BadRequest),
            (400, error("invalid_model", "Invalid model: x"), K::UnknownModel),
            (400, json!({ "error": { "message": "x is not a valid model ID" } }), K::UnknownModel),
            (400, error("tool_use_failed", "Failed to call a function."), K::Malformed),
            (413, json!({ "error": { "code": "rate_limit_exceeded" } }), K::ContextTooLong),
            (
                429,
                json!({ "error": { "message": "Request too large for x", "code": "rate_limit_exceeded" } }),
                K::ContextTooLong,
            ),
            (
                400,
                json!({ "error": { "message": "Provider returned error", "code": 400,
                                   "metadata": { "raw": "maximum context length is 8" } } }),
                K::ContextTooLong,
            ),
            (
                400,
                error("", "input length and `max_tokens` exceed context limit"),
                K::ContextTooLong,
            ),
            (400, error("", "The input token count (9) exceeds the maximum"), K::ContextTooLong),
            (400, error("", "Input is too long for requested model."), K::ContextTooLong),
            (400, json!({ "__type": "ThrottlingException" }), K::RateLimited),
            (429, error("exceeded_current_quota_error", "suspended"), K::NoCredit),
            (429, error("", "Insufficient balance"), K::NoCredit),
            (429, error("", "Too many tokens, please wait"), K::RateLimited),
            (429, error("", "You exceeded your current quota"), K::RateLimited),
            (
                403,
                json!({ "code": "x", "error": "Your team doesn't have any credits" }),
                K::NoCredit,
            ),
            (403, error("", "x requires moderation. Your input was flagged."), K::Refused),
            (422, json!({ "detail": "no" }), K::BadRequest),
            (400, json!({ "error": { "message": "the API key field is odd" } }), K::BadRequest),
        ] {
            assert_eq!(of(Some(status), &body, "").kind, kind, "{status} {body}");
        }
        for (code, kind) in
            [(401, K::BadKey), (402, K::NoCredit), (400, K::BadRequest), (502, K::ProviderFailed)]
        {
            let told = within(&json!({ "error": { "code": code, "message": "no" } }));
            assert_eq!((told.kind, told.status), (kind, Some(code)), "a number in the stream");
        }
        let told = within(&json!({ "error": { "code": "429", "message": "no" } }));
        assert_eq!((told.kind, told.status), (K::RateLimited, Some(429)), "a number as text");
        let later = json!([{ "error": { "code": 429, "details": [{ "retryDelay": "7.5s" }] } }]);
        assert_eq!(of(Some(429), &later, "").wait, Some(Duration::from_millis(7_500)));
        let limit = json!({ "error": { "code": "string_above_max_length" } });
        assert_eq!(of(Some(400), &limit, "").kind, K::BadRequest);
        let within = within(&error("overloaded_error", "Overloaded"));
        assert_eq!((within.kind, &*within.detail), (K::Overloaded, "Overloaded"));
    }
}
