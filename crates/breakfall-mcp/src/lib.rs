//! Stands between any MCP client and any MCP servers: every call is answered, dead servers are
//! started anew, and what nobody needs to understand passes untouched.
//!
//! ```text
//! client ── lines ──▶ session ──▶ guard (find → check → attempt …) ──▶ upstream ── lines ──▶ server
//!        ◀── lines ──         ◀── everything else, to the letter ──             ◀── lines ──
//! ```
//!
//! | module | turns | into |
//! |---|---|---|
//! | `message` | a line | a request, a notification or an answer, its insides untouched |
//! | `child` | a command | a process in a group of its own |
//! | `lines`, `long`, `out` | bytes | lines within bounds, and back |
//! | `patience` | how soon lines came | whether to stay awake for the next |
//! | `upstream` | a server's description | a server that is kept alive, by its process or at its address |
//! | `tools` | MCP's words for tools and results | ours, and back: the only file that knows both |
//! | `session` | a client's requests | answers |
//! | `front` | HTTP requests | sessions and their requests, for whom may come in |
//! | `stream`, `events` | what goes to a client | what it can take up again where it broke off |
//! | `front`, `stream`, `events` | HTTP requests | the same, each with its answer and what belongs to it |
//! | `era`, `headers`, `origin` | a request | which era it speaks, what its headers must say, where its answer goes |
//! | `trace` | `_meta` | where a request stands in a trace, and back |
//! | `record` | what passes | files |
//! | `builtin` | a directory | tools that read it, for a machine without servers |
//! | `servers` | the configuration that clients have | descriptions of servers |

mod builtin;
mod child;
mod era;
mod error;
mod events;
mod fields;
mod front;
mod headers;
mod lines;
mod long;
mod message;
mod numbers;
mod origin;
mod out;
mod patience;
mod record;
mod servers;
mod session;
mod stdio;
mod stream;
mod tools;
mod trace;
mod upstream;
mod watchdog;

pub use builtin::files;
pub use error::Error;
pub use front::Front;
pub use patience::stay_awake;
pub use record::Recorder;
pub use servers::{Address, CLIENT_JSON, Command, Reach, Server, Servers};
pub use session::Session;
pub use stdio::{stdin, stdout};
pub use upstream::{Health, Upstream};
pub use watchdog::{Watchdog, watch};
