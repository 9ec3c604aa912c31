//! What a failure is about: the path, URL, table, branch or name that is missing, denied or in
//! the way. Every name in the text is weighed by its signs; the heaviest wins, or none.

mod among;
mod candidates;
mod code;
mod forms;
mod letters;
mod nameless;
mod names;
mod parts;
mod scene;
mod signs;
mod vocabulary;
mod weights;

use std::ops::Range;

pub(super) use forms::patterns;
pub(super) use nameless::is_of_nothing;

use super::body::Body;
use super::pattern::Marked;
use super::phrases::{BUILT_IN, Spoken, joined};
use super::pieces::Pieces;
use super::quotes::Quotes;
use crate::FailureKind;

/// How much of a text around the decisive part is looked at.
const AROUND: usize = 1 << 10;

/// An error of which the kind is known.
pub(super) struct About<'t> {
    pub(super) kind: FailureKind,
    /// What the body says, or the decisive part of the text.
    pub(super) said: &'t str,
    /// The same marked, where that is known.
    pub(super) marked: Option<Marked<'t>>,
    /// The words of it, where they are known.
    pub(super) pieces: Option<&'t Pieces<'t>>,
    pub(super) quotes: &'t Quotes,
    pub(super) body: Option<&'t Body>,
    pub(super) status: Option<u16>,
    /// The code that decided on the kind, as it is said.
    pub(super) code: Option<&'t str>,
    /// Where it speaks of the kind.
    places: Vec<Range<usize>>,
    /// What stands around the decisive part.
    around: Vec<&'t str>,
}

impl<'t> About<'t> {
    /// `None` for a kind that is about nothing.
    pub(super) fn new(
        kind: FailureKind,
        said: &'t str,
        quotes: &'t Quotes,
        spoken: &Spoken,
    ) -> Option<Self> {
        is_about(kind).then(|| {
            let (places, around) = (speaks(kind, said, spoken), Vec::new());
            let (marked, pieces, body, status, code) = (None, None, None, None, None);
            Self { kind, said, marked, pieces, quotes, body, status, code, places, around }
        })
    }

    /// With the place that decided on the kind.
    pub(super) fn decided_by(&mut self, place: Option<Range<usize>>) {
        if let Some(place) = place {
            self.places.push(place);
            self.places = joined(std::mem::take(&mut self.places));
        }
    }

    /// With a text that stands around the decisive part.
    pub(super) fn with_around(mut self, text: &'t str) -> Self {
        let text = &text[text.ceil_char_boundary(text.len().saturating_sub(AROUND))..];
        if !text.trim().is_empty() {
            self.around.push(text);
        }
        self
    }

    /// The resource.
    pub(super) fn resource(&self) -> Option<String> {
        weights::heaviest(self)
    }

    /// Every candidate with the names of its signs, and first what speaks for none: what the
    /// weights are learned from.
    pub(super) fn signs(&self) -> Vec<(String, Vec<String>)> {
        weights::signs(self)
    }
}

fn speaks(kind: FailureKind, text: &str, spoken: &Spoken) -> Vec<Range<usize>> {
    if kind != FailureKind::InvalidArguments {
        return BUILT_IN.places(kind, spoken);
    }
    // An argument may name what is missing, or a directory where a file belongs.
    let mut places = BUILT_IN.places(FailureKind::NotFound, spoken);
    let own = BUILT_IN.places(kind, spoken).into_iter();
    places.extend(own.filter(|place| {
        let words = text[place.clone()].to_ascii_lowercase();
        words.contains("directory") || DIRECTORIES.iter().any(|foreign| words.contains(foreign))
    }));
    joined(places)
}

/// How what a directory is called ends, in languages other than English.
const DIRECTORIES: &[&str] = &[
    "erzeichnis",
    "ossier",
    "irectorio",
    "iretório",
    "аталог",
    "atalog",
    "dresář",
    "önyvtár",
    "izin",
    "ディレクトリ",
    "目录",
    "目錄",
    "디렉",
];

/// Whether a failure of this kind may be about a resource.
fn is_about(kind: FailureKind) -> bool {
    use FailureKind as K;
    matches!(
        kind,
        K::NotFound
            | K::Permission
            | K::Conflict
            | K::Precondition
            | K::UnknownTool
            | K::Unavailable
            | K::InvalidArguments
    )
}

#[cfg(test)]
mod tests {
    use crate::{Evidence, Reader};

    fn resource(text: &str) -> Option<String> {
        Reader::default().read(&Evidence { text, ..Evidence::default() }).resource
    }

    #[test]
    fn the_thing_is_named_wherever_it_stands() {
        for (text, expected) in [
            // Before the words, behind them, in a field, on a line of its own.
            ("frobnicate: data/in.csv: No such file or directory", "data/in.csv"),
            ("cannot open data/in.csv: permission denied", "data/in.csv"),
            ("file not found: data/in.csv", "data/in.csv"),
            ("Error: widget \"left-arm\" does not exist in project \"robot\"", "left-arm"),
            (
                "{\"code\": \"not_found\", \"message\": \"no such widget\", \"data\": {\"uri\": \"widget://7\"}}",
                "widget://7",
            ),
            ("Failed to open input: \n   none.pdf\nno such file", "none.pdf"),
            // The thing, not who asked for it.
            ("User \"ada\" is not allowed to write to table \"ledger\"", "ledger"),
            (
                "Permission denied: user=etl, access=WRITE, inode=\"/warehouse/raw\":hdfs",
                "/warehouse/raw",
            ),
            // The URL, not the status.
            (
                "fetching http://shop.example/v1/carts/9 failed: 404 Not Found",
                "http://shop.example/v1/carts/9",
            ),
            // Python's bytes are quoted too.
            ("error: repository b'/data/none/' does not exist", "/data/none/"),
            // The cause is bare, its wrapper tells of what.
            (
                "Error: IO error for operation on /srv/media/raw: No such file or directory (os error 2)\n\nCaused by:\n    No such file or directory (os error 2)",
                "/srv/media/raw",
            ),
        ] {
            assert_eq!(resource(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_not_named_is_not_made_up() {
        for text in [
            "permission denied",
            "Access is denied.",
            "the file was not found",
            "connection refused by 10.0.0.7:80",
            "Could not find exact match for edit",
        ] {
            assert_eq!(resource(text), None, "{text}");
        }
    }

    #[test]
    fn a_line_without_end_is_weighed_in_bounds() {
        let text = format!("not found: {}", "x/y=z(a:1) ".repeat(2_000));
        let started = std::time::Instant::now();
        let _ = resource(&text);
        assert!(started.elapsed() < std::time::Duration::from_secs(2), "{:?}", started.elapsed());
    }
}
