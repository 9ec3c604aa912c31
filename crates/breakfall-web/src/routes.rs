//! Which address shows what.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Extension, Path, RawQuery, Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use breakfall_http::text;
use breakfall_store::{Error, Store};
use maud::Markup;

use crate::asked::{Asked, decoded, pairs, state};
use crate::assets::asset;
use crate::door::{CSRF, Door, Key, guarded};
use crate::live::Live;
use crate::page::Metrics;
use crate::screens::{breakers, frame, group, groups, notice, overview, runs, tools};
use crate::shelf::Shelf;
use crate::words::now;

/// The largest body: a form with two short fields.
const LARGEST: usize = 4 << 10;

/// How long a request may take, its body included.
const LONGEST: Duration = Duration::from_secs(30);

/// How many samples of a group, and calls of a run, are shown.
const SAMPLES: u32 = 20;
const CALLS: u32 = 500;

/// Everything that a request may need.
pub(crate) struct Site {
    pub(crate) door: Door,
    pub(crate) shelf: Arc<Shelf>,
    pub(crate) live: Live,
    pub(crate) metrics: Option<Metrics>,
}

pub(crate) fn router(site: Arc<Site>) -> Router {
    Router::new()
        .route("/", get(overview_screen))
        .route("/groups", get(groups_screen))
        .route("/groups/{name}", get(group_screen))
        .route("/groups/{name}/state", post(change))
        .route("/tools", get(tools_screen))
        .route("/breakers", get(breakers_screen))
        .route("/runs", get(runs_screen))
        .route("/live", get(live))
        .route("/metrics", get(metrics))
        .route("/enter", post(enter))
        .route("/assets/{name}", get(asset))
        .fallback(async || notice::refusal(StatusCode::NOT_FOUND, "There is no such page."))
        .method_not_allowed_fallback(async || {
            notice::refusal(StatusCode::METHOD_NOT_ALLOWED, "This cannot be done here.")
        })
        .layer(DefaultBodyLimit::max(LARGEST))
        .layer(from_fn(in_time))
        .layer(from_fn_with_state(Arc::clone(&site), guarded))
        .with_state(site)
}

async fn in_time(request: Request, next: Next) -> Response {
    match tokio::time::timeout(LONGEST, next.run(request)).await {
        Ok(response) => response,
        Err(_) => notice::refusal(StatusCode::REQUEST_TIMEOUT, "This took too long."),
    }
}

type Asking = (State<Arc<Site>>, RawQuery);

impl Site {
    /// A screen of what the store has, what to do where there is no store, or why it cannot be
    /// read.
    async fn show(
        &self,
        asked: &Asked,
        place: frame::Place,
        draw: impl AsyncFnOnce(&Store) -> Result<Markup, Error>,
    ) -> Response {
        let (status, body) = match self.shelf.store().await {
            Ok(None) => (StatusCode::OK, notice::nothing_kept(&self.shelf.shown())),
            Ok(Some(store)) => match draw(&store).await {
                Ok(body) => (StatusCode::OK, body),
                Err(error) => (StatusCode::SERVICE_UNAVAILABLE, notice::unreadable(&error)),
            },
            Err(error) => (StatusCode::SERVICE_UNAVAILABLE, notice::unreadable(&error)),
        };
        (status, frame::page(place, asked, &body)).into_response()
    }
}

async fn overview_screen((State(site), RawQuery(query)): Asking) -> Response {
    let asked = Asked::of(query.as_deref().unwrap_or_default());
    site.show(&asked, frame::Place::Overview, async |store| {
        let seen = overview::Seen::read(store, &asked, now()).await?;
        Ok(overview::screen(&seen, &asked))
    })
    .await
}

async fn groups_screen((State(site), RawQuery(query)): Asking) -> Response {
    let asked = Asked::of(query.as_deref().unwrap_or_default());
    site.show(&asked, frame::Place::Groups, async |store| {
        let now = now();
        let found = store.list(&asked.wanted(now), now).await?;
        let choices = store.choices(asked.since(now), 1_000).await?;
        Ok(groups::screen(&found, &choices, &asked, now))
    })
    .await
}

async fn group_screen(
    (State(site), RawQuery(query)): Asking,
    Path(name): Path<String>,
) -> Response {
    let asked = Asked::of(query.as_deref().unwrap_or_default());
    let mut is_there = true;
    let mut response = site
        .show(&asked, frame::Place::Group, async |store| {
            let now = now();
            let groups = store.named(&name, now).await?;
            match groups.as_slice() {
                [] => {
                    is_there = false;
                    Ok(notice::no_group(&name))
                }
                [one] => {
                    let samples = store.samples(one, SAMPLES).await?;
                    Ok(group::screen(one, &samples, &asked, site.door.csrf(), now))
                }
                several => Ok(groups::several(several, &name, &asked, now)),
            }
        })
        .await;
    if !is_there {
        *response.status_mut() = StatusCode::NOT_FOUND;
    }
    response
}

