//! What happens when a tool is flaky? It is tried again, then left to rest while a substitute
//! answers, then probed, and used again. Takes a few seconds.
#![expect(clippy::print_stdout, reason = "an example prints")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use breakfall::{
    BreakerRules, Call, Ending, Failure, Fallback, GateRules, Guard, Policy, Record, Retry, Scope,
    Sink, function,
};
use serde_json::json;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Query {
    city: String,
}

/// Prints every record as a line of a timeline.
struct Timeline(Instant);

impl Sink for Timeline {
    fn take(&self, record: &Record) {
        let now = self.0.elapsed().saturating_sub(record.took);
        let ending = match (record.ending, &record.substitute) {
            (Ending::Substituted, Some(name)) => format!("answered by {name}"),
            (Ending::Failed, _) => "failed".to_owned(),
            _ => "answered".to_owned(),
        };
        println!("{:>5} ms  call {}: {ending}", now.as_millis(), record.id);
        for tried in &record.tries {
            let wait = tried.waited.map_or_else(String::new, |wait| {
                format!(", waited {} ms and tried again", wait.as_millis())
            });
            let at = now + tried.began;
            println!("{:>5} ms    attempt failed: {}{wait}", at.as_millis(), tried.kind);
        }
        if record.attempts == 0 || record.tries.is_empty() && record.substitute.is_some() {
            println!("             not tried: it rests");
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), breakfall::Error> {
    let calls = Arc::new(AtomicU32::new(0));
    // Works, fails once, is gone for a while, works again.
    let weather = function("weather", "Tells the weather.", move |Query { city }| {
        let turn = calls.fetch_add(1, Ordering::Relaxed);
        async move {
            match turn {
                1 | 4..=8 => Err(Failure::upstream("503 Service Unavailable")),
                _ => Ok(format!("{city}: sunny")),
            }
        }
    })
    .effect(breakfall::Effect::ReadOnly);
    let almanac = function("almanac", "Tells the usual weather.", |Query { city }| async move {
        Ok::<_, Failure>(format!("{city} in November: rain"))
    });
    let breaker = BreakerRules { open_for: Duration::from_millis(600), ..BreakerRules::default() };
    let policy = Policy {
        retry: Retry { first_delay: Duration::from_millis(100), ..Retry::default() },
        gate: GateRules { breaker: Some(breaker), ..GateRules::default() },
        ..Policy::default()
    };
    let guard = Guard::builder()
        .tools([weather, almanac])
        .policy(policy)
        .fallback("weather", Fallback::tool("almanac"))
        .sink(Arc::new(Timeline(Instant::now())))
        .seed(1)
        .build()?;

    for turn in 1..=11 {
        let call = Call::new(turn.to_string(), "weather", json!({ "city": "Paris" }));
        let reply = guard.handle(call).await;
        println!("             the model reads: {}\n", reply.text.replace('\n', " "));
        tokio::time::sleep(Duration::from_millis(250)).await;
    }

    let gate = guard.toolbox().gate(Scope::Tool("weather"))?;
    println!("breaker: {:?}, opened {} time(s)", gate.breaker, gate.tripped);
    for trip in gate.trips {
        println!("  {:?} of kind {}, open for {:?}", trip.cause, trip.kind, trip.open_for);
    }
    Ok(())
}
