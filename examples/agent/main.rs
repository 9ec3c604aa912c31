//! How does an agent go on when its tools fail?
//!
//! Without a key a script plays the model; with `OPENAI_API_KEY` and `MODEL` a real one answers.
#![expect(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;
use std::io::Write;

use breakfall::{Guard, tool};
use breakfall_chat::{Conversation, Event, Provider, Scripted, Shape};

/// Reads a file.
#[tool(effect = "read_only")]
async fn read_file(
    /// The path of the file.
    path: String,
) -> Result<String, std::io::Error> {
    std::fs::read_to_string(path)
}

fn script() -> Scripted {
    Scripted::new()
        .says_and_calls("Let me look.", [("raed_file", r#"{"path": "Cargo.toml"}"#)])
        .calls([
            ("read_file", r#"{"pth": "Cargo.toml"}"#),
            ("read_file", r#"{"path": "/nowhere"}"#),
        ])
        .calls([("read_file", r#"{"path": "Cargo.toml"}"#)])
        .says("It is the manifest of a workspace.")
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let guard = Guard::builder().tool(read_file()).build()?;
    let mut agent = match (std::env::var("OPENAI_API_KEY"), std::env::var("MODEL")) {
        (Ok(key), Ok(model)) => {
            let provider = Provider::new(Shape::Chat, "https://api.openai.com/v1", model)?;
            Conversation::new(provider.key(key, "OPENAI_API_KEY"), guard)
        }
        _ => Conversation::new(script(), guard),
    };
    let mut hear = |event: Event<'_>| {
        if let Event::Text(words) = event {
            print!("{words}");
            let _ = std::io::stdout().flush();
        } else if let Some(line) = event.line() {
            println!("\n· {line}");
        }
    };
    let stop = agent.say("What is in Cargo.toml?", &mut hear, std::future::pending()).await;
    println!("\n{stop:?} after {} messages", agent.history().len());
    Ok(())
}
