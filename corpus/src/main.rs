//! `cargo xtask corpus`: how well the corpus is read; `learn` prints the table of
//! words anew, `learn signs` the weights of a resource's signs; `unseen` reads each program with
//! tables learned from the others.
#![expect(clippy::print_stdout, reason = "a program for the terminal")]

use breakfall::Reader;
use breakfall_corpus::score::{self, Errors};
use breakfall_corpus::unseen::{self, Unseen};
use breakfall_corpus::{Harmless, Labelled, Secret, learn, load, signs};

fn main() {
    let sample: Vec<Labelled> = load("sample.jsonl.gz");
    let own: Vec<Labelled> = load("own.jsonl.gz");
    let asked = std::env::args().nth(1);
    if asked.as_deref() == Some("unseen") {
        let all: Vec<Labelled> = sample.into_iter().chain(own).collect();
        left_out(&unseen::score(&all));
        return;
    }
    if asked.as_deref() == Some("learn") {
        let all: Vec<&Labelled> = sample.iter().chain(&own).collect();
        let of_signs = std::env::args().nth(2).as_deref() == Some("signs");
        let table =
            if of_signs { signs::table(&signs::learn(&all)) } else { learn::learn(&all).table() };
        print!("{table}");
        return;
    }
    let reader = Reader::default();
    if let (Some("read"), Some(path)) = (asked.as_deref(), std::env::args().nth(2)) {
        mistakes(&reader, &breakfall_corpus::read(path.as_ref()));
        return;
    }
    println!(
        "| errors | number | kind right | macro-F1 | resource right | wait right | secrets surviving |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|");
    let read = score::errors(&sample, score::breakfall(&reader));
    row("the sample", &read);
    row("our own corpus", &score::errors(&own, score::breakfall(&reader)));
    let apart: Vec<Labelled> = load("apart.jsonl.gz");
    row("kept apart, never learned from", &score::errors(&apart, score::breakfall(&reader)));
    row("the sample, by the naive rule", &score::errors(&sample, score::naive));
    println!("\n| harmless texts | number | changed | taken for a failure | by the naive rule |");
    println!("|---|---:|---:|---:|---:|");
    for (name, file) in
        [("the sample", "sample-harmless.jsonl.gz"), ("our own", "own-harmless.jsonl.gz")]
    {
        let set: Vec<Harmless> = load(file);
        let (changed, taken) = score::harmless(&reader, &set);
        let naive = set.iter().filter(|text| score::naive_kind(&text.text).is_some()).count();
        println!("| {name} | {} | {changed} | {taken} | {naive} |", set.len());
    }
    let [all, found, not, hit] = score::secrets(&load::<Secret>("secrets.jsonl.gz"));
    println!(
        "\n| secrets | to be found | found | not to be found | hit |\n|---|---:|---:|---:|---:|"
    );
    println!("| labelled samples | {all} | {found} | {not} | {hit} |");
    println!("\nmistakes on the sample (label, answer, how often):");
    for ((label, answer), times) in &read.confused {
        println!("  {label:<20} {answer:<20} {times}");
    }
}

/// How well a set of one's own is read, and what is wrong.
fn mistakes(reader: &Reader, set: &[Labelled]) {
    row("these", &score::errors(set, score::breakfall(reader)));
    for error in set {
        let reading = reader.read(&error.evidence());
        let missed = error.resource.is_some() && reading.resource != error.resource;
        if missed || !error.accepts(reading.kind.name()) {
            let (rule, words) = (&reading.rule, reading.words.unwrap_or_default());
            let (label, found) = (error.resource.as_deref(), reading.resource.as_deref());
            println!(
                "{} | {} by {rule} `{words}` | {label:?} | {found:?}",
                error.kind, reading.kind
            );
            println!("    {}", error.text.replace('\n', "\n    "));
        }
    }
}

fn left_out(score: &Unseen) {
    println!("by words alone   {}", percent(score.by_words, score.errors));
    println!("resource right   {}", percent(score.resources_right, score.resources));
    for [what, label, answer, text] in &score.wrong {
        let text: String = text.chars().take(300).collect();
        println!("{what}: {label} | {answer} | {}", text.replace('\n', "\\n"));
    }
}

fn row(name: &str, score: &Errors) {
    println!(
        "| {name} | {} | {} | {:.3} | {} of {} | {} of {} | {} of {} |",
        score.all,
        percent(score.right, score.all),
        score.macro_f1,
        percent(score.resources_right, score.resources),
        score.resources,
        score.waits_right,
        score.waits,
        score.secrets_surviving,
        score.secrets,
    );
}

#[expect(clippy::cast_precision_loss, reason = "counts of thousands")]
fn percent(part: usize, all: usize) -> String {
    format!("{:.1} %", 100.0 * part as f64 / all.max(1) as f64)
}
