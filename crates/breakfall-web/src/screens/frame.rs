//! What is around every screen: where one is, where one can go, and whether it is live.

use maud::{DOCTYPE, Markup, html};

use crate::asked::{Asked, Period};

/// A screen.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Overview,
    Groups,
    Group,
    Tools,
    Breakers,
    Runs,
    Run,
    /// Before the door, or where there is nothing.
    Nowhere,
}

impl Place {
    const fn title(self) -> &'static str {
        match self {
            Self::Overview => "Overview",
            Self::Groups => "Failures",
            Self::Group => "Failure",
            Self::Tools => "Tools",
            Self::Breakers => "Breakers",
            Self::Runs => "Runs",
            Self::Run => "Run",
            Self::Nowhere => "Breakfall",
        }
    }

    /// Where the choice of time leads: not everything has one.
    const fn with_period(self) -> Option<&'static str> {
        match self {
            Self::Overview => Some("/"),
            Self::Groups => Some("/groups"),
            Self::Tools => Some("/tools"),
            Self::Runs => Some("/runs"),
            Self::Group | Self::Breakers | Self::Run | Self::Nowhere => None,
        }
    }
}

/// The screens that one can go to, with their key.
const SCREENS: [(Place, &str, &str); 5] = [
    (Place::Overview, "/", "o"),
    (Place::Groups, "/groups", "f"),
    (Place::Tools, "/tools", "t"),
    (Place::Breakers, "/breakers", "b"),
    (Place::Runs, "/runs", "r"),
];

/// A whole page around a screen.
pub(crate) fn page(place: Place, asked: &Asked, body: &Markup) -> Markup {
    let is_at = |screen: Place| {
        screen == place
            || matches!((screen, place), (Place::Groups, Place::Group) | (Place::Runs, Place::Run))
    };
    let inside = place != Place::Nowhere;
    document(
        place,
        &html! {
            a.skip href="#main" { "Skip to the content" }
            header.top {
                a.brand href="/" {
                    img src="/assets/icon.svg" alt="" width="24" height="24";
                    span { "Breakfall" }
                }
                @if inside {
                    nav aria-label="Screens" {
                        @for (screen, path, key) in SCREENS {
                            a href=(elsewhere(asked, screen, path)) data-key=(key)
                                aria-current=[is_at(screen).then_some("page")] { (screen.title()) }
                        }
                    }
                }
                div.tools {
                    @if inside {
                        p #live role="status" aria-live="polite" { "not live" }
                        button #keys-button .scripted type="button" aria-haspopup="dialog" { "Keys" }
                    }
                    button #theme .scripted type="button" { "Dark" }
                }
            }
            @if inside { div #news role="log" aria-live="polite" aria-label="News" {} }
            main #main tabindex="-1" {
                @if let Some(path) = place.with_period() { (periods(asked, path)) }
                div #screen data-live="" { (body) }
            }
            @if inside { (keys()) }
        },
    )
}

/// The same time elsewhere; what else was asked for stays behind.
fn elsewhere(asked: &Asked, screen: Place, path: &str) -> String {
    match screen.with_period() {
        Some(_) => Asked { period: asked.period, ..Asked::of("") }.at(path),
        None => path.to_owned(),
    }
}

fn periods(asked: &Asked, path: &str) -> Markup {
    html! {
        nav.periods aria-label="Time" {
            @for period in Period::ALL {
                @let there = Asked { period, page: 1, ..asked.clone() };
                a href=(there.at(path)) aria-current=[(period == asked.period).then_some("true")] {
                    "Last " (period.words())
                }
            }
        }
    }
}

/// The head, and whatever body.
pub(crate) fn document(place: Place, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title {
                    (place.title())
                    @if place != Place::Nowhere { " · Breakfall" }
                }
                link rel="icon" href="/assets/icon.svg" type="image/svg+xml";
                link rel="stylesheet" href="/assets/page.css";
                script src="/assets/page.js" {}
            }
            body { (body) }
        }
    }
}

/// What the keyboard does.
fn keys() -> Markup {
    let table = [
        ("g then o", "go to the overview"),
        ("g then f", "go to the failures"),
        ("g then t", "go to the tools"),
        ("g then b", "go to the breakers"),
        ("g then r", "go to the runs"),
        ("j, k", "next, previous row"),
        ("Enter", "open the row"),
        ("/", "search"),
        ("d", "light or dark"),
        ("?", "this list"),
        ("Escape", "close it"),
    ];
    html! {
        dialog #keys aria-labelledby="keys-title" {
            h2 #keys-title { "Keys" }
            table {
                caption.hidden { "Keys and what they do" }
                tbody {
                    @for (key, does) in table {
                        tr { th scope="row" { kbd { (key) } } td { (does) } }
                    }
                }
            }
            label { input #keys-on type="checkbox" checked; " Use these keys" }
            form method="dialog" { button { "Close" } }
        }
    }
}
