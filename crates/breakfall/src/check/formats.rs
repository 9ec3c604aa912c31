//! The formats of JSON Schema with a name and an example of each, for problems and corrections.

/// What a format is called, and one example of it.
pub(super) fn example(format: &str) -> Option<(&'static str, &'static str)> {
    Some(match format {
        "date" => ("a date", "2026-01-31"),
        "time" => ("a time", "13:45:00Z"),
        "date-time" => ("a date and time", "2026-01-31T13:45:00Z"),
        "duration" => ("a duration", "PT30M"),
        "email" | "idn-email" => ("an e-mail address", "name@example.org"),
        "hostname" | "idn-hostname" => ("a host name", "example.org"),
        "ipv4" => ("an IPv4 address", "192.0.2.1"),
        "ipv6" => ("an IPv6 address", "2001:db8::1"),
        "uri" | "iri" | "url" => ("a URI", "https://example.org/a"),
        "uuid" => ("a UUID", "123e4567-e89b-12d3-a456-426614174000"),
        "regex" => ("a regular expression", "^a+$"),
        "json-pointer" => ("a JSON pointer", "/a/0"),
        _ => return None,
    })
}

/// Whether plain text would not do.
pub(super) fn known(format: &str) -> bool {
    example(format).is_some()
}
