//! What the store has, as HTML. Every text is escaped where it is put in; none is taken for a tag.

pub(crate) mod breakers;
pub(crate) mod frame;
pub(crate) mod group;
pub(crate) mod groups;
pub(crate) mod notice;
pub(crate) mod overview;
pub(crate) mod runs;
pub(crate) mod sample;
pub(crate) mod tools;

use breakfall_store::State;
use maud::{Markup, html};

use crate::words::{ago, iso, moment};

/// A moment: how long ago, with the moment itself.
pub(crate) fn when(at: i64, now: i64) -> Markup {
    html! { time datetime=(iso(at)) title=(moment(at)) { (ago(at, now)) } }
}

/// Whether somebody has to look at a group: a mark and a word, so that no colour is needed.
pub(crate) fn state(state: State) -> Markup {
    let mark = match state {
        State::Open => "●",
        State::Resolved => "✓",
        State::Ignored => "⊘",
    };
    html! { span class={ "state " (state.name()) } { span aria-hidden="true" { (mark) } " " (state.name()) } }
}

/// A screen on which there is nothing: why, and what to do.
pub(crate) fn empty(heading: &str, body: &Markup) -> Markup {
    html! { section.empty { h2 { (heading) } (body) } }
}
