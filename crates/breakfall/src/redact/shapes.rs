//! The shapes of secrets: read once from a table, each compiled when its keyword first occurs.

mod beginnings;

use std::sync::{LazyLock, OnceLock};

use beginnings::Beginning;
use regex_automata::Input;
use regex_automata::meta::Regex;
use serde::Deserialize;

use super::Span;
use super::entropy::{entropy, is_mask, is_placeholder};
use super::places;
use crate::Error;
use crate::expression::{ascii, first_group, group};
use crate::keywords::Keywords;

/// How far before a keyword a shape may begin.
const BEFORE: usize = 160;

/// How far behind a keyword a shape is looked for; it is extended to the end of the word.
const BEHIND: usize = 800;

/// How much may stand between a keyword and a sign: the rest of the name and what follows it.
const BETWEEN: usize = 128;

/// How long a word may be.
const WORD: usize = 64 << 10;

/// What ends a token: nothing that could be a part of it.
const END: &str = r"(?:[^\w.\-/+=]|\.(?:[^\w]|$)|\\[nr]|$)";

/// The same for what is known by itself: a path may go on behind it.
const TOKEN_END: &str = r"(?:[^\w.\-+]|\.(?:[^\w]|$)|\\[nr]|$)";

/// Keys that stand in public documents and open nothing, by fingerprint.
const PUBLIC: &[u32] = &[
    0x739d_dd87,
    0xf095_1274,
    0x0af7_ca9d,
    0x4e13_51cb,
    0xb878_2c2e,
    0x965b_d60a,
    0x1845_a427,
    0x00d9_b068,
    0xaf8f_ab00,
    0x722e_f8d0,
    0xc8a5_10e9,
    0x1751_c16c,
    0xf50c_0e72,
    0x6a41_f911,
    0x8ee1_d847,
    0xb188_7211,
];

/// One shape.
pub(super) struct Shape {
    pub(super) name: String,
    least_entropy: f32,
    /// A run of letters alone is a name in somebody's code.
    needs_digit: bool,
    /// What stands in a place for secrets may be a word that only stands in for one.
    in_a_place: bool,
    /// The longest name beside which it stands, where its keywords are parts of these names: then
    /// a keyword that no sign follows announces nothing.
    named: Option<usize>,
    /// How it goes on, where the keyword is its beginning: then it has no pattern.
    begins: Option<Beginning>,
    pattern: String,
    /// The group that is the secret, where it is not the first.
    group: Option<usize>,
    regex: OnceLock<Option<Regex>>,
    /// Built in, or the user's own.
    allowed: Vec<Regex>,
    stopwords: Vec<String>,
}

/// Shapes behind one scan for their keywords.
pub(super) struct Shapes {
    all: Vec<Shape>,
    keywords: Keywords,
    /// For each keyword, the shapes that it may announce.
    announced: Vec<Vec<u16>>,
    /// How many keywords are the shapes' own; the others follow.
    own: usize,
}

/// The shapes of the table; their scan also looks for what may announce a place.
pub(super) static BUILT_IN: LazyLock<Shapes> = LazyLock::new(|| {
    let shapes = include_str!("shapes.tsv").lines().filter_map(read).collect();
    Shapes::new(shapes, places::MARKS)
});

/// A rule of the user's own, with the field names of gitleaks.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SecretRule {
    /// What the secret is called in its replacement.
    pub id: String,
    /// Where it stands; the first group is the secret, the whole match where there is none.
    pub regex: String,
    /// The group that is the secret, where it is not the first.
    pub secret_group: Option<usize>,
    /// One of these must stand in the text, whatever its case; none means always.
    pub keywords: Vec<String>,
    /// How random the secret must be, in bits a character.
    pub entropy: f32,
    /// What is no secret although it matches.
    #[serde(alias = "allowlist")]
    pub allowlists: Vec<Allowlist>,
}

/// What is no secret although it matches.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Allowlist {
    /// Expressions for the secret.
    pub regexes: Vec<String>,
    /// Words in the secret.
    pub stopwords: Vec<String>,
}

impl SecretRule {
    pub(super) fn announced(&self) -> Result<Announced, Error> {
        let compiled = |pattern: &String| {
            compile(pattern).ok_or_else(|| Error::SecretRule {
                id: self.id.clone(),
                pattern: pattern.chars().take(80).collect(),
            })
        };
        let regex = compiled(&self.regex)?;
        let allowed = self.allowlists.iter().flat_map(|list| &list.regexes).map(compiled);
        let shape = Shape {
            name: self.id.clone(),
            least_entropy: self.entropy,
            needs_digit: false,
            in_a_place: false,
            named: None,
            begins: None,
            pattern: self.regex.clone(),
            group: self.secret_group,
            regex: OnceLock::from(Some(regex)),
            allowed: allowed.collect::<Result<_, _>>()?,
            stopwords: self
                .allowlists
                .iter()
                .flat_map(|list| &list.stopwords)
                .map(|word| word.to_ascii_lowercase())
                .collect(),
        };
        // The empty keyword stands everywhere.
        let keywords =
            if self.keywords.is_empty() { vec![String::new()] } else { self.keywords.clone() };
        Ok((shape, keywords))
    }
}

