//! The signs that speak for a name or against it: its shape, and where it stands from the
//! decisive words.

use std::ops::Range;

use super::names::Shape;
use crate::classify::names;

/// How far from the decisive words, or from an end of the text, a name may stand.
pub(super) const REACH: usize = 400;

macro_rules! signs {
    ($($sign:ident $name:literal,)+) => {
        /// What may be so of a candidate.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Sign { $($sign,)+ }

        /// The signs by name, as the table of weights has them.
        pub(super) const SIGNS: &[(Sign, &str)] = &[$((Sign::$sign, $name),)+];
    };
}

signs! {
    Quoted "quoted",
    Bracketed "bracketed",
    InQuotes "in-quotes",
    Url "url",
    UrlOfStatus "url-of-status",
    Path "path",
    File "file",
    Port "port",
    Number "number",
    Code "code",
    Digits "digits",
    Joined "joined",
    Dotted "dotted",
    Camel "camel",
    Capital "capital",
    Upper "upper",
    Plain "plain",
    Mail "mail",
    Option "option",
    Type "type",
    Spaces "spaces",
    Odd "odd",
    Foreign "foreign",
    Long "long",
    LineStart "line-start",
    LineEnd "line-end",
    Alone "alone",
    WholeText "whole-text",
    First "first",
    ThenColon "then-colon",
    BehindColon "behind-colon",
    BehindType "behind-type",
    ThenLine "then-line",
    Frame "frame",
    Part "part",
    PartBehind "part-behind",
    Again "again",
    Form "form",
    Outside "outside",
    Field "field",
    Advice "advice",
    Before "before-phrase",
    Behind "behind-phrase",
    NearBefore "near-before",
    NearBehind "near-behind",
    FarBefore "far-before",
    FarBehind "far-behind",
    Above "above",
    Below "below",
    Within "within",
    Holds "holds",
    FirstQuote "first-quote",
    OnlyName "only-name",
    Time "time",
    Errcode "error-code",
    Program "program",
    Parens "parens",
    NextBefore "next-before",
    NextBehind "next-behind",
    LaterQuote "later-quote",
    BehindName "behind-name",
    OtherClause "other-clause",
    Extends "extends",
    WholeName "whole-name",
}

/// A set of signs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Signs(u64);

impl Signs {
    pub(super) fn add(&mut self, sign: Sign) {
        self.0 |= 1 << sign as u8;
    }

    pub(super) fn add_if(&mut self, holds: bool, sign: Sign) {
        if holds {
            self.add(sign);
        }
    }

    pub(super) fn has(self, sign: Sign) -> bool {
        self.0 & 1 << sign as u8 != 0
    }

    /// The signs in it, by their place in the list.
    pub(super) fn each(self) -> impl Iterator<Item = usize> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let next = left.trailing_zeros() as usize;
            left &= left.wrapping_sub(1);
            (next < 64).then_some(next)
        })
    }
}

impl Signs {
    /// Where it stands from the decisive words.
    pub(super) fn place(self) -> &'static str {
        let places = [
            (Sign::Within, "within"),
            (Sign::Behind, "behind"),
            (Sign::Before, "before it"),
            (Sign::BehindType, "behind type"),
            (Sign::NextBehind, "next behind"),
            (Sign::NextBefore, "next before"),
            (Sign::NearBehind, "near behind"),
            (Sign::NearBefore, "near before"),
            (Sign::Field, "field of"),
            (Sign::Outside, "outside of"),
        ];
        places.iter().find(|(sign, _)| self.has(*sign)).map_or("elsewhere", |(_, name)| name)
    }

    /// What it looks like.
    pub(super) fn look(self) -> &'static str {
        let looks = [
            (Sign::Form, "form"),
            (Sign::Type, "type"),
            (Sign::Time, "time"),
            (Sign::Errcode, "error code"),
            (Sign::Url, "url"),
            (Sign::Number, "number"),
            (Sign::Quoted, "quoted"),
            (Sign::Bracketed, "quoted"),
            (Sign::Path, "path"),
            (Sign::File, "file"),
            (Sign::Plain, "plain"),
            (Sign::Odd, "odd"),
        ];
        looks.iter().find(|(sign, _)| self.has(*sign)).map_or("name", |(_, name)| name)
    }
}