async fn tools_screen((State(site), RawQuery(query)): Asking) -> Response {
    let asked = Asked::of(query.as_deref().unwrap_or_default());
    site.show(&asked, frame::Place::Tools, async |store| {
        let now = now();
        let rows = store.tools(asked.since(now)).await?;
        Ok(tools::screen(&rows, &store.breakers(now).await?, &asked))
    })
    .await
}

async fn breakers_screen((State(site), RawQuery(query)): Asking) -> Response {
    let asked = Asked::of(query.as_deref().unwrap_or_default());
    site.show(&asked, frame::Place::Breakers, async |store| {
        let now = now();
        Ok(breakers::screen(&store.breakers(now).await?, now))
    })
    .await
}

async fn runs_screen((State(site), RawQuery(query)): Asking) -> Response {
    let asked = Asked::of(query.as_deref().unwrap_or_default());
    let place = if asked.run.is_empty() { frame::Place::Runs } else { frame::Place::Run };
    site.show(&asked, place, async |store| {
        if asked.run.is_empty() {
            let from = (asked.page - 1) * crate::asked::PAGE;
            let most = crate::asked::PAGE + 1;
            let rows = store.runs(asked.since(now()), from, most).await?;
            return Ok(runs::list(&rows, &asked, now()));
        }
        let calls = store.run(&asked.run, CALLS + 1).await?;
        Ok(runs::calls(&asked.run, &calls, CALLS, now()))
    })
    .await
}

async fn live(State(site): State<Arc<Site>>) -> Response {
    site.live.listen().await
}

async fn metrics(State(site): State<Arc<Site>>) -> Response {
    match &site.metrics {
        Some(metrics) => {
            let kind = "text/plain; version=0.0.4; charset=utf-8";
            ([(CONTENT_TYPE, kind)], metrics()).into_response()
        }
        None => {
            let words = "This page counts nothing itself; a guard with `--dashboard` does.";
            notice::refusal(StatusCode::NOT_FOUND, words)
        }
    }
}

/// The token, typed by who has lost the link.
async fn enter(State(site): State<Arc<Site>>, body: String) -> Response {
    let token = pairs(&body).find(|(name, _)| *name == "token");
    match token.map(|(_, token)| decoded(token)) {
        Some(token) if site.door.opens(token.trim()) => site.door.let_in("/"),
        _ => notice::stranger(),
    }
}

/// Resolves or ignores a group, or opens it again. Nothing else can be changed.
async fn change(
    State(site): State<Arc<Site>>,
    Extension(key): Extension<Key>,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: String,
) -> Response {
    let field = |wanted: &str| {
        pairs(&body).find(|(name, _)| *name == wanted).map(|(_, value)| decoded(value))
    };
    let said = text(&headers, &CSRF).map(ToOwned::to_owned);
    let by_script = said.is_some();
    let shown = said.or_else(|| field("csrf"));
    if key == Key::Cookie && !shown.is_some_and(|shown| site.door.is_from_us(&shown)) {
        let words = "This did not come from a page of ours. Reload the page and try again.";
        return notice::refusal(StatusCode::FORBIDDEN, words);
    }
    let Some(state) = field("state").as_deref().and_then(state) else {
        let words = "`state` must be `open`, `resolved` or `ignored`.";
        return notice::refusal(StatusCode::UNPROCESSABLE_ENTITY, words);
    };
    let changed = async {
        let Some(store) = site.shelf.store().await? else { return Ok(None) };
        let groups = store.named(&name, now()).await?;
        // A reference may stand for several: which one was meant cannot be known.
        let [group] = groups.as_slice() else { return Ok(None) };
        store.set_state(group, state, now()).await?;
        Ok::<_, Error>(Some(group.fingerprint.clone()))
    };
    match changed.await {
        Ok(Some(_)) if by_script => StatusCode::NO_CONTENT.into_response(),
        Ok(Some(fingerprint)) => Redirect::to(&format!("/groups/{fingerprint}")).into_response(),
        Ok(None) => notice::refusal(StatusCode::NOT_FOUND, "There is no such group."),
        Err(error) => {
            tracing::warn!(%error, "A group was not changed");
            notice::refusal(StatusCode::SERVICE_UNAVAILABLE, "The store cannot be written now.")
        }
    }
}
