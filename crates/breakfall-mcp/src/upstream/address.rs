//! The way to an address, and what must not come back from there.

use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, Method, RequestBuilder, Url};

use super::keep;
use crate::servers::Address;

/// How long a connection may take.
const CONNECTING: Duration = Duration::from_secs(10);

/// How long a connection on which nothing is said is used again: many servers close it after five
/// seconds, and what is said in that moment is lost.
const UNUSED: Duration = Duration::from_secs(4);

/// Where messages go, and how.
#[derive(Clone)]
pub(super) struct To {
    client: Client,
    url: Url,
    /// What must not come back.
    secrets: Arc<[String]>,
}

impl To {
    pub(super) fn request(&self, method: Method) -> RequestBuilder {
        self.request_at(method, &self.url)
    }

    pub(super) fn request_at(&self, method: Method, url: &Url) -> RequestBuilder {
        self.client.request(method, url.clone())
    }

    /// Another place of the same server's.
    pub(super) fn beside(&self, place: &str) -> Option<Url> {
        let url = self.url.join(place).ok()?;
        (url.origin() == self.url.origin()).then_some(url)
    }

    /// What came, without what the server was shown.
    pub(super) fn without_secrets(&self, text: String) -> String {
        let shown = self.secrets.iter().filter(|secret| text.contains(secret.as_str()));
        let shown: Vec<&String> = shown.collect();
        shown.iter().fold(text, |text, secret| text.replace(secret.as_str(), "[redacted]"))
    }
}

/// One client for each address, so that connections are used again.
pub(super) fn client(address: &Address) -> Result<To, String> {
    let url: Url =
        address.url.parse().map_err(|error| format!("its address is unusable: {error}"))?;
    let mut headers = HeaderMap::new();
    for (name, value) in &address.headers {
        let unusable = || format!("its header `{name}` is unusable");
        let name = HeaderName::try_from(name.as_str()).map_err(|_| unusable())?;
        let mut value = HeaderValue::try_from(value.as_str()).map_err(|_| unusable())?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    // Another place must never be told what was meant for this one.
    let here = url.clone();
    let stay = Policy::custom(move |attempt| {
        // Any other status would have us read where we meant to say something.
        let is_the_same = matches!(attempt.status().as_u16(), 307 | 308);
        let is_here = attempt.url().origin() == here.origin();
        if attempt.previous().len() > 5 || !is_here || !is_the_same {
            attempt.stop()
        } else {
            attempt.follow()
        }
    });
    // The one that the program has, or ours where it has none.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut client = Client::builder()
        .connect_timeout(CONNECTING)
        .pool_idle_timeout(UNUSED)
        .default_headers(headers)
        .redirect(stay);
    if url.scheme() == "http" {
        // Nothing is to be verified: a machine without certificates will do.
        client = client.tls_certs_only([]);
    }
    if breakfall_http::is_here(url.host_str().unwrap_or_default()) {
        client = client.no_proxy();
    }
    let client =
        client.build().map_err(|error| format!("no connection can be made: {}", told(error)))?;
    Ok(To { client, url, secrets: address.written_secrets().into() })
}

/// What went wrong, without the address: it may hold a secret.
pub(super) fn told(error: reqwest::Error) -> String {
    keep::with_causes(&error.without_url())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_cannot_be_used_is_told_without_it() {
        let address = |url: &str, name: &str| Address {
            url: url.to_owned(),
            headers: [(name.to_owned(), "hunter2\n".to_owned())].into(),
        };
        let unusable = client(&address("http://[", "X")).err().unwrap();
        assert!(unusable.starts_with("its address is unusable"), "{unusable}");
        let unusable = client(&address("http://localhost", "X")).err().unwrap();
        assert_eq!(unusable, "its header `X` is unusable");
    }

    #[test]
    fn what_is_beside_an_address_is_at_the_same_server() {
        let url = "http://localhost:8000/a/sse".to_owned();
        let to = client(&Address { url, headers: [].into() }).unwrap();
        let beside = |place: &str| to.beside(place).map(|url| url.to_string());
        for place in ["/messages/?id=7", "http://localhost:8000/messages/?id=7"] {
            assert_eq!(beside(place).unwrap(), "http://localhost:8000/messages/?id=7");
        }
        for elsewhere in
            ["http://localhost:8001/messages", "//other/messages", "https://localhost:8000/"]
        {
            assert_eq!(beside(elsewhere), None);
        }
    }
}
