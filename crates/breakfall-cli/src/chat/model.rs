//! Which model: from what was typed and from the environment.

use std::time::Duration;

use breakfall_chat::{Bounds, Provider, Shape};
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
    /// How long a model that sends nothing is waited for, in seconds; without it ten minutes before
    /// its answer begins, and two within it
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    timeout: Option<u64>,
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
        let (key, address, own) = of_shape(shape);
        let url = self.base_url.clone().or_else(|| set(address)).unwrap_or_else(|| own.to_owned());
        if !url.starts_with("http://") && !url.starts_with("https://") {
            return Err(Failed::new(format!("`{url}` is no address"))
                .hint("an address begins with `http://` or `https://`"));
        }
        let provider = Provider::new(shape, &url, model);
        let provider = provider.and_then(|provider| match self.timeout {
            Some(seconds) => {
                let time = Duration::from_secs(seconds);
                provider.bounds(Bounds { beginning: time, silence: time, ..Bounds::default() })
            }
            None => Ok(provider),
        });
        let mut provider =
            provider.map_err(|error| Failed::new("the model cannot be used").because(error))?;
        match set(key) {
            Some(value) => {
                may_be_sent(&value, key, &url)?;
                provider = provider.key(value, key);
            }
            None if url == own => {
                return Err(Failed::new(format!("there is no key in {key}")).hint(
                    "set it, name a server that needs none with `--base-url`, or see \
                     `breakfall chat --demo`",
                ));
            }
            None => provider = provider.no_key(key),
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

    /// The variable in which the model's key is, and the key.
    pub(super) fn key(&self) -> Option<(&'static str, String)> {
        let (name, ..) = of_shape(self.shape(self.model.as_deref().unwrap_or_default()));
        // Shorter ones are words that stand for none, and would tear every text apart.
        Some((name, set(name).filter(|key| key.len() >= 8)?))
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

/// Where the key is, where the address may be, and the provider's own address.
fn of_shape(shape: Shape) -> (&'static str, &'static str, &'static str) {
    match shape {
        Shape::Chat | Shape::Responses => ("OPENAI_API_KEY", "OPENAI_BASE_URL", OPENAI),
        Shape::Anthropic => ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", ANTHROPIC),
    }
}

fn set(name: &str) -> Option<String> {
    let value = std::env::var(name).ok()?;
    Some(value.trim().to_owned()).filter(|value| !value.is_empty())
}

/// A key that no header takes is told of before anything is asked, and one that everybody on the way
/// could read is not sent.
fn may_be_sent(key: &str, name: &str, url: &str) -> Result<(), Failed> {
    if !key.chars().all(|c| c.is_ascii_graphic() || c == ' ') {
        return Err(Failed::new(format!("the key in {name} cannot be sent"))
            .because("it has a line break, or a character that is in no key")
            .hint("copy it once more"));
    }
    match url.strip_prefix("http://") {
        Some(rest) if !is_this_machine(rest) => {
            Err(Failed::new(format!("the key in {name} would be sent to `{url}` for all to read"))
                .hint("use `https://`, or run it without the variable"))
        }
        _ => Ok(()),
    }
}

/// Whether an address without its scheme is on this machine.
fn is_this_machine(address: &str) -> bool {
    let host = address.split(['/', '?', '#']).next().unwrap_or_default();
    let host = host.rsplit('@').next().unwrap_or_default();
    let name = match host.strip_prefix('[').and_then(|host| host.split_once(']')) {
        Some((name, _)) => name,
        None => host.split(':').next().unwrap_or_default(),
    };
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}
