//! The conversation goes on: a model, its tools, and what happens when they fail.
