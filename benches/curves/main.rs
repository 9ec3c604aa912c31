//! What grows with what, where instructions do not tell it: answers of the database by how much is
//! kept, and calls that are tasks of their own. A line of JSON a point.
#![expect(clippy::unwrap_used, reason = "a program for the terminal")]
#![allow(clippy::cast_precision_loss, reason = "figures")]

#[path = "../figures.rs"]
mod figures;
mod kept;
#[path = "../records.rs"]
mod records;
mod tasks;

fn main() {
    // Cargo gives benches arguments of its own.
    let mut words = std::env::args().skip(1).filter(|argument| !argument.starts_with("--"));
    let file = words.next().unwrap_or_else(|| {
        std::env::temp_dir().join("breakfall-curves.db").to_str().unwrap().to_owned()
    });
    let most = words.next().map_or(1_000_000, |most| most.parse().unwrap());
    tasks::curves();
    kept::curves(&file, most);
}