/// A shape and the keywords that announce it.
pub(super) type Announced = (Shape, Vec<String>);

fn read(line: &str) -> Option<Announced> {
    let mut fields = line.split('\t');
    let form = fields.next().filter(|form| !form.starts_with('#'))?;
    let (name, least, keywords) = (fields.next()?, fields.next()?, fields.next()?);
    let (names, shape) = (fields.next()?, fields.next()?);
    let pattern = match form {
        "beside" => format!(
            r#"(?i)(?:{names})[ \t\w.\-]{{0,20}}[\s'"]{{0,3}}(?:=>|:{{1,3}}=|\?=|\|\||[=>:,])[\x60'"\s=]{{0,5}}({shape}){END}"#
        ),
        // A line break that is written out is no part of a word.
        "token" | "prefix" => format!(r"(?:\b|\\[nrt])({shape}){TOKEN_END}"),
        "any" => format!("({shape})"),
        _ => shape.to_owned(),
    };
    let shape = Shape {
        name: name.to_owned(),
        least_entropy: least.parse().unwrap_or(0.0),
        in_a_place: matches!(form, "place" | "told"),
        named: if form == "beside" { longest_name(names, keywords) } else { None },
        needs_digit: (matches!(form, "token" | "prefix" | "told") || names == "numbered")
            && !["huggingface", "aws-"].iter().any(|known| name.starts_with(known)),
        begins: (form == "begins").then(|| Beginning::read(keywords, names, shape)),
        pattern,
        group: None,
        regex: OnceLock::new(),
        allowed: Vec::new(),
        stopwords: Vec::new(),
    };
    Some((shape, keywords.split(',').map(ToOwned::to_owned).collect()))
}

/// The longest of plain names, where each holds a keyword.
fn longest_name(names: &str, keywords: &str) -> Option<usize> {
    let plain = |name: &str| name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b));
    let announced = |name: &str| {
        let name = name.to_ascii_lowercase();
        keywords.split(',').any(|keyword| !keyword.is_empty() && name.contains(keyword))
    };
    let known = names.split('|').all(|name| plain(name) && announced(name));
    names.split('|').map(str::len).max().filter(|_| known)
}

/// Whether a sign that assigns follows a name, with no more between them than a shape beside a
/// name allows.
fn assigns(text: &str, from: usize) -> bool {
    let between = |byte: &&u8| {
        byte.is_ascii_alphanumeric() || byte.is_ascii_whitespace() || b"_.-'\"\x0b".contains(byte)
    };
    let rest = &text.as_bytes()[from..text.len().min(from + BETWEEN)];
    let length = rest.iter().take_while(between).count();
    rest.get(length).is_none_or(|byte| b"=>:,|?".contains(byte))
}

impl Shapes {
    /// Shapes with the keywords that announce them, behind other words that one scan also finds.
    pub(super) fn new(announced: Vec<Announced>, others: &[&str]) -> Self {
        let mut keywords: Vec<String> = Vec::new();
        let mut by_keyword: Vec<Vec<u16>> = Vec::new();
        let mut shapes = Vec::new();
        for (index, (shape, announces)) in announced.into_iter().enumerate() {
            for keyword in announces {
                let at = keywords.iter().position(|known| *known == keyword).unwrap_or_else(|| {
                    keywords.push(keyword);
                    by_keyword.push(Vec::new());
                    keywords.len() - 1
                });
                by_keyword[at].push(u16::try_from(index).unwrap_or(u16::MAX));
            }
            shapes.push(shape);
        }
        let own = keywords.len();
        by_keyword.resize_with(keywords.len() + others.len(), Vec::new);
        keywords.extend(others.iter().map(|&word| word.to_owned()));
        let keywords = Keywords::new(keywords.iter().map(String::as_str), true);
        Self { all: shapes, keywords, announced: by_keyword, own }
    }

