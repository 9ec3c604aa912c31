//! Names under which secrets stand, and names that only look like it.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use crate::keywords::Keywords;

/// Words that a secret's name ends with, in lower case; separators in a name do not count.
const NAMES: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "accountkey",
    "privatekey",
    "secretkey",
    "encryptionkey",
    "signingkey",
    "masterkey",
    "sharedkey",
    "authkey",
    "sharedaccesskey",
    "credential",
    "credentials",
    "connectionstring",
    "clientsecret",
    "sessionid",
    "sessionkey",
    "sessiontoken",
    "authorization",
    "passcode",
    "pin",
    "otp",
    "dbpass",
    "userpass",
    "mysqlpwd",
    "secretaccesskey",
    "appsecret",
    "apisecret",
    "authtoken",
    "refreshtoken",
    "idtoken",
    "privatetoken",
    "cookie",
    "setcookie",
    "session",
    "creds",
    "apitoken",
    "bearertoken",
    "accesstoken",
    "storepass",
    "keypass",
    "mnemonic",
    "seedphrase",
    "unsealkey",
    "otpseed",
    "totpseed",
    "recoverycode",
    "passwords",
    "passord",
];

/// Names that end like a secret's and hold none.
const OPEN: &[&str] = &[
    "publickey",
    "publictoken",
    "csrftoken",
    "nexttoken",
    "pagetoken",
    "nextpagetoken",
    "startingtoken",
    "maxtoken",
    "continuationtoken",
    "synctoken",
    "primarykey",
    "foreignkey",
    "shippin",
    "spin",
    "mappin",
    "unexpectedtoken",
    "invalidtoken",
    "stoppin",
    "cancellationtoken",
];

/// Words that make a name suspicious, whatever else is in it.
const SUSPICIOUS: &[&str] = &[
    "access",
    "auth",
    "api",
    "credential",
    "creds",
    "key",
    "passwd",
    "password",
    "secret",
    "token",
];

/// What a suspicious name may hold besides, and then holds no secret.
const HARMLESS: &[&str] = &[
    "accessib",
    "accessor",
    "accessid",
    "randomaccess",
    "apiid",
    "apiname",
    "apiversion",
    "rapid",
    "capital",
    "author",
    "authentication",
    "exchange",
    "credentialid",
    "credentialsid",
    "withcredentials",
    "bucketkey",
    "foreignkey",
    "hotkey",
    "idxkey",
    "naturalkey",
    "primarykey",
    "pubkey",
    "publickey",
    "schemakey",
    "sequencekey",
    "turkey",
    "monkey",
    "keyalias",
    "keyboard",
    "keycode",
    "keyframe",
    "keyid",
    "keylength",
    "keymesh",
    "keyname",
    "keypair",
    "keypress",
    "keyring",
    "keyselector",
    "keysignature",
    "keysize",
    "keystone",
    "keystore",
    "keyword",
    "keyup",
    "keydown",
    "keyleft",
    "keyright",
    "keyvault",
    "keytab",
    "keyhash",
    "keying",
    "keyfile",
    "keychars",
    "keystr",
    "secretlength",
    "secretname",
    "secretsize",
    "usersecretsid",
    "csrftoken",
    "jsonwebtoken",
    "endpoint",
    "tokenfile",
    "tokenurl",
    "tokenuri",
    "apiurl",
    "apiuri",
    "credentialsurl",
    "publictoken",
    "publishable",
    "tokencount",
    "tokentype",
    "tokenlimit",
    "maxtoken",
    "authmode",
    "authtype",
    "version",
    "checksum",
    "blindkey",
    "pagetoken",
    "nexttoken",
    "continuationtoken",
    "synctoken",
    "apijar",
    "websocketkey",
];

static HARMLESS_SCAN: LazyLock<Option<AhoCorasick>> =
    LazyLock::new(|| AhoCorasick::builder().kind(Some(AhoCorasickKind::DFA)).build(HARMLESS).ok());

static SUSPICIOUS_SCAN: LazyLock<Keywords> =
    LazyLock::new(|| Keywords::new(SUSPICIOUS.iter().copied(), false));

/// More letters than any of these names has.
const LONGEST: usize = 32;

/// Whether what stands under this name is a secret.
pub(super) fn is_secret_name(name: &str) -> bool {
    // Only its end tells.
    let mut folded = [0; LONGEST];
    let mut start = LONGEST;
    let letters = name.bytes().rev().filter(u8::is_ascii_alphanumeric);
    for letter in letters.skip_while(u8::is_ascii_digit).take(LONGEST) {
        start -= 1;
        folded[start] = letter.to_ascii_lowercase();
    }
    label(std::str::from_utf8(&folded[start..]).unwrap_or_default()).is_some() || ends_in_pass(name)
}

/// What a secret under the short names is called.
pub(super) const PASS: &str = "pass";

