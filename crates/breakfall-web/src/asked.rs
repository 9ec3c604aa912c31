//! What an address asks for: pairs, decoded; and addresses that ask for it again.

use breakfall_store::{Sort, State, Wanted};

/// How many groups a screen has.
pub(crate) const PAGE: u32 = 50;

/// The longest value that is looked at.
const LONGEST: usize = 1024;

/// The pairs of a query, as they are written.
pub(crate) fn pairs(query: &str) -> impl Iterator<Item = (&str, &str)> {
    query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")))
}

/// A value without its escapes. What is none stays as it is.
pub(crate) fn decoded(value: &str) -> String {
    // An escaped letter takes up to twelve.
    let value = &value[..value.floor_char_boundary(12 * LONGEST)];
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let [first, after @ ..] = rest {
        let digit = |at: usize| after.get(at).and_then(|it| (*it as char).to_digit(16));
        match (first, digit(0), digit(1)) {
            (b'%', Some(high), Some(low)) => {
                bytes.push(u8::try_from(high * 16 + low).unwrap_or_default());
                rest = &after[2..];
            }
            (b'+', _, _) => {
                bytes.push(b' ');
                rest = after;
            }
            (other, _, _) => {
                bytes.push(*other);
                rest = after;
            }
        }
    }
    // As the store keeps it: no database takes every letter.
    let text = String::from_utf8_lossy(&bytes).replace('\0', "\u{fffd}");
    text[..text.floor_char_boundary(LONGEST)].to_owned()
}

/// A value as it stands in an address.
pub(crate) fn encoded(value: &str) -> String {
    use std::fmt::Write;
    value.bytes().fold(String::with_capacity(value.len()), |mut text, byte| {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            text.push(byte as char);
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
        text
    })
}

/// How far back one looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Period {
    Hour,
    #[default]
    Day,
    Week,
}

impl Period {
    pub(crate) const ALL: [Self; 3] = [Self::Hour, Self::Day, Self::Week];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Hour => "1h",
            Self::Day => "24h",
            Self::Week => "7d",
        }
    }

    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Hour => "hour",
            Self::Day => "24 hours",
            Self::Week => "7 days",
        }
    }

    pub(crate) const fn millis(self) -> i64 {
        const HOUR: i64 = 60 * 60 * 1000;
        match self {
            Self::Hour => HOUR,
            Self::Day => 24 * HOUR,
            Self::Week => 7 * 24 * HOUR,
        }
    }
}

/// What is asked for. What makes no sense is not asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    pub(crate) period: Period,
    pub(crate) text: String,
    pub(crate) upstream: String,
    pub(crate) tool: String,
    pub(crate) kind: String,
    pub(crate) state: Option<State>,
    pub(crate) sort: Sort,
    pub(crate) page: u32,
    pub(crate) run: String,
}

impl Asked {
    pub(crate) fn of(query: &str) -> Self {
        let mut asked = Self { state: Some(State::Open), page: 1, ..Self::default() };
        for (name, value) in pairs(query) {
            let value = decoded(value);
            match name {
                "period" => {
                    let known = Period::ALL.into_iter().find(|period| period.name() == value);
                    asked.period = known.unwrap_or_default();
                }
                "q" => value.trim().clone_into(&mut asked.text),
                "upstream" => asked.upstream = value,
                "tool" => asked.tool = value,
                "kind" => asked.kind = value,
                "state" => asked.state = state(&value),
                "sort" => asked.sort = sort(&value),
                "page" => asked.page = value.parse().unwrap_or(1).clamp(1, 10_000),
                "run" => asked.run = value,
                _ => {}
            }
        }
        asked
    }

    pub(crate) fn since(&self, now: i64) -> i64 {
        now - self.period.millis()
    }

    pub(crate) fn wanted(&self, now: i64) -> Wanted {
        let some = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        Wanted {
            since: self.since(now),
            state: self.state,
            upstream: some(&self.upstream),
            tool: some(&self.tool),
            kind: some(&self.kind),
            text: some(&self.text),
            sort: self.sort,
            from: (self.page - 1) * PAGE,
            most: PAGE,
        }
    }

    /// Whether anything but the time is asked for.
    pub(crate) fn is_narrow(&self) -> bool {
        let texts = [&self.text, &self.upstream, &self.tool, &self.kind];
        texts.iter().any(|text| !text.is_empty()) || self.state != Some(State::Open)
    }

    /// The address that asks for it, at a path.
    pub(crate) fn at(&self, path: &str) -> String {
        let state = self.state.map_or("all", State::name);
        let page = self.page.to_string();
        let pairs = [
            ("period", self.period.name(), Period::default().name()),
            ("q", &self.text, ""),
            ("upstream", &self.upstream, ""),
            ("tool", &self.tool, ""),
            ("kind", &self.kind, ""),
            ("state", state, State::Open.name()),
            ("sort", sort_name(self.sort), sort_name(Sort::default())),
            ("page", &page, "1"),
            ("run", &self.run, ""),
        ];
        let said: Vec<String> = pairs
            .into_iter()
            .filter(|(_, value, usual)| value != usual)
            .map(|(name, value, _)| format!("{name}={}", encoded(value)))
            .collect();
        if said.is_empty() { path.to_owned() } else { format!("{path}?{}", said.join("&")) }
    }
}

/// A state by its name; nothing for any of them.
pub(crate) fn state(name: &str) -> Option<State> {
    [State::Open, State::Resolved, State::Ignored].into_iter().find(|state| state.name() == name)
}

pub(crate) const SORTS: [Sort; 4] = [Sort::Count, Sort::Rate, Sort::Last, Sort::New];

pub(crate) const fn sort_name(sort: Sort) -> &'static str {
    match sort {
        Sort::Count => "count",
        Sort::Rate => "share",
        Sort::Last => "last",
        Sort::New => "new",
    }
}

fn sort(name: &str) -> Sort {
    SORTS.into_iter().find(|sort| sort_name(*sort) == name).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_asks_for_what_it_was_made_of() {
        let asked = Asked {
            period: Period::Week,
            text: "50% & more?".into(),
            tool: "räd/file".into(),
            state: None,
            sort: Sort::Rate,
            page: 3,
            ..Asked::default()
        };
        let address = asked.at("/groups");
        assert_eq!(
            address,
            "/groups?period=7d&q=50%25%20%26%20more%3F&tool=r%C3%A4d%2Ffile&state=all&sort=share&page=3"
        );
        let again = Asked::of(address.split_once('?').unwrap_or_default().1);
        assert_eq!(format!("{again:?}"), format!("{asked:?}"));
        assert_eq!(Asked::of("").at("/groups"), "/groups");
    }

    #[test]
    fn what_makes_no_sense_is_not_asked_for() {
        let asked = Asked::of("page=-1&period=9y&sort=x&state=%zz&q=%ff+%4&&=&nonsense");
        assert_eq!((asked.page, asked.period, asked.sort), (1, Period::Day, Sort::Count));
        assert_eq!((asked.state, asked.text.as_str()), (None, "\u{fffd} %4"));
        assert_eq!(Asked::of(&format!("q={}", "x".repeat(100_000))).text.len(), LONGEST);
        assert_eq!(Asked::of("page=99999999999").page, 1);
    }
}
