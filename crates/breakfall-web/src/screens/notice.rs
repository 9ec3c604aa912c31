//! Where there is nothing to show: why, and what to do.

use std::error::Error as _;

use axum::http::StatusCode;
use axum::http::header::WWW_AUTHENTICATE;
use axum::response::{IntoResponse, Response};
use breakfall_store::Error;
use maud::{Markup, html};

use super::empty;
use super::frame::{Place, page};
use crate::asked::Asked;
use crate::words::visible;

/// A request that is not answered, and why.
pub(crate) fn refusal(status: StatusCode, words: &str) -> Response {
    let body = html! {
        h1 { (status.canonical_reason().unwrap_or("Refused")) }
        p { (words) }
        p { a href="/" { "To the overview" } }
    };
    (status, page(Place::Nowhere, &Asked::default(), &body)).into_response()
}

/// Who shows no token is told where it is.
pub(crate) fn stranger() -> Response {
    let body = html! {
        h1 { "Open it by its link" }
        p {
            "This page shows what failed on this machine, so it wants its token. The link with the "
            "token was printed where " code { "breakfall dashboard" } " or "
            code { "breakfall guard --dashboard" } " was started."
        }
        form.enter method="post" action="/enter" {
            label for="token" { "Token" }
            input #token type="password" name="token" required autocomplete="off" spellcheck="false";
            button { "Open" }
        }
        p.quiet {
            "A browser that came by the link from another site " a href="/" { "goes on here" } "."
        }
        p.quiet {
            "A program shows it as " code { "Authorization: Bearer …" } "."
        }
    };
    let page = page(Place::Nowhere, &Asked::default(), &body);
    (StatusCode::UNAUTHORIZED, [(WWW_AUTHENTICATE, "Bearer")], page).into_response()
}

/// No call was kept yet.
pub(crate) fn nothing_kept(place: &str) -> Markup {
    html! {
        h1 { "Nothing is kept yet" }
        (empty("Guard a server, and its failures are shown here", &html! {
            p { "Put " code { "breakfall guard --" } " before the command of an MCP server, in the file of your client:" }
            pre { code { "breakfall guard -- mcp-server-git --repository ." } }
            p { "or let " code { "breakfall wrap FILE" } " do it. Then make a call, and look again: this page follows by itself." }
            p.quiet { "Looked for the store at " code { (visible(place)) } "." }
        }))
    }
}

/// The store is there and cannot be read.
pub(crate) fn unreadable(error: &Error) -> Markup {
    let mut causes = Vec::new();
    let mut cause = error.source();
    while let Some(error) = cause.filter(|_| causes.len() < 8) {
        causes.push(error.to_string());
        cause = error.source();
    }
    let redactor = breakfall::Redactor::default();
    html! {
        h1 { "The store cannot be read" }
        (empty("Calls go on without it", &html! {
            p { (redactor.redact(&error.to_string())) }
            @if !causes.is_empty() {
                ul { @for cause in &causes { li { (visible(&redactor.redact(cause))) } } }
            }
            p { "Look at " code { "breakfall doctor" } ", or reload the page: it is tried again each time." }
        }))
    }
}

/// A name that no group has.
pub(crate) fn no_group(name: &str) -> Markup {
    html! {
        h1 { "No such failure" }
        (empty("Nothing is known by this name", &html! {
            p { code { (visible(name)) } " is no reference and no fingerprint that is kept. What was not seen for long is deleted." }
            p { a href="/groups?state=all&period=7d" { "All failures of the last 7 days" } }
        }))
    }
}
