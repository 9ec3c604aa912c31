//! What is shown: everything, escaped, a page at a time.

use std::sync::Arc;

use breakfall_store::{Sort, Step, Store, Wanted};
use breakfall_web::{Opening, Token};

use crate::browser::{Failing, Folder, fingerprint, page, show};

#[tokio::test]
async fn a_foreign_text_is_never_a_tag() {
    let folder = Folder::new();
    let evil = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>";
    let failing = Failing::new(&folder, evil, "</title><script>");
    failing.fail("<svg onload=alert(3)>", &format!("boom {evil} \u{202e}reversed\u{1b}[31m")).await;
    failing.fail("<svg onload=alert(3)>", "").await;
    let page = page(&folder).await;
    let name = fingerprint(&page.see("/groups").await.body);
    let query = "%3Cscript%3Ealert(4)%3C/script%3E%22%27";
    for path in [
        "/".to_owned(),
        "/groups".to_owned(),
        format!("/groups/{name}"),
        "/tools".to_owned(),
        "/breakers".to_owned(),
        "/runs".to_owned(),
        "/runs?run=%3Csvg%20onload%3Dalert(3)%3E".to_owned(),
        format!("/runs?run={query}"),
        format!("/groups/{query}"),
        format!("/groups?q={query}&tool={query}&kind={query}&upstream={query}&period={query}"),
        format!("/?token={query}"),
        format!("/{query}"),
    ] {
        let answer = page.see(&path).await;
        let body = &answer.body;
        assert!(body.contains("<main"), "{path}: {body}");
        for tag in ["<script>", "<img src=x", "<svg onload", "<b>", "<i>call", "\u{202e}", "\u{1b}"]
        {
            assert!(!body.contains(tag), "{path} has {tag}: {body}");
        }
        let kinds = answer.header("content-type");
        assert_eq!(kinds, Some("text/html; charset=utf-8"), "{path}");
    }
    let detail = page.see(&format!("/groups/{name}")).await.body;
    for shown in [
        "boom &lt;script&gt;alert(1)&lt;/script&gt;",
        "\\u{202e}reversed\\u{1b}[31m",
        "&lt;b&gt;node&lt;/b&gt;",
        "&lt;i&gt;call&lt;/i&gt;",
        "What the model was told",
    ] {
        assert!(detail.contains(shown), "{shown}: {detail}");
    }
    let run = page.see("/runs?run=%3Csvg%20onload%3Dalert(3)%3E").await.body;
    assert!(run.contains("2 calls, 1 with a failure"), "{run}");
}

#[tokio::test]
async fn groups_are_found_sorted_and_paged() {
    let folder = Folder::new();
    let words = |number: usize| {
        let letter = |at: usize| char::from(b'a' + u8::try_from(at % 26).unwrap());
        format!("trouble {}{} happened", letter(number / 26), letter(number))
    };
    let failing = Failing::new(&folder, "read", "files");
    for number in 0..60 {
        failing.fail(&format!("run {number}"), &words(number)).await;
    }
    failing.fail("again", &words(7)).await;
    let page = page(&folder).await;
    let rows = |body: &str| body.matches("<tr data-group").count();

    let first = page.see("/groups").await.body;
    assert_eq!(rows(&first), 50);
    assert!(first.contains("60 in the last 24 hours") && first.contains("Page 1 of 2"), "{first}");
    assert!(first.find(&words(7)).unwrap() < first.find(&words(59)).unwrap());
    let second = page.see("/groups?page=2").await.body;
    assert_eq!(rows(&second), 10);
    assert!(second.contains("rel=\"prev\"") && !second.contains("rel=\"next\""));
    assert!(page.see("/groups?page=3").await.body.contains("No failure fits"));

    assert_eq!(rows(&page.see("/groups?q=TROUBLE+AH").await.body), 1);
    assert_eq!(rows(&page.see("/groups?q=100%25").await.body), 0);
    assert_eq!(rows(&page.see("/groups?tool=write").await.body), 0);
    assert_eq!(rows(&page.see("/groups?state=resolved").await.body), 0);
    assert!(page.see("/groups?sort=new").await.body.contains("the newest first"));

    let store = Store::open(&folder.place()).await.unwrap();
    let now = i64::MAX / 4;
    let top = |sort| {
        let (store, wanted) = (store.clone(), Wanted { sort, most: 1, ..Wanted::since(0) });
        async move { store.list(&wanted, now).await.unwrap() }
    };
    let by_count = top(Sort::Count).await;
    assert_eq!((by_count.found, by_count.groups[0].count, by_count.groups[0].calls), (60, 2, 61));
    assert_eq!(top(Sort::Rate).await.groups[0].template, words(7));
    assert_eq!(top(Sort::New).await.groups[0].template, words(59));
    assert_eq!(top(Sort::Last).await.groups[0].template, words(7));
    let at = by_count.groups[0].last_seen;
    let spans = store.over_time(at - 3_600_000, at, Step::Minute).await.unwrap();
    assert_eq!(spans.len(), 61);
    let failed: u64 = spans.iter().map(|span| span.failed).sum();
    assert_eq!(failed, 61);
    assert_eq!(store.runs(0, 0, 100).await.unwrap().len(), 61);
    store.close().await;
}