/// The short names; the last ones only behind others: `GH_PAT`.
const SHORT: &[&str] = &[PASS, "pwd", "pw", "psk", "cred", "pat"];

/// Whether the last word of a name is one of the short ones: `smtp_pass`, `userPwd`. Other words
/// end like that, too.
pub(super) fn ends_in_pass(name: &str) -> bool {
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit());
    SHORT.iter().any(|word| {
        let Some(at) = name.len().checked_sub(word.len()) else { return false };
        let (Some(before), Some(last)) = (name.get(..at), name.get(at..)) else { return false };
        let begins = last.starts_with(|c: char| c.is_ascii_uppercase())
            && before.ends_with(|c: char| c.is_ascii_lowercase());
        let stands_alone = before.is_empty() && !matches!(*word, "cred" | "pat");
        last.eq_ignore_ascii_case(word)
            && (begins || stands_alone || before.ends_with(['_', '-', '.']))
    })
}

/// The names by their last letter, the longest first.
static BY_LAST: LazyLock<[Vec<&'static str>; 26]> = LazyLock::new(|| {
    std::array::from_fn(|nth| {
        let ends = |name: &&&str| name.bytes().last().is_some_and(|b| usize::from(b - b'a') == nth);
        let mut names: Vec<&str> = NAMES.iter().filter(ends).copied().collect();
        names.sort_by_key(|name| std::cmp::Reverse(name.len()));
        names
    })
});

/// What a secret under this name is called; nothing where the name alone does not tell.
pub(super) fn label(name: &str) -> Option<&'static str> {
    let last = name.as_bytes().last()?.checked_sub(b'a')?;
    let names = BY_LAST.get(usize::from(last))?;
    let ends = |known: &&&str| name.ends_with(**known) && (known.len() > 3 || name == **known);
    let known = names.iter().find(ends).copied();
    known.filter(|_| !OPEN.iter().any(|open| name.ends_with(open)))
}

/// Whether a name, folded and as it stands, may be a secret's.
pub(super) fn is_suspicious(name: &str, raw: &str) -> bool {
    let (mut found, mut api) = (false, false);
    SUSPICIOUS_SCAN.each(name, |word, _, _| {
        let is_api = SUSPICIOUS[word] == "api";
        api |= is_api;
        found |= !is_api;
    });
    // It begins a word; it also stands in the middle of many.
    found || api && ["api", "Api", "API"].iter().any(|api| raw.contains(api))
}

/// Whether a bare value is code that only refers to a secret: `config.get(`, `env::var(`,
/// `next(tokens`, `self.token`; and `var.value`, where it is assigned as code does it.
pub(super) fn is_reference(value: &str, as_in_code: bool) -> bool {
    // The rest of a call stands behind its first quote.
    let (path, given) = value.split_once(['(', '[']).unwrap_or((value, ""));
    let is_word = |word: &str| {
        word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            && word.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
    };
    // What has digits in it may be drawn.
    let is_code = |given: &str| {
        given.split('.').all(is_word) && !value.contains(|c: char| c.is_ascii_digit())
    };
    let holds = |first: &str| HOLDERS.contains(&first) || path.split('.').any(is_secret_name);
    let ends_in_one = || path.rsplit_once('.').is_some_and(|(_, last)| is_secret_name(last));
    path.split("::").flat_map(|part| part.split('.')).all(is_word)
        && (path.len() < value.len() && (given.is_empty() || is_code(given))
            || ends_in_one()
            || as_in_code && path.split_once('.').is_some_and(|(first, _)| holds(first)))
}

/// What holds secrets in code.
const HOLDERS: &[&str] = &[
    "args", "config", "ctx", "data", "each", "local", "module", "options", "opts", "params",
    "props", "req", "request", "secrets", "self", "settings", "this", "var",
];

/// Whether a folded name holds what makes it harmless.
pub(super) fn is_harmless(name: &str) -> bool {
    HARMLESS_SCAN.as_ref().is_some_and(|scan| scan.is_match(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_names_are_words_of_their_own() {
        for name in ["pass", "SMTP_PASS", "userPwd", "become-pass2", "db.pass"] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in ["compass", "BYPASS", "byPass_through", "pass_rate", "", "ass"] {
            assert!(!is_secret_name(name), "{name}");
        }
    }

    #[test]
    fn the_end_of_a_name_is_enough() {
        assert!(NAMES.iter().chain(OPEN).all(|name| name.len() < LONGEST));
        let long = "a_name_of_many_words_that_ends_with_the_";
        for (end, is_secret) in
            [("password", true), ("API-Key_2", true), ("primaryKey", false), ("pin", false)]
        {
            assert_eq!(is_secret_name(&format!("{long}{end}")), is_secret, "{end}");
        }
        assert!(is_secret_name("PIN") && !is_secret_name("") && !is_secret_name("42"));
    }
}
