//! Values of variables in the places that a configuration keeps for them.

/// A text with the values of variables in the places of `${NAME}`, `${env:NAME}` and
/// `${NAME:-otherwise}`; and the first that is not set.
pub fn filled(text: &str) -> (String, Option<String>) {
    let (mut whole, mut missing) = (String::new(), None);
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        whole.push_str(before);
        let Some((name, behind)) = after.split_once('}') else {
            whole.push_str("${");
            rest = after;
            continue;
        };
        let (known, otherwise) = match name.split_once(":-") {
            Some((name, otherwise)) => (name, Some(otherwise.to_owned())),
            None => (name, None),
        };
        let known = known.strip_prefix("env:").unwrap_or(known);
        match std::env::var(known).ok().or(otherwise) {
            Some(value) => whole.push_str(&value),
            None => {
                missing.get_or_insert_with(|| known.to_owned());
                whole.push_str("${");
                whole.push_str(name);
                whole.push('}');
            }
        }
        rest = behind;
    }
    whole.push_str(rest);
    (whole, missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_filled_in_and_what_is_not_set_stays() {
        assert_eq!(filled("a ${NO_SUCH:-b} ${").0, "a b ${");
        assert_eq!(filled("${env:NO_SUCH}"), ("${env:NO_SUCH}".into(), Some("NO_SUCH".into())));
        assert!(filled("${PATH}").1.is_none());
    }
}
