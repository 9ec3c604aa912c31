//! What does my agent do when its tools fail? Make trouble on purpose, and look.
#![expect(clippy::print_stdout, reason = "an example prints")]

use std::time::Duration;

use breakfall::{Call, Failure, FailureKind, Fault, Guard, Policy, StopReason, Trouble, function};
use breakfall_test::Recorder;
use serde_json::{Value, json};

/// An agent that is too simple: it makes its calls until they work, or until it is stopped.
async fn agent(guard: &Guard, run: &str) -> Result<Vec<String>, StopReason> {
    let mut notes = Vec::new();
    for city in ["Paris", "Rome", "Oslo"] {
        for turn in 1.. {
            let id = format!("{run}-{city}-{turn}");
            let call = Call::new(id, "weather", json!({ "city": city })).in_run(run);
            let reply = guard.handle(call).await;
            if let Some(reason) = reply.stop_reason() {
                return Err(reason);
            }
            if !reply.is_error {
                notes.push(reply.text);
                break;
            }
        }
    }
    Ok(notes)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), breakfall::Error> {
    let troubles = [
        Trouble::Latency(Duration::from_millis(20)),
        Trouble::Hang,
        Trouble::Fail(FailureKind::Network),
        Trouble::Fail(FailureKind::NotFound),
        Trouble::Fail(FailureKind::Authentication),
        Trouble::Http { status: 503, body: "busy".to_owned(), retry_after: None },
        Trouble::Truncated,
        Trouble::Panic,
    ];
    for trouble in troubles {
        let recorder = Recorder::new();
        let weather = function("weather", "Tells the weather.", |arguments: Value| async move {
            Ok::<_, Failure>(format!("{}: sunny", arguments["city"]))
        });
        let name = match &trouble {
            Trouble::Fail(kind) => format!("fail ({kind})"),
            other => other.name().to_owned(),
        };
        // Half of the calls, and always those for Oslo, meet it; the same ones every time.
        let guard = Guard::builder()
            .tool(
                weather
                    .effect(breakfall::Effect::ReadOnly)
                    .fault(Fault::new(trouble.clone()).probability(0.5).seed(3))
                    .fault(Fault::new(trouble).when(json!({ "city": "Oslo" }))),
            )
            .policy(Policy { attempt_timeout: Duration::from_millis(50), ..Policy::default() })
            .sink(recorder.sink())
            .build()?;
        let outcome = match agent(&guard, "run").await {
            Ok(notes) => format!("completed with {} notes", notes.len()),
            Err(StopReason::Stalled) => "stalled: it repeated itself".to_owned(),
            Err(StopReason::Failed(kind)) => format!("stopped: {kind}"),
        };
        let records = recorder.records();
        let struck = records.iter().filter(|record| record.fault.is_some()).count();
        let attempts: u32 = records.iter().map(|record| record.attempts).sum();
        println!(
            "{name:22} {:2} calls, {struck:2} in trouble, {attempts:2} attempts: the agent {outcome}",
            records.len()
        );
    }
    Ok(())
}
