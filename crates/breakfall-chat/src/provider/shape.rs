//! How providers speak: where a shape's requests go, how its answers are known, and who puts them
//! together.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Assembly, anthropic, chat, responses, text};
use crate::error::{ModelError, ModelErrorKind};
use crate::ids;
use crate::model::Question;

/// The shapes in which providers speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// OpenAI's chat completions, as most servers have them.
    Chat,
    /// OpenAI's Responses.
    Responses,
    /// Anthropic's messages.
    Anthropic,
}

impl Shape {
    /// The body of the request that asks a question.
    pub fn request(self, question: &Question<'_>, model: &str, max_tokens: Option<u32>) -> Value {
        let history = ids::taken_by(self, model, question.history);
        let question = &Question { history: &history, ..*question };
        match self {
            Self::Chat => chat::request(question, model, max_tokens),
            Self::Responses => responses::request(question, model, max_tokens),
            Self::Anthropic => anthropic::request(question, model, max_tokens),
        }
    }

    /// Whether an event of a stream is one of this shape.
    fn knows(self, event: &Value) -> bool {
        let kind = text(event, "type");
        match self {
            Self::Chat => event.get("choices").is_some(),
            Self::Responses => kind.starts_with("response."),
            Self::Anthropic => {
                kind == "ping" || kind.starts_with("message_") || kind.starts_with("content_block_")
            }
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Responses => "responses",
            Self::Anthropic => "anthropic",
        }
    }

    /// Puts answers in this shape together.
    pub(super) fn assembly(self) -> Box<dyn Assembly> {
        match self {
            Self::Chat => Box::new(chat::Assembled::default()),
            Self::Responses => Box::new(responses::Assembled::default()),
            Self::Anthropic => Box::new(anthropic::Assembled::default()),
        }
    }

    /// Where requests go, from the address that people write.
    pub(super) fn url(self, address: &str) -> String {
        // Some servers want a version or a key of theirs behind the path.
        let (address, query) = match address.split_once('?') {
            Some((address, query)) => (address, format!("?{query}")),
            None => (address, String::new()),
        };
        let address = address.trim_end_matches('/');
        let path = match self {
            Shape::Chat => "chat/completions",
            Shape::Responses => "responses",
            Shape::Anthropic => "messages",
        };
        if address.ends_with(path) {
            return format!("{address}{query}");
        }
        let host = address.split_once("://").map_or(address, |(_, rest)| rest);
        let has_version = match self {
            Self::Chat | Self::Responses => host.contains('/'),
            // As its own clients have it: the address of a proxy stands before the version.
            Self::Anthropic => host.ends_with("/v1"),
        };
        let version = if has_version { "" } else { "v1/" };
        format!("{address}/{version}{path}{query}")
    }
}

/// Tells a stream that is no answer from one in which nothing was said.
#[derive(Default)]
pub(super) struct Foreign {
    is_known: bool,
    events: usize,
    /// In which other shape it speaks.
    other: Option<Shape>,
}

impl Foreign {
    pub(super) fn take(&mut self, shape: Shape, event: &Value) {
        self.events += 1;
        self.is_known |= shape.knows(event);
        let all = [Shape::Chat, Shape::Responses, Shape::Anthropic];
        self.other = self.other.or_else(|| all.into_iter().find(|other| other.knows(event)));
    }

    /// That it is none of those.
    pub(super) fn none(&self, shape: Shape) -> Result<(), ModelError> {
        if self.is_known || self.events == 0 {
            return Ok(());
        }
        let mut detail = format!("no event of the stream has the shape `{}`", shape.name());
        if let Some(other) = self.other {
            detail = format!("{detail}; they have the shape `{}`", other.name());
        }
        Err(ModelError::new(ModelErrorKind::Malformed, detail))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_taken_as_people_write_them() {
        for (shape, address, expected) in [
            (
                Shape::Chat,
                "https://api.openai.com/v1",
                "https://api.openai.com/v1/chat/completions",
            ),
            (Shape::Chat, "http://127.0.0.1:8080", "http://127.0.0.1:8080/v1/chat/completions"),
            (Shape::Chat, "http://h/v1/chat/completions", "http://h/v1/chat/completions"),
            (Shape::Responses, "https://api.openai.com/v1/", "https://api.openai.com/v1/responses"),
            (
                Shape::Anthropic,
                "https://api.anthropic.com",
                "https://api.anthropic.com/v1/messages",
            ),
            (Shape::Anthropic, "http://h/v1", "http://h/v1/messages"),
            (Shape::Anthropic, "https://h/anthropic", "https://h/anthropic/v1/messages"),
            (Shape::Anthropic, "https://h/anthropic/v1/", "https://h/anthropic/v1/messages"),
            (Shape::Anthropic, "https://h/a/v1/messages", "https://h/a/v1/messages"),
            (
                Shape::Chat,
                "http://h/v1/?api-version=X",
                "http://h/v1/chat/completions?api-version=X",
            ),
            (Shape::Chat, "http://h?a=/b", "http://h/v1/chat/completions?a=/b"),
            (Shape::Chat, "https://h/openai/v1", "https://h/openai/v1/chat/completions"),
        ] {
            assert_eq!(shape.url(address), expected);
        }
    }
}
