//! What opens the page: a token, and what is made of it for a browser to keep.

use std::fmt;

use breakfall_http::is_same;
use ring::hmac;
use rustix::rand::{GetRandomFlags, getrandom};

use crate::error::Error;

/// The fewest characters of a token that somebody chose.
const SHORTEST: usize = 16;

/// What opens the page. It is never printed but in the link.
#[derive(Clone)]
pub struct Token {
    text: String,
    key: hmac::Key,
    is_chosen: bool,
}

impl Token {
    /// A token that nobody knows yet.
    pub fn random() -> Result<Self, Error> {
        let mut bytes = [0; 32];
        getrandom(&mut bytes, GetRandomFlags::empty())
            .map_err(|error| Error::Chance(error.into()))?;
        Ok(Self::of(hex(&bytes), false))
    }

    /// A token that somebody chose, for a page that stays where it is.
    pub fn chosen(text: &str) -> Result<Self, Error> {
        let fits = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_' | '.' | '~');
        if text.len() < SHORTEST || !text.chars().all(fits) {
            return Err(Error::Token { length: text.chars().count() });
        }
        Ok(Self::of(text.to_owned(), true))
    }

    fn of(text: String, is_chosen: bool) -> Self {
        let key = hmac::Key::new(hmac::HMAC_SHA256, text.as_bytes());
        Self { text, key, is_chosen }
    }

    /// Whether somebody chose it, and knows it.
    pub(crate) fn is_chosen(&self) -> bool {
        self.is_chosen
    }

    /// The text, for the link.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn is(&self, shown: &str) -> bool {
        is_same(shown.as_bytes(), self.text.as_bytes())
    }

    /// What a browser keeps instead of the token: it opens the page, and nothing else.
    pub(crate) fn session(&self) -> String {
        self.derived("session")
    }

    /// What an action must show: only a page of ours can know it.
    pub(crate) fn csrf(&self) -> String {
        self.derived("csrf")
    }

    fn derived(&self, purpose: &str) -> String {
        hex(hmac::sign(&self.key, purpose.as_bytes()).as_ref())
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

fn hex(bytes: &[u8]) -> String {
    use fmt::Write;
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_tokens_are_the_same_and_none_is_printed() {
        let (one, other) = (Token::random().unwrap(), Token::random().unwrap());
        assert_ne!(one.text(), other.text());
        assert_eq!(one.text().len(), 64);
        assert_ne!(one.session(), one.csrf());
        assert!(one.is(one.text()) && !one.is(other.text()) && !one.is(&one.session()));
        assert_eq!(format!("{one:?}"), "Token(…)");
    }

    #[test]
    fn a_token_that_can_be_guessed_is_refused() {
        for bad in ["", "short", "sixteen letters!!", "ümlaut-ümlaut-ümlaut"] {
            assert!(matches!(Token::chosen(bad), Err(Error::Token { .. })), "{bad}");
        }
        let chosen = Token::chosen("sixteen-letters~").unwrap();
        assert_eq!(chosen.session(), Token::chosen("sixteen-letters~").unwrap().session());
    }
}
