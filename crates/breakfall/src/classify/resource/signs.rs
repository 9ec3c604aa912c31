//! The signs that speak for a name or against it: its shape, and where it stands from the
//! decisive words.

use std::ops::Range;

use super::letters::{
    BEYOND, COLON, DIGIT, DOT, HYPHEN, LOWER, MARK, MARK_OR_HYPHEN, QUOTE, QUOTE_OR_SPACE, SLASH,
    SPACE, UNDERSCORE, UPPER,
};
use super::names::Shape;
use super::scene::{Scene, Spot};
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

    pub(super) fn add_all(&mut self, signs: Signs) {
        self.0 |= signs.0;
    }

    pub(super) fn remove(&mut self, signs: &[Sign]) {
        for sign in signs {
            self.0 &= !(1 << *sign as u8);
        }
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

/// Where a name stands from the decisive words: the first that holds.
pub(super) const STANDS: [(Option<Sign>, &str); 11] = [
    (Some(Sign::Within), "within"),
    (Some(Sign::Behind), "behind"),
    (Some(Sign::Before), "before it"),
    (Some(Sign::BehindType), "behind type"),
    (Some(Sign::NextBehind), "next behind"),
    (Some(Sign::NextBefore), "next before"),
    (Some(Sign::NearBehind), "near behind"),
    (Some(Sign::NearBefore), "near before"),
    (Some(Sign::Field), "field of"),
    (Some(Sign::Outside), "outside of"),
    (None, "elsewhere"),
];

/// What a name looks like: the first that holds.
pub(super) const LOOKS: [(Option<Sign>, &str); 13] = [
    (Some(Sign::Form), "form"),
    (Some(Sign::Type), "type"),
    (Some(Sign::Time), "time"),
    (Some(Sign::Errcode), "error code"),
    (Some(Sign::Url), "url"),
    (Some(Sign::Number), "number"),
    (Some(Sign::Quoted), "quoted"),
    (Some(Sign::Bracketed), "quoted"),
    (Some(Sign::Path), "path"),
    (Some(Sign::File), "file"),
    (Some(Sign::Plain), "plain"),
    (Some(Sign::Odd), "odd"),
    (None, "name"),
];

impl Signs {
    /// Which of a list is the first that holds.
    pub(super) fn first_of(self, list: &[(Option<Sign>, &str)]) -> usize {
        let holds = |(sign, _): &(Option<Sign>, &str)| sign.is_none_or(|sign| self.has(sign));
        list.iter().position(holds).unwrap_or(list.len() - 1)
    }
}

/// What a name looks like.
pub(super) fn shape(text: &str, sorts: u16, status: bool, signs: &mut Signs) {
    signs.add_if(text.len() > 80, Sign::Long);
    // Of one sort of letters alone, there is little to tell.
    if sorts == LOWER {
        signs.add(Sign::Plain);
        return;
    }
    if sorts == DIGIT {
        signs.add(Sign::Number);
        signs.add_if(text.len() < 4, Sign::Code);
        return;
    }
    let shape = Shape::made_of(text, sorts);
    let has = |sort: u16| sorts & sort != 0;
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
    signs.add_if(has(SPACE) && text.contains(' '), Sign::Spaces);
    signs.add_if(has(BEYOND), Sign::Foreign);
    let coded = shape.joined && !shape.path && !shape.dotted || shape.camel;
    let typed = has(UPPER | UNDERSCORE) && names::is_type_name(text);
    signs.add_if(typed || coded && names::tell(text).is_some(), Sign::Type);
    let code = shape.upper && has(DIGIT) && !has(SLASH | UNDERSCORE | DOT | COLON);
    let digits = || text.bytes().filter(u8::is_ascii_digit).count();
    signs.add_if(code && text.len() < 12 && digits() > 1, Sign::Errcode);
    let time = |mark: u8| text.bytes().filter(|b| *b == mark).count() == 2;
    signs.add_if(
        has(HYPHEN | COLON | SLASH)
            && text.starts_with(|c: char| c.is_ascii_digit())
            && (time(b'-') || time(b':') || time(b'/')),
        Sign::Time,
    );
}

/// Where a name stands on its line.
pub(super) fn on_line(scene: &Scene, range: &Range<usize>, line: &Range<usize>, signs: &mut Signs) {
    let text = scene.text;
    let (left, right) = (&text[line.start..range.start], &text[range.end..line.end]);
    let before = QUOTE_OR_SPACE.trim_end(left);
    let behind = QUOTE_OR_SPACE.trim_start(right);
    let (opens, ends) = (MARK.are_all_of(before), MARK.are_all_of(behind));
    signs.add_if(opens, Sign::LineStart);
    signs.add_if(ends, Sign::LineEnd);
    signs.add_if(opens && ends, Sign::Alone);
    signs.add_if(scene.trimmed == range.len(), Sign::WholeText);
    signs.add_if(line.start == 0 && opens, Sign::First);
    signs.add_if(before.ends_with([':', '：']), Sign::BehindColon);
    let then = behind.strip_prefix(':');
    let ends_clause = then.is_some_and(|then| then.is_empty() || then.starts_with(' '));
    signs.add_if(ends_clause || behind.starts_with('：'), Sign::ThenColon);
    let numbered = then.is_some_and(|then| then.starts_with(|c: char| c.is_ascii_digit()));
    let framed = behind.starts_with("line ") || matches!(MARK.trim(before), "at" | "File");
    signs.add_if(numbered || framed, Sign::Frame);
    signs.add_if(right.starts_with("`.`") || right.starts_with("'.'"), Sign::Part);
    signs.add_if(left.ends_with("`.`") || left.ends_with("'.'"), Sign::PartBehind);
    let quoted = before.len() < left.len();
    signs.add_if(quoted && QUOTE.trim_end(left).ends_with('('), Sign::Parens);
    signs.add_if(
        opens && line.start > 0 && text[..line.start].trim_end().ends_with(':'),
        Sign::ThenLine,
    );
}

/// Where a name stands from words that speak of the kind.
pub(super) fn relate(
    scene: &Scene,
    name: &Spot,
    place: &Spot,
    signs: &mut Signs,
    gaps: &mut [usize; 2],
) {
    let (range, spoken) = (&name.range, &place.range);
    let (between, words, [touching, near, far, line]) = if range.end <= spoken.start {
        let signs = [Sign::Before, Sign::NearBefore, Sign::FarBefore, Sign::Above];
        (range.end..spoken.start, place.before.saturating_sub(name.behind), signs)
    } else if range.start >= spoken.end {
        let signs = [Sign::Behind, Sign::NearBehind, Sign::FarBehind, Sign::Below];
        (spoken.end..range.start, name.before.saturating_sub(place.behind), signs)
    } else {
        let within = spoken.start <= range.start && range.end <= spoken.end;
        signs.add(if within { Sign::Within } else { Sign::Holds });
        return;
    };
    if between.len() > REACH {
        return;
    }
    if scene.breaks(&between) {
        signs.add(line);
        return;
    }
    let side = usize::from(range.start >= spoken.end);
    gaps[side] = gaps[side].min(between.len());
    if side == 0 && !signs.has(Sign::OtherClause) && scene.is_other_clause(&between) {
        // Marks alone are no other clause: `x: not found`.
        let said = between.end - MARK.trim_start(&scene.text[between.clone()]).len();
        signs.add_if(scene.is_other_clause(&(said..between.end)), Sign::OtherClause);
    }
    let touches = MARK_OR_HYPHEN.may_be_all_of(&scene.text.as_bytes()[between.clone()])
        && MARK_OR_HYPHEN.are_all_of(&scene.text[between.clone()]);
    signs.add(if touches {
        touching
    } else if between.len() < 60 && words < 5 {
        near
    } else {
        far
    });
}
