//! The Python package, from the side of Rust.
