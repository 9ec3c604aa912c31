//! The examples are beside this file: one folder, one question. `cargo run --example hello`.
