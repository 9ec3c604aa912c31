//! What the code written by `#[tool]` needs of other crates, so that users need not name them.

pub use schemars;
pub use serde;