#[tokio::test]
async fn where_there_is_nothing_it_says_what_to_do() {
    let folder = Folder::new();
    let page = page(&folder).await;
    for path in ["/", "/groups", "/groups/x", "/tools", "/breakers", "/runs"] {
        let answer = page.see(path).await;
        assert_eq!(answer.status, 200, "{path}");
        assert!(answer.body.contains("breakfall guard --"), "{path}: {}", answer.body);
        assert!(answer.body.contains(&folder.place()), "{path}");
    }
    // The store comes later, and is found.
    let failing = Failing::new(&folder, "read", "files");
    failing.fail("run", "").await;
    for (path, words) in [
        ("/", "New ones appear here by themselves"),
        ("/groups", "No open failures"),
        ("/groups?q=x", "No failure fits"),
        ("/groups/x", "No such failure"),
        ("/tools", "files · read"),
        ("/breakers", "No breaker has opened"),
        ("/runs", "No run with a failure"),
        ("/runs?run=x", "No call of this run is kept"),
        ("/metrics", "counts nothing itself"),
    ] {
        let body = page.see(path).await.body;
        assert!(body.contains(words), "{path}: {body}");
    }
}

#[tokio::test]
async fn a_store_that_cannot_be_read_is_told_and_a_secret_is_not() {
    let folder = Folder::new();
    std::fs::write(folder.place(), "this is no database, but it is long enough to look".repeat(9))
        .unwrap();
    let broken = page(&folder).await;
    let answer = broken.see("/").await;
    assert_eq!(answer.status, 503);
    assert!(answer.body.contains("The store cannot be read"), "{}", answer.body);

    let password = ["hun", "ter2"].concat();
    let place = format!("postgres://bob:{password}@127.0.0.1:1/none");
    let away = show(Opening::new(place, Token::random().unwrap())).await;
    let answer = away.see("/tools").await;
    assert_eq!(answer.status, 503);
    assert!(!answer.body.contains(&password), "{}", answer.body);
}

#[tokio::test]
async fn counts_of_others_are_shown_where_there_are_some() {
    let folder = Folder::new();
    let mut opening = Opening::new(folder.place(), Token::random().unwrap());
    opening.metrics = Some(Arc::new(|| "calls_total 7\n".to_owned()));
    let page = show(opening).await;
    let bearer = format!("Authorization: Bearer {}", page.token());
    let answer = page.ask("GET /metrics", &[&bearer], "").await;
    assert_eq!((answer.status, answer.body.as_str()), (200, "calls_total 7\n"));
    assert_eq!(answer.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    assert_eq!(page.ask("GET /metrics", &[], "").await.status, 401);
}
