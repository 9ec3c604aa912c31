//! The table of failure kinds: one row a kind, all columns.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Error;

/// Whether the run goes on after a failure.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Disposition {
    /// The model is told and goes on.
    Recoverable,
    /// The model is told, and the tool is out for the rest of this run.
    Pause,
    /// The run stops and a person is told.
    Fatal,
}

impl Disposition {
    /// Its name in configuration, records and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Recoverable => "recoverable",
            Self::Pause => "pause",
            Self::Fatal => "fatal",
        }
    }
}

/// Could the same call succeed later?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MayPass {
    /// Not unless something else changes.
    No,
    /// If it is simply repeated.
    Yes,
    /// Once, not again and again.
    Once,
    /// When the tool is back.
    Later,
    /// After another step was done first.
    AfterAnotherStep,
    /// Nobody can tell.
    Unknown,
}

impl MayPass {
    /// Whether repeating the call, at least once, may be all it takes.
    pub fn if_repeated(self) -> bool {
        matches!(self, Self::Yes | Self::Once)
    }
}

/// How loudly a failure is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gravity {
    /// The tool was not there or not to be used: a warning.
    Availability,
    /// The call was made and failed: an error.
    Execution,
}

macro_rules! kinds {
    ($( $(#[doc = $doc:literal])+ $kind:ident $name:literal $disposition:ident $may_pass:ident $gravity:ident; )+) => {
        /// The closed list of ways in which a call can fail.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum FailureKind { $( $(#[doc = $doc])+ $kind, )+ }

        impl FailureKind {
            /// Every kind, in the order of the table.
            pub const ALL: &[Self] = &[$( Self::$kind, )+];

            /// The kind's name in configuration, records and tables.
            pub const fn name(self) -> &'static str {
                match self { $( Self::$kind => $name, )+ }
            }

            /// The kind's name in the form of an error type, where a tool had none of its own.
            pub(crate) const fn type_name(self) -> &'static str {
                match self { $( Self::$kind => stringify!($kind), )+ }
            }

            /// Whether the run goes on, unless the user decided otherwise.
            pub const fn disposition(self) -> Disposition {
                match self { $( Self::$kind => Disposition::$disposition, )+ }
            }

            /// Could the same call succeed later?
            pub const fn may_pass(self) -> MayPass {
                match self { $( Self::$kind => MayPass::$may_pass, )+ }
            }

            /// How loudly it is logged.
            pub const fn gravity(self) -> Gravity {
                match self { $( Self::$kind => Gravity::$gravity, )+ }
            }
        }
    };
}

kinds! {
    // kind              name                   disposition  may_pass          gravity
    /// No tool has that name.
    UnknownTool         "unknown_tool"          Recoverable  No                Availability;
    /// The tool exists and cannot be used now.
    Unavailable         "unavailable"           Recoverable  Later             Availability;
    /// The arguments do not fit the tool's schema, or the tool refused them.
    InvalidArguments    "invalid_arguments"     Recoverable  No                Execution;
    /// The arguments were cut off; nothing was executed.
    TruncatedArguments  "truncated_arguments"   Recoverable  No                Execution;
    /// What the call is about does not exist.
    NotFound            "not_found"             Recoverable  No                Execution;
    /// Something else must be done first.
    Precondition        "precondition"          Recoverable  AfterAnotherStep  Execution;
    /// Something is in the way: it exists already, or someone else changed it.
    Conflict            "conflict"              Recoverable  No                Execution;
    /// No answer in time.
    Timeout             "timeout"               Recoverable  Yes               Execution;
    /// Too many requests; wait.
    RateLimited         "rate_limited"          Recoverable  Yes               Execution;
    /// Not allowed.
    Permission          "permission"            Recoverable  No                Execution;
    /// The service cannot be reached.
    Network             "network"               Recoverable  Yes               Execution;
    /// The remote service failed.
    Upstream            "upstream"              Recoverable  Yes               Execution;
    /// The tool answered with something unreadable.
    InvalidOutput       "invalid_output"        Recoverable  Once              Execution;
    /// The tool failed and no more is known.
    Execution           "execution"             Recoverable  Unknown           Execution;
    /// A fault inside the tool: a panic, an unhandled exception.
    Internal            "internal"              Recoverable  No                Execution;
    /// The same call failed again and again and is not run any more.
    Repeated            "repeated"              Recoverable  No                Execution;
    /// The call was stopped.
    Cancelled           "cancelled"             Recoverable  Unknown           Availability;
    /// A credential is missing or wrong.
    Authentication      "authentication"        Fatal        No                Execution;
    /// A person must raise a limit.
    QuotaExceeded       "quota_exceeded"        Fatal        No                Execution;
    /// The machine is out of memory, disk or handles.
    System              "system"                Fatal        No                Execution;
    /// The guard itself failed.
    Broken              "broken"                Fatal        No                Execution;
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for FailureKind {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name).ok_or_else(|| {
            Error::UnknownWord {
                what: "failure kind",
                given: name.to_owned(),
                accepted: Self::ALL.iter().map(|kind| kind.name()).collect(),
            }
        })
    }
}

impl Serialize for FailureKind {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_leads_back_to_its_kind() {
        for kind in FailureKind::ALL {
            assert_eq!(kind.name().parse::<FailureKind>().unwrap(), *kind);
        }
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_accepted_ones() {
        let error = "time_out".parse::<FailureKind>().unwrap_err().to_string();
        assert!(error.contains("`time_out`") && error.contains("`timeout`"), "{error}");
    }

    #[test]
    fn the_table_agrees_with_the_design() {
        let fatal: Vec<_> = FailureKind::ALL
            .iter()
            .filter(|kind| kind.disposition() == Disposition::Fatal)
            .map(|kind| kind.name())
            .collect();
        assert_eq!(fatal, ["authentication", "quota_exceeded", "system", "broken"]);
        let passes: Vec<_> = FailureKind::ALL
            .iter()
            .filter(|kind| kind.may_pass() == MayPass::Yes)
            .map(|kind| kind.name())
            .collect();
        assert_eq!(passes, ["timeout", "rate_limited", "network", "upstream"]);
    }
}
