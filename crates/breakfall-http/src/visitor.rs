//! What a request says of who sends it, and whether that is this machine.

use std::net::IpAddr;

use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, HeaderName};

/// A header that is text.
pub fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// The host of `host:port` or of `scheme://host:port`.
pub fn host(authority: &str) -> &str {
    let authority = authority.split_once("://").map_or(authority, |(_, rest)| rest);
    if authority.starts_with('[') {
        return authority.split_inclusive(']').next().unwrap_or_default();
    }
    authority.split(':').next().unwrap_or_default()
}

/// Whether a host is this machine, under a name that nobody else can give to another.
pub fn is_here(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// The token that a request shows: `Authorization: Bearer …`.
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (how, shown) = text(headers, &AUTHORIZATION)?.split_once(' ')?;
    how.eq_ignore_ascii_case("Bearer").then(|| shown.trim())
}

/// Whether two secrets are the same, in a time that does not tell where they differ.
pub fn is_same(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len()
        && one.iter().zip(other).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_told_from_ports_and_schemes() {
        for (authority, is) in [
            ("localhost:80", "localhost"),
            ("http://127.0.0.1:80", "127.0.0.1"),
            ("[::1]:80", "[::1]"),
            ("evil.example.com", "evil.example.com"),
            ("", ""),
        ] {
            assert_eq!(host(authority), is);
        }
    }

    #[test]
    fn this_machine_is_known_by_all_its_names() {
        for host in ["localhost", "LOCALHOST", "127.0.0.1", "127.8.8.8", "::1", "[::1]"] {
            assert!(is_here(host), "{host}");
        }
        for host in ["example.com", "localhost.evil.com", "10.0.0.1", "0.0.0.0", ""] {
            assert!(!is_here(host), "{host}");
        }
    }
}
