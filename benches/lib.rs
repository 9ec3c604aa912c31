//! The benches are beside this file: `cargo xtask bench` runs those that the page is written from.
