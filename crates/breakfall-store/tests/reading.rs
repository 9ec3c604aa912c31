//! What is read again of what a guard kept: the same on SQLite and on Postgres.
#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test may fail, and says what it does"
)]

#[path = "reading/cases.rs"]
mod cases;
#[path = "postgres/mod.rs"]
mod postgres;

use std::path::PathBuf;
use std::pin::Pin;

use breakfall_store::Store;
use postgres::Postgres;

type Case = (&'static str, fn(String) -> Pin<Box<dyn Future<Output = ()>>>);

macro_rules! cases {
    ($($name:ident),+ $(,)?) => {
        const CASES: &[Case] = &[$( (stringify!($name), |place| Box::pin(cases::$name(place))) ),+];

        mod sqlite {
            $(
                #[tokio::test]
                async fn $name() {
                    let directory = super::directory(stringify!($name));
                    let file = directory.join("a.db");
                    super::cases::$name(file.to_str().unwrap().to_owned()).await;
                    std::fs::remove_dir_all(directory).unwrap();
                }
            )+
        }
    };
}

cases! {
    groups_are_chosen_and_put_in_order,
    a_share_of_two_calls_is_none,
    a_group_is_named_by_its_reference_its_fingerprint_or_the_beginning_of_it,
    calls_and_failures_are_told_over_time,
    what_fails_is_followed_and_what_took_long_is_not_passed_over,
}

/// One server for all of them, each with a database of its own.
#[tokio::test]
async fn everything_is_read_from_postgres_too() {
    let Some(postgres) = Postgres::start().await else { return };
    for (number, (name, case)) in CASES.iter().enumerate() {
        eprintln!("on Postgres: {name}");
        case(postgres.database(&format!("case_{number}")).await).await;
    }
}

fn directory(name: &str) -> PathBuf {
    let directory =
        std::env::temp_dir().join(format!("breakfall-reading-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&directory);
    directory
}

#[tokio::test]
async fn a_reader_makes_nothing() {
    let directory = directory("missing");
    let file = directory.join("a.db");
    let place = file.to_str().unwrap();
    assert!(Store::find(place).await.unwrap().is_none());
    assert!(!directory.exists());
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(&file, "").unwrap();
    assert!(Store::find(place).await.unwrap().is_none());
    assert_eq!(std::fs::read(&file).unwrap(), b"");
    cases::calls(place, &["works"]).await;
    assert!(Store::find(place).await.unwrap().is_some());
    assert!(Store::find("mysql://x/y").await.is_err());
    std::fs::remove_dir_all(directory).unwrap();
}
