//! What the user decides once for the guard: presets, what is fatal, and the file
//! `breakfall.toml`.

mod apply;
mod environment;
mod file;
mod load;
mod policies;
mod problem;
mod schema;
mod store;
mod tables;
mod telemetry;
#[cfg(test)]
mod tests;
mod tree;
mod units;
mod upstreams;
mod variables;
mod words;

use std::collections::HashMap;
use std::str::FromStr;

pub use load::Config;
pub(crate) use policies::Policies;
pub use problem::ConfigProblem;
pub(crate) use problem::PROBLEMS;
pub use store::ConfiguredStore;
pub use telemetry::ConfiguredTelemetry;
pub use upstreams::{ConfiguredUpstream, Reach, UnknownTool};
pub use variables::filled;

use crate::voice::{Brynhild, Json, Llmproc, Openagents, Sidekick};
use crate::{Detail, Disposition, Error, FailureKind, Voice};

macro_rules! presets {
    ($( $(#[$meta:meta])+ $preset:ident $name:literal; )+) => {
        /// A disposition table, a voice and a disclosure rule under one name.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Preset { $( $(#[$meta])+ $preset, )+ }

        impl Preset {
            /// Every preset.
            pub const ALL: &[Self] = &[$( Self::$preset, )+];

            /// Its name in configuration.
            pub const fn name(self) -> &'static str {
                match self { $( Self::$preset => $name, )+ }
            }
        }

        impl FromStr for Preset {
            type Err = Error;

            fn from_str(name: &str) -> Result<Self, Error> {
                match name {
                    $( $name => Ok(Self::$preset), )+
                    _ => Err(Error::UnknownWord {
                        what: "preset",
                        given: name.to_owned(),
                        accepted: vec![$( $name, )+],
                    }),
                }
            }
        }
    };
}

presets! {
    /// Ours: a fact, then whose move it is; what came from inside a tool stays inside.
    #[default]
    Breakfall "breakfall";
    /// OpenAgents: `Error executing tool NAME: MESSAGE`.
    Openagents "openagents";
    /// Brynhild: success, output, error.
    Brynhild "brynhild";
    /// llmproc: availability in one sentence, arguments in detail, the rest hidden.
    Llmproc "llmproc";
    /// llmproc, with the list of RFC 015 for an unknown name.
    LlmprocRfc015 "llmproc-rfc015";
    /// Sidekick: five lines.
    Sidekick "sidekick";
    /// Sidekick's one line.
    SidekickShort "sidekick-short";
    /// The facts as JSON.
    Json "json";
}

impl Preset {
    pub(crate) fn voice(self) -> Option<Box<dyn Voice>> {
        Some(match self {
            Self::Breakfall => return None,
            Self::Openagents => Box::new(Openagents),
            Self::Brynhild => Box::new(Brynhild),
            Self::Llmproc => Box::new(Llmproc::Terse),
            Self::LlmprocRfc015 => Box::new(Llmproc::Listing),
            Self::Sidekick => Box::new(Sidekick::Long),
            Self::SidekickShort => Box::new(Sidekick::Short),
            Self::Json => Box::new(Json),
        })
    }

    /// Whether the run goes on after a failure of this kind.
    pub fn disposition(self, kind: FailureKind) -> Disposition {
        use FailureKind as K;
        let fatal = match self {
            Self::Openagents => matches!(
                kind,
                K::Authentication | K::Permission | K::Network | K::Execution | K::Internal
            ),
            Self::Brynhild => matches!(kind, K::System | K::Broken),
            _ => return kind.disposition(),
        };
        if fatal { Disposition::Fatal } else { Disposition::Recoverable }
    }
}

/// What is fatal: the preset's table, with what the user decided otherwise.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dispositions {
    pub(crate) preset: Preset,
    pub(crate) strict: bool,
    pub(crate) by_kind: HashMap<FailureKind, Disposition>,
    pub(crate) by_tool: HashMap<(String, FailureKind), Disposition>,
}

impl Dispositions {
    pub(crate) fn of(&self, tool: &str, kind: FailureKind, detail: &Detail) -> Disposition {
        if !self.by_tool.is_empty()
            && let Some(decided) = self.by_tool.get(&(tool.to_owned(), kind))
        {
            return *decided;
        }
        match self.by_kind.get(&kind) {
            Some(decided) => *decided,
            None if self.strict && kind == FailureKind::UnknownTool => Disposition::Fatal,
            // It was told once, and went on.
            None if matches!(detail, Detail::Repeated { is_stalled: true, .. }) => {
                Disposition::Fatal
            }
            None => self.preset.disposition(kind),
        }
    }
}
