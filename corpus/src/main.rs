//! `cargo xtask corpus`: how well the corpus is read; `learn` prints the table of
//! words anew, `learn signs` the weights of a resource's signs.
#![expect(clippy::print_stdout, reason = "a program for the terminal")]

use breakfall::Reader;
use breakfall_corpus::score::{self, Errors};
use breakfall_corpus::{Harmless, Labelled, Secret, learn, load, signs};

fn main() {
    let sample: Vec<Labelled> = load("sample.jsonl.gz");
    let own: Vec<Labelled> = load("own.jsonl.gz");
    if std::env::args().nth(1).as_deref() == Some("learn") {
        let all: Vec<Labelled> = sample.into_iter().chain(own).collect();
        let of_signs = std::env::args().nth(2).as_deref() == Some("signs");
        let table = if of_signs { signs::table(&signs::learn(&all)) } else { learn::table(&all) };
        print!("{table}");
        return;
    }
    let reader = Reader::default();
    println!(
        "| errors | number | kind right | macro-F1 | resource right | wait right | secrets surviving |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|");
    let read = score::errors(&sample, score::breakfall(&reader));
    row("the sample", &read);
    row("our own corpus", &score::errors(&own, score::breakfall(&reader)));
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
