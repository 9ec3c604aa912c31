//! No question that a person asks reads every record: a file with millions must answer at once.

use super::{AFTER, RUN, SAMPLES, Sort, called, groups, overview, tail, tools};
use crate::backend::{Backend, Place};

#[tokio::test]
async fn no_question_reads_every_record_nor_every_reference() {
    let directory = std::env::temp_dir().join(format!("breakfall-plans-{}", std::process::id()));
    let backend = Backend::open(&Place::File(directory.join("a.db"))).await.unwrap();
    let Backend::Sqlite(pool) = &backend else { panic!("a file") };
    let statements = [
        SAMPLES,
        RUN,
        AFTER,
        groups::list(Sort::Count),
        groups::list(Sort::Rate),
        groups::list(Sort::Last),
        groups::list(Sort::New),
        groups::HOURS,
        groups::HOURS_OF,
        groups::NAMED,
        groups::BEGUN,
        groups::REFERENCES,
        tail::KEYS,
        tail::ONE,
        called::CALLED,
        overview::COUNTS,
        tools::TOOLS,
    ];
    for statement in statements {
        let explained = format!("EXPLAIN QUERY PLAN {statement}");
        let plan: Vec<(i64, i64, i64, String)> =
            sqlx::query_as(sqlx::AssertSqlSafe(explained)).fetch_all(pool).await.unwrap();
        let slow: Vec<_> = plan
            .iter()
            .filter(|step| {
                let tables = ["records", "r", "rollups", "h", "group_hours"];
                tables.iter().any(|table| step.3 == format!("SCAN {table}"))
            })
            .collect();
        assert!(slow.is_empty() && !plan.is_empty(), "{statement}: {plan:#?}");
    }
    backend.close().await;
    std::fs::remove_dir_all(directory).unwrap();
}
