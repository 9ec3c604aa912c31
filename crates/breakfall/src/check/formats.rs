//! The formats of JSON Schema with a name and an example of each, for problems and corrections, and
//! with what is surely of it.

use std::sync::LazyLock;

use super::pattern::Pattern;

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

/// What is surely of a format: how people and programs mostly write it. What is written otherwise may
/// be of it all the same.
const SURE: &[(&str, &str)] = &[
    (
        "date",
        r"^[0-9]{4}-((0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31)$",
    ),
    (
        "date-time",
        r"^[0-9]{4}-((0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31)T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$",
    ),
    (
        "email",
        r"^[a-z0-9]{1,20}([.+_-][a-z0-9]{1,20}){0,2}@([a-z0-9]{1,16}(-[a-z0-9]{1,12})?\.){1,4}[a-z]{2,12}$",
    ),
    (
        "uri",
        r"^https?://[A-Za-z0-9._~-]+(:[0-9]+)?(/([A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})*)?(\?([A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*)?(#([A-Za-z0-9._~-])*)?$",
    ),
    ("uuid", r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$"),
];

/// What matches texts that are surely of a format.
pub(super) fn sure(format: &str) -> Option<&'static Pattern> {
    static ALL: LazyLock<Vec<(&str, Option<Pattern>)>> =
        LazyLock::new(|| SURE.iter().map(|(of, sure)| (*of, Pattern::of(sure))).collect());
    let (_, sure) = ALL.iter().find(|(of, _)| *of == format)?;
    sure.as_ref()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::schema::validator;
    use super::*;

    #[test]
    fn every_format_here_has_a_pattern_for_what_people_write() {
        for (format, texts) in [
            ("date", &["2026-01-31", "2000-11-30"] as &[_]),
            ("date-time", &["2026-01-31T13:45:00Z", "2026-02-28T13:45:00.123456+02:00"]),
            ("email", &["name@example.org", "a.b+c@mail.example-shop.co.uk"]),
            (
                "uri",
                &[
                    "https://example.org",
                    "http://localhost:8080/a%20b/?q=x&r=1#top",
                    "https://a.b/~c",
                ],
            ),
            ("uuid", &["123e4567-e89b-12d3-a456-426614174000"]),
        ] {
            let sure = sure(format).unwrap_or_else(|| panic!("{format}"));
            for text in texts {
                assert!(sure.matches(text), "{format} {text}");
            }
        }
        assert_eq!(SURE.len(), 5);
        assert!(sure("hostname").is_none());
    }

    /// A text that has the pattern of a format.
    fn of(format: &'static str) -> impl Strategy<Value = (&'static str, String)> {
        let sure = SURE.iter().find(|(of, _)| *of == format).map(|(_, sure)| *sure);
        let pattern = sure.unwrap_or_default().trim_matches(['^', '$']);
        let texts = proptest::string::string_regex(pattern);
        texts.unwrap_or_else(|error| panic!("{error}")).prop_map(move |text| (format, text))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(8_000))]

        #[test]
        fn what_is_surely_of_a_format_the_validator_takes_for_it(
            (format, text) in prop_oneof![of("date"), of("date-time"), of("email"), of("uri"), of("uuid")],
            change in proptest::option::of(("[0-9a-zA-Z:/@.%+?#ü -]{0,3}", any::<proptest::sample::Index>())),
        ) {
            let mut changed = text.clone();
            if let Some((letters, place)) = &change {
                changed.insert_str(place.index(text.len()), letters);
            }
            let sure = sure(format).ok_or_else(|| TestCaseError::fail("no pattern"))?;
            let schema = json!({"type": "string", "format": format});
            let validator = validator(&schema).map_err(|error| TestCaseError::fail(error.to_string()))?;
            prop_assert!(sure.matches(&text), "{format} {text}");
            for text in [text, changed] {
                prop_assert!(!sure.matches(&text) || validator.is_valid(&json!(text)), "{format} {text}");
            }
        }
    }
}
