//! What an HTTP service said beside an exception: its status, its body, how long to wait.

use std::time::Duration;

use breakfall::{Evidence, Reader, retry_after};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::raised::{Said, shown};

/// What a service answered.
pub(crate) struct Response<'py> {
    pub(crate) status: u16,
    /// What told it: the response, or the exception itself.
    by: Bound<'py, PyAny>,
}

impl<'py> Response<'py> {
    /// What an exception came with.
    pub(crate) fn of(error: &Bound<'py, PyAny>) -> Option<Self> {
        let number = |holder: &Bound<'py, PyAny>, name: &str| {
            let number = holder.getattr_opt(name).ok().flatten()?.extract::<u16>().ok()?;
            (100..600).contains(&number).then_some(number)
        };
        let of = |holder: &Bound<'py, PyAny>| {
            ["status_code", "status", "code"].iter().find_map(|name| number(holder, name))
        };
        let response =
            error.getattr_opt("response").ok().flatten().filter(|response| !response.is_none());
        let by = response.unwrap_or_else(|| error.clone());
        let status = of(&by).or_else(|| of(error))?;
        Some(Self { status, by })
    }

    /// The words that are believed against the status, where services are known to be vague: those
    /// of the exception, or those with the body that it came with.
    pub(crate) fn against(&self, error: &Bound<'py, PyAny>, said: &Said) -> Option<String> {
        let kind = |text: &str, http_status| {
            let type_name = Some(&*said.name).filter(|_| !text.is_empty());
            let evidence = Evidence { text, type_name, http_status, ..Evidence::default() };
            Reader::default().read(&evidence).kind
        };
        let status = Some(self.status);
        let plain = kind("", status);
        // The guard reads the words alone, and must come to the same.
        let is_believed = |text: &str| {
            let found = kind(text, status);
            found != plain && found == kind(text, None)
        };
        if is_believed(&said.text) {
            return Some(said.text.clone());
        }
        let text = format!("{}\n{}", said.text, self.body(error)?);
        is_believed(&text).then_some(text)
    }

    /// What the service said. One that was not read yet is left alone: reading it may wait.
    fn body(&self, error: &Bound<'py, PyAny>) -> Option<String> {
        let get = |holder: &Bound<'py, PyAny>, name: &str| {
            holder.getattr_opt(name).ok().flatten().filter(|value| !value.is_none())
        };
        let is_there =
            get(&self.by, "_content").is_none_or(|read| !matches!(read.extract(), Ok(false)));
        let text =
            get(&self.by, "text").filter(|text| is_there && text.is_instance_of::<PyString>());
        let body = shown(&text.or_else(|| get(error, "body"))?);
        Some(body).filter(|body| !body.trim().is_empty())
    }

    /// How long to wait before another try.
    pub(crate) fn wait(&self) -> Option<Duration> {
        let headers = self.by.getattr_opt("headers").ok().flatten()?;
        let get =
            |name: &str| headers.call_method1("get", (name,)).ok().filter(|value| !value.is_none());
        retry_after(&shown(&get("retry-after").or_else(|| get("Retry-After"))?))
    }
}
