//! What a guard's calls leave in the store: the same on SQLite and on Postgres.
#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test may fail, and says what it does"
)]

#[path = "keeping/cases.rs"]
mod cases;
#[path = "postgres/mod.rs"]
mod postgres;

use std::path::PathBuf;
use std::pin::Pin;

use postgres::Postgres;

type Case = (&'static str, fn(String) -> Pin<Box<dyn Future<Output = ()>>>);

macro_rules! cases {
    ($($name:ident),+ $(,)?) => {
        const CASES: &[Case] = &[$( (stringify!($name), |place| Box::pin(cases::$name(place))) ),+];

        mod sqlite {
            $(
                #[tokio::test]
                async fn $name() {
                    let file = super::file(stringify!($name));
                    super::cases::$name(file.to_str().unwrap().to_owned()).await;
                    std::fs::remove_dir_all(file.parent().unwrap().parent().unwrap()).unwrap();
                }
            )+
        }
    };
}

cases! {
    failures_are_grouped_and_what_became_of_them_is_known,
    what_was_resolved_opens_when_it_comes_back_and_what_is_ignored_does_not,
    counts_are_exact_when_records_come_faster_than_they_are_written,
    samples_are_thinned_and_counts_are_not,
    names_that_are_no_tools_and_messages_without_end_make_no_groups_without_end,
    what_is_old_is_deleted_and_what_is_counted_stays,
    breakers_are_told_of_while_their_guard_runs,
    two_keepers_share_a_place,
    hostile_texts_are_kept_as_they_are,
    a_call_that_a_substitute_answered_did_not_fail,
}

fn file(name: &str) -> PathBuf {
    let directory =
        std::env::temp_dir().join(format!("breakfall-store-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&directory);
    directory.join("deeper/breakfall.db")
}

/// One server for all of them, each with a database of its own.
#[tokio::test]
async fn everything_holds_on_postgres() {
    let Some(postgres) = Postgres::start().await else { return };
    for (number, (name, case)) in CASES.iter().enumerate() {
        eprintln!("on Postgres: {name}");
        case(postgres.database(&format!("case_{number}")).await).await;
    }
}