/// What a name looks like.
pub(super) fn shape(text: &str, status: bool, signs: &mut Signs) {
    let shape = Shape::of(text);
    signs.add_if(shape.url, Sign::Url);
    signs.add_if(shape.url && status, Sign::UrlOfStatus);
    signs.add_if(shape.path, Sign::Path);
    signs.add_if(shape.file, Sign::File);
    signs.add_if(shape.port, Sign::Port);
    signs.add_if(shape.number, Sign::Number);
    signs.add_if(shape.number && text.len() < 4, Sign::Code);
    signs.add_if(shape.digits && !shape.number, Sign::Digits);
    signs.add_if(shape.joined, Sign::Joined);
    signs.add_if(shape.dotted, Sign::Dotted);
    signs.add_if(shape.camel, Sign::Camel);
    signs.add_if(shape.capital, Sign::Capital);
    signs.add_if(shape.upper, Sign::Upper);
    signs.add_if(shape.plain, Sign::Plain);
    signs.add_if(shape.mail, Sign::Mail);
    signs.add_if(shape.odd, Sign::Odd);
    signs.add_if(text.starts_with('-'), Sign::Option);
    signs.add_if(text.contains(' '), Sign::Spaces);
    signs.add_if(!text.is_ascii(), Sign::Foreign);
    signs.add_if(text.len() > 80, Sign::Long);
    let coded = shape.joined && !shape.path && !shape.dotted || shape.camel;
    signs.add_if(names::is_type_name(text) || coded && names::tell(text).is_some(), Sign::Type);
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    signs.add_if(
        shape.upper
            && digits > 1
            && !shape.path
            && text.len() < 12
            && !text.contains(['_', '.', ':']),
        Sign::Errcode,
    );
    let time = |mark: u8| text.bytes().filter(|b| *b == mark).count() == 2;
    signs.add_if(
        text.starts_with(|c: char| c.is_ascii_digit())
            && (time(b'-') || time(b':') || time(b'/'))
            && !text.starts_with('/'),
        Sign::Time,
    );
}

/// Where a name stands on its line.
pub(super) fn on_line(text: &str, range: &Range<usize>, line: &Range<usize>, signs: &mut Signs) {
    let (left, right) = (&text[line.start..range.start], &text[range.end..line.end]);
    let (head, tail) = (left.trim_matches(is_mark), right.trim_matches(is_mark));
    signs.add_if(head.is_empty(), Sign::LineStart);
    signs.add_if(tail.is_empty(), Sign::LineEnd);
    signs.add_if(head.is_empty() && tail.is_empty(), Sign::Alone);
    signs.add_if(text.trim().len() == range.len(), Sign::WholeText);
    signs.add_if(line.start == 0 && head.is_empty(), Sign::First);
    let before = left.trim_end_matches(is_quote_or_space);
    let behind = right.trim_start_matches(is_quote_or_space);
    signs.add_if(before.ends_with([':', '：']), Sign::BehindColon);
    signs.add_if(
        behind == ":" || behind.starts_with(": ") || behind.starts_with('：'),
        Sign::ThenColon,
    );
    let numbered =
        behind.strip_prefix(':').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let framed = behind.trim_start_matches([',', '"', ' ']).starts_with("line ")
        || matches!(head, "at" | "File");
    signs.add_if(numbered || framed, Sign::Frame);
    signs.add_if(right.starts_with("`.`") || right.starts_with("'.'"), Sign::Part);
    signs.add_if(left.ends_with("`.`") || left.ends_with("'.'"), Sign::PartBehind);
    signs.add_if(left.trim_end_matches(is_quote).ends_with('('), Sign::Parens);
    signs.add_if(
        head.is_empty() && line.start > 0 && text[..line.start].trim_end().ends_with(':'),
        Sign::ThenLine,
    );
}

/// Where a name stands from words that speak of the kind.
pub(super) fn relate(
    text: &str,
    range: &Range<usize>,
    place: &Range<usize>,
    signs: &mut Signs,
    gaps: &mut [usize; 2],
) {
    let (between, [touching, near, far, line]) = if range.end <= place.start {
        (range.end..place.start, [Sign::Before, Sign::NearBefore, Sign::FarBefore, Sign::Above])
    } else if range.start >= place.end {
        (place.end..range.start, [Sign::Behind, Sign::NearBehind, Sign::FarBehind, Sign::Below])
    } else {
        let within = place.start <= range.start && range.end <= place.end;
        signs.add(if within { Sign::Within } else { Sign::Holds });
        return;
    };
    if between.len() > REACH {
        return;
    }
    let side = usize::from(range.start >= place.end);
    let between = &text[between];
    if !between.contains('\n') {
        gaps[side] = gaps[side].min(between.len());
        // Marks alone are no other clause: `x: not found`.
        let clause = side == 0 && between.trim_start_matches(is_mark).contains(": ");
        signs.add_if(clause, Sign::OtherClause);
    }
    signs.add(if between.contains('\n') {
        line
    } else if between.chars().all(|c| is_mark(c) || c == '-') {
        touching
    } else if between.len() < 60 && between.split_whitespace().count() < 5 {
        near
    } else {
        far
    });
}

pub(super) fn is_opening(c: char) -> bool {
    matches!(c, '(' | '[' | '{' | '<' | '"' | '\'' | '`' | '‘' | '“' | '„' | '«' | '「' | ',')
}

pub(super) fn is_closing(c: char) -> bool {
    matches!(
        c,
        ')' | ']'
            | '}'
            | '>'
            | '"'
            | '\''
            | '`'
            | '’'
            | '”'
            | '“'
            | '»'
            | '」'
            | ','
            | ';'
            | ':'
            | '!'
            | '?'
            | '。'
            | '：'
    )
}

pub(super) fn is_mark(c: char) -> bool {
    c.is_whitespace() || is_opening(c) || is_closing(c) || c == '.'
}

pub(super) fn is_mark_or_equals(c: char) -> bool {
    is_mark(c) || c == '='
}

fn is_quote(c: char) -> bool {
    matches!(c, '"' | '\'' | '`' | '‘' | '“')
}

fn is_quote_or_space(c: char) -> bool {
    c != ':' && c != '：' && is_mark(c) && c != '.'
}
