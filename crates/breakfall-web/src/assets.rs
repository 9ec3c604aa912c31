//! What browsers load beside the pages: ours, from the program itself.

use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};

use crate::screens::notice;

/// Name, kind, content.
const ASSETS: &[(&str, &str, &str)] = &[
    ("page.css", "text/css; charset=utf-8", include_str!("../assets/page.css")),
    ("page.js", "text/javascript; charset=utf-8", include_str!("../assets/page.js")),
    ("icon.svg", "image/svg+xml", include_str!("../assets/icon.svg")),
];

/// A file by its name.
pub(crate) async fn asset(axum::extract::Path(name): axum::extract::Path<String>) -> Response {
    match ASSETS.iter().find(|(known, ..)| *known == name) {
        Some((_, kind, content)) => {
            ([(CONTENT_TYPE, *kind), (CACHE_CONTROL, "no-cache")], *content).into_response()
        }
        None => notice::refusal(StatusCode::NOT_FOUND, "There is no such file."),
    }
}
