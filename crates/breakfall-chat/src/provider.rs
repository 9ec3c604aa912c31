//! Models behind HTTP: a question becomes a request in a provider's shape, and its stream an answer.

mod anthropic;
mod chat;
mod halves;
mod kept;
mod lines;
mod refusal;
mod responses;
mod shape;
mod stream;
mod unsaid;

use std::time::Duration;

use breakfall::{BoxFuture, Redactor};
use serde_json::{Map, Value};

pub(crate) use anthropic::is_done_there;

use crate::error::{ModelError, ModelErrorKind};
use crate::model::{Answer, Delta, Model, Question};
use shape::Foreign;
pub use shape::Shape;
use stream::{Body, Read};
use unsaid::Unsaid;

/// What is taken from a provider at most, and how long it is waited for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// How long until a connection is there.
    pub connecting: Duration,
    /// How long until the answer begins: a model of one's own is loaded and reads first.
    pub beginning: Duration,
    /// How long until more of it comes.
    pub silence: Duration,
    /// The most bytes of one event.
    pub event: usize,
    /// The most bytes of an answer.
    pub answer: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            connecting: Duration::from_secs(10),
            beginning: Duration::from_mins(10),
            silence: Duration::from_mins(2),
            event: 4 << 20,
            answer: 64 << 20,
        }
    }
}

/// A model behind HTTP.
pub struct Provider {
    shape: Shape,
    url: String,
    model: String,
    key: Option<Key>,
    /// Where a key would be.
    no_key: Option<String>,
    max_tokens: Option<u32>,
    fields: Map<String, Value>,
    bounds: Bounds,
    client: reqwest::Client,
    redactor: Redactor,
}

/// A key, and where it is kept.
struct Key {
    value: String,
    name: String,
}

impl Provider {
    /// The model of that name behind this address: `https://api.openai.com/v1`,
    /// `https://api.anthropic.com`, `http://127.0.0.1:11434`.
    pub fn new(shape: Shape, address: &str, model: impl Into<String>) -> Result<Self, ModelError> {
        let bounds = Bounds::default();
        Ok(Self {
            shape,
            url: shape.url(address),
            model: model.into(),
            key: None,
            no_key: None,
            max_tokens: None,
            fields: Map::new(),
            bounds,
            client: client(&bounds)?,
            redactor: Redactor::default(),
        })
    }

    /// The same with a key; `name` says where it is kept.
    pub fn key(mut self, value: impl Into<String>, name: impl Into<String>) -> Self {
        let value = value.into();
        self.redactor.add_value(value.clone());
        self.key = Some(Key { value, name: name.into() });
        self
    }

    /// The same without a key; `name` says where one would be kept.
    pub fn no_key(mut self, name: impl Into<String>) -> Self {
        self.no_key = Some(name.into());
        self
    }

    /// The most tokens of an answer.
    pub fn max_tokens(mut self, tokens: u32) -> Self {
        self.max_tokens = Some(tokens);
        self
    }

    /// A field that every request has beside ours: a temperature, which tools may be chosen.
    pub fn field(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.fields.insert(name.into(), value.into());
        self
    }

    /// What is taken at most.
    pub fn bounds(mut self, bounds: Bounds) -> Result<Self, ModelError> {
        self.client = client(&bounds)?;
        self.bounds = bounds;
        Ok(self)
    }

    /// The model's name.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// Where requests go.
    pub fn url(&self) -> &str {
        &self.url
    }

