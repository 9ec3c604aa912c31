//! What a server has to read, as far as it was asked: whose a resource is.

use std::collections::HashSet;

/// What a server has to read.
#[derive(Debug, Default)]
pub(crate) struct Resources {
    /// The resources that it lists, once it was asked.
    listed: Option<HashSet<String>>,
    /// The templates from which it makes others, once it was asked.
    templates: Option<Vec<String>>,
}

impl Resources {
    /// Takes over a list, by the method that asks for it.
    pub(crate) fn learn(&mut self, method: &str, uris: Vec<String>) {
        match method {
            "resources/list" => self.listed = Some(uris.into_iter().collect()),
            "resources/templates/list" => self.templates = Some(uris),
            _ => {}
        }
    }

    /// Whether it was asked for everything.
    pub(crate) fn are_known(&self) -> bool {
        self.listed.is_some() && self.templates.is_some()
    }

    /// How surely a resource is this server's: the more of a template is no placeholder, the surer.
    pub(crate) fn hold(&self, uri: &str) -> Option<usize> {
        let templates = || self.templates.iter().flatten();
        let is_listed = self.listed.as_ref().is_some_and(|listed| listed.contains(uri));
        if is_listed || templates().any(|template| template == uri) {
            return Some(usize::MAX);
        }
        let fitting = templates().filter(|template| fits(template, uri));
        fitting.map(|template| literals(template).map(str::len).sum()).max().filter(|sum| *sum > 0)
    }
}

/// What stands between the placeholders of a template.
fn literals(template: &str) -> impl Iterator<Item = &str> {
    let mut parts = template.split('{');
    let first = parts.next();
    first.into_iter().chain(parts.map(|part| part.split_once('}').map_or("", |(_, rest)| rest)))
}

/// Whether a template may stand for a resource.
fn fits(template: &str, uri: &str) -> bool {
    let mut rest = uri;
    for (number, literal) in literals(template).enumerate() {
        match rest.find(literal) {
            Some(at) if number > 0 || at == 0 => rest = &rest[at + literal.len()..],
            _ => return false,
        }
    }
    template.ends_with('}') || rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resource_is_whose_list_or_template_has_it() {
        let mut resources = Resources::default();
        assert!(!resources.are_known() && resources.hold("a://1").is_none());
        resources.learn("resources/list", vec!["a://1".to_owned()]);
        let templates = ["a://{id}", "b://{x}/of/{+y}.txt", "{+any}"].map(str::to_owned);
        resources.learn("resources/templates/list", templates.to_vec());
        assert!(resources.are_known());
        for (uri, sure) in [
            ("a://1", Some(usize::MAX)),
            ("a://{id}", Some(usize::MAX)),
            ("a://2", Some(4)),
            ("b://1/of/2.txt", Some(12)),
            ("b://1/of/2.txt.bak", None),
            ("b://1", None),
            ("c://1", None),
        ] {
            assert_eq!(resources.hold(uri), sure, "{uri}");
        }
    }
}
