//! Which model: from what was typed and from the environment.

use breakfall_chat::{Provider, Shape};
use clap::{Args, ValueEnum};
use serde_json::Value;

use crate::failed::Failed;

const OPENAI: &str = "https://api.openai.com/v1";
const ANTHROPIC: &str = "https://api.anthropic.com";

#[derive(Args)]
pub(crate) struct Named {
    /// The model, as its provider names it
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// Where the model is: a provider, or a server of your own (llama.cpp, Ollama, vLLM). Without it
    /// `OPENAI_BASE_URL` or `ANTHROPIC_BASE_URL`, else the provider itself
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// How the provider speaks; without it `anthropic` for models and addresses of that name, else
    /// `chat`
    #[arg(long, value_name = "SHAPE")]
    shape: Option<Spoken>,
    /// The most tokens of an answer
    #[arg(long, value_name = "TOKENS")]
    max_tokens: Option<u32>,
    /// A field that every request to the model has, its value as JSON: `--field temperature=0`
    #[arg(long, value_name = "NAME=VALUE")]
    field: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum Spoken {
    /// OpenAI's chat completions, as most servers have them
    Chat,
    /// OpenAI's Responses
    Responses,
    /// Anthropic's messages
    Anthropic,
}

impl Named {
    /// The model; its key is in `OPENAI_API_KEY` or `ANTHROPIC_API_KEY`.
    pub(super) fn provider(&self) -> Result<Provider, Failed> {
        let Some(model) = &self.model else {
            return Err(Failed::new("`--model` does not say which model")
                .hint("name one, or see what this is without any: `breakfall chat --demo`"));
        };
        let shape = self.shape(model);
        let (key, address, own) = match shape {
            Shape::Chat | Shape::Responses => ("OPENAI_API_KEY", "OPENAI_BASE_URL", OPENAI),
            Shape::Anthropic => ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", ANTHROPIC),
        };
        let set = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
        let url = self.base_url.clone().or_else(|| set(address)).unwrap_or_else(|| own.to_owned());
        if !url.starts_with("http://") && !url.starts_with("https://") {
            return Err(Failed::new(format!("`{url}` is no address"))
                .hint("an address begins with `http://` or `https://`"));
        }
        let provider = Provider::new(shape, &url, model);
        let mut provider =
            provider.map_err(|error| Failed::new("the model cannot be used").because(error))?;
        match set(key) {
            Some(value) => provider = provider.key(value.trim(), key),
            None if url == own => {
                return Err(Failed::new(format!("there is no key in {key}")).hint(
                    "set it, name a server that needs none with `--base-url`, or see \
                     `breakfall chat --demo`",
                ));
            }
            None => {}
        }
        if let Some(most) = self.max_tokens {
            provider = provider.max_tokens(most);
        }
        for field in &self.field {
            let Some((name, value)) = field.split_once('=') else {
                return Err(Failed::new(format!("`--field {field}` has no value"))
                    .hint("write it like `--field temperature=0`"));
            };
            // What is no JSON is a text.
            let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
            provider = provider.field(name, value);
        }
        Ok(provider)
    }

    fn shape(&self, model: &str) -> Shape {
        match self.shape {
            Some(Spoken::Chat) => Shape::Chat,
            Some(Spoken::Responses) => Shape::Responses,
            Some(Spoken::Anthropic) => Shape::Anthropic,
            None => {
                let address = self.base_url.as_deref().unwrap_or_default();
                let is_anthropic = address.contains("anthropic")
                    || (address.is_empty() && model.starts_with("claude"));
                if is_anthropic { Shape::Anthropic } else { Shape::Chat }
            }
        }
    }
}
