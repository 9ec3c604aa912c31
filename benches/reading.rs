//! What it costs to make sense of an error and to take the secrets out of it.

use std::hint::black_box;

use breakfall::{Evidence, Reader, Redactor};
use criterion::{Criterion, criterion_group, criterion_main};

/// An honest error of 200 bytes.
const SHORT: &str = "psycopg.OperationalError: connection to server at \"10.0.0.7\", port 5432 failed: \
                     FATAL:  password authentication failed for user \"app\" (host=db.internal dbname=shop \
                     password=hunter2-x) while connecting";

/// One of 200 bytes that is about something: all the names in it are weighed.
const NAMING: &str = "Error: unable to open configuration file '/srv/app/config/settings.yaml': No such file or \
                      directory (os error 2) while starting the worker in /srv/app; check that the file exists and can \
                      be read by it";

/// The first behind a traceback of 8 KiB.
fn long() -> String {
    let frame = "  File \"/home/dev/project/.venv/lib/python3.11/site-packages/app/worker.py\", line 404, in run\n    return self.connection.execute(query, timeout=30)\n";
    let frames = frame.repeat(8 * 1024 / frame.len());
    format!("Traceback (most recent call last):\n{frames}{SHORT}")
}

fn reading(criterion: &mut Criterion) {
    let (reader, redactor, long) = (Reader::default(), Redactor::default(), long());
    let mut group = criterion.benchmark_group("reading");
    for (name, text) in [
        ("an error of 200 bytes", SHORT),
        ("an error that names a file", NAMING),
        ("an error of 8 KiB", long.as_str()),
    ] {
        group.bench_function(format!("{name}: classified and redacted"), |bencher| {
            bencher.iter(|| {
                let reading =
                    reader.read(&Evidence { text: black_box(text), ..Evidence::default() });
                (reading, redactor.redact(black_box(text)).len())
            });
        });
        group.bench_function(format!("{name}: classified"), |bencher| {
            bencher
                .iter(|| reader.read(&Evidence { text: black_box(text), ..Evidence::default() }));
        });
        group.bench_function(format!("{name}: redacted"), |bencher| {
            bencher.iter(|| redactor.redact(black_box(text)).len());
        });
    }
    group.finish();
}

criterion_group!(benches, reading);
criterion_main!(benches);
