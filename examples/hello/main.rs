//! What does a failing call look like, to the model and to the developer?
#![expect(clippy::print_stdout, reason = "an example prints")]

use breakfall::{Call, Guard, tool};

/// Reads a file.
#[tool(effect = "read_only")]
async fn read_file(
    /// The path of the file.
    path: String,
) -> Result<String, std::io::Error> {
    std::fs::read_to_string(path)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), breakfall::Error> {
    let guard = Guard::builder().tool(read_file()).keep_arguments(true).build()?;

    for (tool, arguments) in [
        ("read_file", r#"{"path": "Cargo.toml"}"#),
        ("raed_file", r#"{"path": "Cargo.toml"}"#),
        ("read_file", r#"{"pth": 7}"#),
        ("read_file", r#"{"path": "Cargo"#),
        ("read_file", r#"{"path": "/no/such/file"}"#),
    ] {
        let reply = guard.handle(Call::new("call_1", tool, arguments)).await;
        let text = reply.text.lines().take(6).collect::<Vec<_>>().join("\n  ");
        println!("{tool} {arguments}\n  {text}\n");
    }

    println!("For the developer:");
    for record in guard.journal().samples() {
        let failure = record.failure.as_ref();
        println!(
            "  {} {:<20} {:<12} {}",
            failure.map(|failure| failure.reference.to_string()).unwrap_or_default(),
            failure.map(|failure| failure.kind.name()).unwrap_or_default(),
            record.error_type(),
            failure.map(|failure| failure.message.clone()).unwrap_or_default(),
        );
    }
    println!("  {:?}", guard.journal().summary());
    Ok(())
}