    async fn asked(
        &self,
        question: Question<'_>,
        hear: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<Answer, ModelError> {
        let mut body = self.shape.request(&question, &self.model, self.max_tokens);
        if let Value::Object(fields) = &mut body {
            fields.extend(self.fields.clone());
        }
        let response = self.sent(&body).await?;
        let mut assembly = self.shape.assembly();
        let mut body = Body::new(response, self.bounds).await?;
        let mut is_whole = false;
        let mut foreign = Foreign::default();
        while let Some(read) = body.next().await? {
            match read {
                Read::Event(event) => {
                    assembly.take(&event, hear)?;
                    foreign.take(self.shape, &event);
                }
                Read::Error(value) => return Err(refusal::within(&value)),
                Read::Whole(value) => {
                    assembly.take_whole(&value, hear)?;
                    is_whole = true;
                }
                Read::Done => {
                    is_whole = true;
                    break;
                }
            }
        }
        foreign.none(self.shape)?;
        let is_sure = is_whole || assembly.is_finished();
        // Servers of this shape leave its end out, so that a body that tells its own end and comes
        // to it was not cut off. In the others an end without one is a stream that was lost.
        let may_lack_its_end = self.shape == Shape::Chat;
        if is_sure || (may_lack_its_end && body.is_delimited() && !body.is_blank()) {
            let mut answer = assembly.answer();
            if !is_sure {
                answer.last_call_may_lack_its_end();
            }
            return Ok(answer);
        }
        let kind = if body.is_blank() { ModelErrorKind::Malformed } else { ModelErrorKind::Lost };
        Err(ModelError::new(kind, "the stream ended before the answer did"))
    }

    async fn sent(&self, body: &Value) -> Result<reqwest::Response, ModelError> {
        let mut request = self
            .client
            .post(&self.url)
            .header("content-type", "application/json")
            .header("accept", "text/event-stream, application/json")
            .body(body.to_string());
        if self.shape == Shape::Anthropic {
            request = request.header("anthropic-version", "2023-06-01");
        }
        if let Some(key) = &self.key {
            request = match self.shape {
                Shape::Anthropic => request.header("x-api-key", &key.value),
                Shape::Chat | Shape::Responses => request.bearer_auth(&key.value),
            };
        }
        let sent = tokio::time::timeout(self.bounds.beginning, request.send()).await;
        let response = match sent {
            Err(_) => return Err(stream::silent(self.bounds.beginning)),
            Ok(Err(error)) => return Err(stream::unsent(&error)),
            Ok(Ok(response)) => response,
        };
        if response.status().is_success() {
            return Ok(response);
        }
        Err(refusal::read(response, self.bounds).await)
    }
}

impl Model for Provider {
    fn answer<'a>(
        &'a self,
        question: Question<'a>,
        hear: &'a mut (dyn FnMut(Delta) + Send),
    ) -> BoxFuture<'a, Result<Answer, ModelError>> {
        Box::pin(async move {
            let key = self.key.as_ref().map(|key| key.value.as_str());
            let mut unsaid = Unsaid::new(key, hear);
            let answer = self.asked(question, &mut |delta| unsaid.tell(delta)).await;
            unsaid.ends();
            let mut answer = unsaid.answer(answer.map_err(|mut error| {
                error.detail = refusal::shown(&self.redactor, &error.detail);
                error.key = self.key.as_ref().map(|key| key.name.clone()).or(self.no_key.clone());
                error.has_key = self.key.is_some();
                error
            })?);
            answer.shape = Some(self.shape);
            answer.model = Some(self.model.clone());
            Ok(answer)
        })
    }
}

/// Puts an answer together from its pieces.
trait Assembly: Send {
    /// Takes an event of the stream.
    fn take(
        &mut self,
        event: &Value,
        hear: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<(), ModelError>;

    /// Takes an answer that came in one piece.
    fn take_whole(
        &mut self,
        answer: &Value,
        hear: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<(), ModelError>;

    /// Whether the provider said that this is all.
    fn is_finished(&self) -> bool;

    /// The answer.
    fn answer(&mut self) -> Answer;
}

fn client(bounds: &Bounds) -> Result<reqwest::Client, ModelError> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .connect_timeout(bounds.connecting)
        // Whoever redirects us would get the key.
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("breakfall/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|error| ModelError::new(ModelErrorKind::Unreachable, error.to_string()))
}

/// The words of a field, as text.
fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// A number of tokens.
fn tokens(usage: &Value, keys: &[&str]) -> u64 {
    keys.iter().find_map(|key| usage.get(key)?.as_u64()).unwrap_or_default()
}

/// What a reply says, as providers take it: not nothing.
fn said(reply: &str) -> &str {
    if reply.trim().is_empty() { "(no output)" } else { reply }
}

impl std::fmt::Debug for Provider {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Provider")
            .field("shape", &self.shape)
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod hostile;
