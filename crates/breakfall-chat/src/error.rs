//! The model's own errors: one table, no word of which is a tool's.

use std::fmt;
use std::time::Duration;

macro_rules! kinds {
    ($( $(#[doc = $doc:literal])+ $kind:ident $name:literal $may_pass:literal $fact:literal $move:literal; )+) => {
        /// Which way a model did not answer.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum ModelErrorKind {
            $( $(#[doc = $doc])+ $kind, )+
        }

        impl ModelErrorKind {
            /// Every kind, in the order of the table.
            pub const ALL: &'static [Self] = &[$( Self::$kind, )+];

            /// Its name in logs.
            pub fn name(self) -> &'static str {
                match self { $( Self::$kind => $name, )+ }
            }

            /// Whether the same question may be answered when it is asked again.
            pub fn may_pass(self) -> bool {
                match self { $( Self::$kind => $may_pass, )+ }
            }

            /// What happened, for the person who talks with the model.
            fn fact(self) -> &'static str {
                match self { $( Self::$kind => $fact, )+ }
            }

            /// What that person can do.
            fn next_move(self) -> &'static str {
                match self { $( Self::$kind => $move, )+ }
            }
        }
    };
}

kinds! {
    /// The provider does not accept the key.
    BadKey "bad_key" false
        "The model's provider refused the API key." "Check your API key";
    /// The key is good and this is not allowed with it.
    Forbidden "forbidden" false
        "The model's provider does not allow this to the account." "Check what the account may use";
    /// The account has no credit.
    NoCredit "no_credit" false
        "The account with the model's provider has no credit left." "Add credit or raise its limit, then go on";
    /// Too many requests.
    RateLimited "rate_limited" true
        "The model's provider takes no more requests for now." "Wait, then go on";
    /// The provider has too much to do.
    Overloaded "overloaded" true
        "The model's provider is overloaded." "Go on later";
    /// The provider failed.
    ProviderFailed "provider_failed" true
        "The model's provider failed." "Go on later";
    /// The history is longer than the model can read.
    ContextTooLong "context_too_long" false
        "The conversation is longer than the model can read." "Begin a new one, or choose a model that reads more";
    /// The provider does not want to answer this.
    Refused "refused" false
        "The model's provider refused to answer this." "Ask in another way";
    /// There is no such model, or no such address.
    UnknownModel "unknown_model" false
        "The model's provider does not know this model at this address." "Check the name of the model and the address";
    /// The provider does not accept the request for another reason.
    BadRequest "bad_request" false
        "The model's provider did not accept the request." "See what it said";
    /// What came is no answer.
    Malformed "malformed" true
        "The model's provider sent something that is no answer." "Go on to ask again, or check its address and its shape";
    /// The connection was lost in the middle of an answer.
    Lost "lost" true
        "The connection to the model was lost in the middle of its answer." "Go on to ask again";
    /// The provider cannot be reached.
    Unreachable "unreachable" true
        "The model's provider cannot be reached." "Check the address and the network";
    /// Nothing came for too long.
    TimedOut "timed_out" true
        "The model's provider sent nothing for too long." "Go on to ask again";
    /// The answer is larger than is taken.
    TooLarge "too_large" false
        "The model's answer is larger than is taken." "Ask for less";
}

/// A model did not answer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ModelError {
    /// Which way.
    pub kind: ModelErrorKind,
    /// The HTTP status that came.
    pub status: Option<u16>,
    /// How long the provider asks to wait.
    pub wait: Option<Duration>,
    /// What the provider or the connection said, redacted and bounded.
    pub detail: String,
    /// Where the key is kept, by name.
    pub key: Option<String>,
    /// Whether there was one in it.
    pub has_key: bool,
}

impl ModelError {
    /// An error of a kind, with what is known of it.
    pub fn new(kind: ModelErrorKind, detail: impl Into<String>) -> Self {
        Self { kind, status: None, wait: None, detail: detail.into(), key: None, has_key: true }
    }

    /// The same error with the wait that the provider asks for.
    pub fn wait_for(mut self, wait: Duration) -> Self {
        self.wait = Some(wait);
        self
    }

    /// What a person is told: what happened, and what to do.
    pub fn words(&self) -> String {
        if let (ModelErrorKind::BadKey, false, Some(key)) = (self.kind, self.has_key, &self.key) {
            return format!(
                "The model's provider wants an API key, and there is none in {key}. Put your API \
                 key there."
            );
        }
        let mut words = format!("{} {}", self.kind.fact(), self.kind.next_move());
        match (self.kind, &self.key) {
            (ModelErrorKind::BadKey, Some(key)) => {
                words.push_str(" in ");
                words.push_str(key);
            }
            (ModelErrorKind::RateLimited | ModelErrorKind::Overloaded, _) => {
                if let Some(wait) = self.wait.filter(|wait| !wait.is_zero()) {
                    use fmt::Write;
                    let _ = write!(words, "; it asks for {} s", wait.as_secs_f64().ceil());
                }
            }
            _ => {}
        }
        words.push('.');
        words
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.name())?;
        if let Some(status) = self.status {
            write!(f, " (HTTP {status})")?;
        }
        if self.detail.is_empty() { Ok(()) } else { write!(f, ": {}", self.detail) }
    }
}

impl std::error::Error for ModelError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_refused_key_sends_a_person_to_the_key() {
        for kind in ModelErrorKind::ALL {
            let words = ModelError::new(*kind, "").words();
            let speaks_of_keys = words.to_lowercase().contains("key");
            assert_eq!(speaks_of_keys, *kind == ModelErrorKind::BadKey, "{words}");
            assert!(!words.contains("tool"), "{words}");
        }
        let error =
            ModelError { key: Some("A_KEY".into()), ..ModelError::new(ModelErrorKind::BadKey, "") };
        assert_eq!(
            error.words(),
            "The model's provider refused the API key. Check your API key in A_KEY."
        );
    }

    #[test]
    fn a_key_that_was_not_sent_was_not_refused() {
        let key = Some("A_KEY".to_owned());
        let error =
            ModelError { key, has_key: false, ..ModelError::new(ModelErrorKind::BadKey, "") };
        assert_eq!(
            error.words(),
            "The model's provider wants an API key, and there is none in A_KEY. Put your API key \
             there."
        );
    }
}
