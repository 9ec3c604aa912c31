//! temporary
use std::io::{BufRead, Write};
fn main() {
    let redactor = breakfall::Redactor::default();
    let out = std::io::stdout();
    let mut out = std::io::BufWriter::new(out.lock());
    for line in std::io::stdin().lock().lines() {
        let v: serde_json::Value = serde_json::from_str(&line.unwrap()).unwrap();
        let text = v["text"].as_str().unwrap();
        let r: Vec<_> = redactor.find(text).iter().map(|s| serde_json::json!({"rule": s.name, "start": s.start, "end": s.end})).collect();
        writeln!(out, "{}", serde_json::json!({"id": v["id"], "text": redactor.redact(text), "redactions": r})).unwrap();
    }
}
