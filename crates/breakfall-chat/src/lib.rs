//! The conversation goes on: a model, its tools, and what happens when they fail.
//!
//! ```text
//! say(text):  mend the history → ask the model → run its calls → append their replies → ask …
//!             until it is done, a fatal failure, a limit, or somebody stops it
//! ```
//!
//! | module | turns | into |
//! |---|---|---|
//! | `conversation` | what a person says | events, and one honest [`Stop`] |
//! | `message`, `ids` | what was said | a history of no provider's shape, every call with an id of its own |
//! | `repair` | any history | one that every provider accepts |
//! | `saved` | a history | a file that survives `kill -9` at any point |
//! | `model`, `error` | a question | an answer, or an error of the model's own table |
//! | `provider` | HTTP and server-sent events | answers: OpenAI chat and Responses, Anthropic |
//! | `scripted` | a script | answers, for tests and demonstrations |
//!
//! Every call of a model has its reply in the history before anything else is sent, whatever
//! happens: fatal failures, cancellation, crashes. Start at [`Conversation::say`].

/// A guide by task.
#[doc = include_str!("../../../docs/chat.md")]
pub mod guide {}

mod conversation;
mod error;
mod event;
mod ids;
mod message;
mod model;
mod provider;
mod repair;
mod saved;
mod scripted;
mod stop;
mod tools;

pub use conversation::{Conversation, Limits};
pub use error::{ModelError, ModelErrorKind};
pub use event::{Again, Event};
pub use message::{Message, Said, SavedCall, SavedReply};
pub use model::{Answer, Delta, Finish, Model, Question, Usage};
pub use provider::{Bounds, Provider, Shape};
pub use repair::{Note, Repaired, repair};
pub use saved::{Error, Loaded, Saved};
pub use scripted::Scripted;
pub use stop::{Fatal, Limit, Stop};
pub use tools::Tools;