    /// Every secret of these shapes in a text. What else the scan finds is handed on: which of
    /// the other words it is, and where it begins.
    pub(super) fn find<'s>(
        &'s self,
        text: &str,
        found: &mut Vec<Span<'s>>,
        mut other: impl FnMut(usize, usize),
    ) {
        // Where each shape was last looked for, so that no place is looked at twice.
        let mut looked: Vec<(u16, usize)> = Vec::new();
        self.keywords.each(text, |keyword, start, end| {
            if let Some(nth) = keyword.checked_sub(self.own) {
                other(nth, start);
            }
            for &index in &self.announced[keyword] {
                let shape = &self.all[usize::from(index)];
                if let Some(begins) = &shape.begins {
                    if let Some(end) = begins.end(text, start, end) {
                        shape.take(text, start, end, found);
                    }
                    continue;
                }
                if shape.named.is_some() && !assigns(text, end) {
                    continue;
                }
                let before = shape.named.unwrap_or(BEFORE);
                let from = match looked.iter_mut().find(|(known, _)| *known == index) {
                    Some((_, until)) if start < *until => continue,
                    Some((_, until)) => {
                        let from = (*until).max(start.saturating_sub(before));
                        *until = window_end(text, end);
                        from
                    }
                    None => {
                        looked.push((index, window_end(text, end)));
                        start.saturating_sub(before)
                    }
                };
                shape.find(text, from, window_end(text, end), found);
            }
        });
    }
}

/// The end of the word that stands some way behind a keyword.
fn window_end(text: &str, hit: usize) -> usize {
    let near = (hit + BEHIND).min(text.len());
    let rest = &text.as_bytes()[near..text.len().min(near + WORD)];
    near + rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len())
}

impl Shape {
    fn find<'s>(&'s self, text: &str, from: usize, until: usize, found: &mut Vec<Span<'s>>) {
        let Some(regex) = self.regex.get_or_init(|| compile(&self.pattern)).as_ref() else {
            return;
        };
        let mut captures = regex.create_captures();
        let mut at = from;
        while at < until {
            regex.search_captures(&Input::new(text.as_bytes()).range(at..until), &mut captures);
            let told = self.group.and_then(|number| group(&captures, number));
            let Some((secret, whole)) = told.or_else(|| first_group(&captures)) else { break };
            at = secret.end.max(whole.start + 1);
            let (start, end) =
                (text.ceil_char_boundary(secret.start), text.floor_char_boundary(secret.end));
            self.take(text, start, end, found);
        }
    }

    fn take<'s>(&'s self, text: &str, start: usize, end: usize, found: &mut Vec<Span<'s>>) {
        if start < end && self.is_secret(&text[start..end]) {
            found.push(Span { start, end, name: &self.name });
        }
    }

    fn is_secret(&self, text: &str) -> bool {
        let stands_in = if self.in_a_place { is_placeholder(text) } else { is_mask(text) };
        entropy(text) >= self.least_entropy
            && !stands_in
            && (!self.needs_digit || text.bytes().any(|byte| byte.is_ascii_digit()))
            && !text.ends_with("EXAMPLE")
            && !PUBLIC.contains(&super::fingerprint(text))
            && !self.allowed.iter().any(|regex| regex.is_match(text.as_bytes()))
            && !self.stopwords.iter().any(|word| text.to_ascii_lowercase().contains(word.as_str()))
    }
}

/// Small caches: larger ones cost twice the memory and are no faster.
fn compile(pattern: &str) -> Option<Regex> {
    Regex::builder()
        .syntax(ascii())
        .configure(
            Regex::config()
                .utf8_empty(false)
                .nfa_size_limit(Some(4 << 20))
                .hybrid_cache_capacity(15 << 10)
                .onepass_size_limit(Some(16 << 10)),
        )
        .build(pattern)
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every text with a name of the table, something between, a sign or none, and a value.
    fn texts() -> Vec<String> {
        let mut texts = Vec::new();
        for name in ["password", "administrator_login_password", "asana", "xray", "linkedin"] {
            for between in ["", " ", "_token ", "-api.key\"", "\t'  ", " is not set", "\n", " (x) "]
            {
                for sign in ["=", ": ", "=>", ":=", "||", ",", "?=", " ", "-"] {
                    for value in ["\"hunter2-hunter2\"", "0123456789abcdef0123456789abcd9f"] {
                        texts.push(format!(
                            "the {name}{between}{sign}{value} was {name} {sign}{value}"
                        ));
                    }
                }
            }
        }
        texts
    }

    #[test]
    fn a_keyword_without_a_sign_hides_no_secret() {
        let read = || include_str!("shapes.tsv").lines().filter_map(read);
        let (quick, mut slow) = (Shapes::new(read().collect(), &[]), read().collect::<Vec<_>>());
        assert!(slow.iter().filter(|(shape, _)| shape.named.is_some()).count() > 50);
        for (shape, _) in &mut slow {
            shape.named = None;
        }
        let slow = Shapes::new(slow, &[]);
        for text in texts() {
            let (mut one, mut other) = (Vec::new(), Vec::new());
            quick.find(&text, &mut one, |_, _| {});
            slow.find(&text, &mut other, |_, _| {});
            let key = |span: &Span| (span.start, span.end, span.name.to_owned());
            one.sort_by_key(key);
            other.sort_by_key(key);
            assert_eq!(one, other, "{text}");
        }
    }
}
