//! The benches are beside this file: `cargo bench --bench spine`.
