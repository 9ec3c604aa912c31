//! Any file and any environment: a configuration, or problems with their places. No panic.
#![no_main]

use breakfall::{Config, Error, Guard};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: (String, String, String)| {
    let (text, name, value) = data;
    let variable = (format!("BREAKFALL_{}", name.replace('\0', "_")), value);
    let config = match Config::from_toml(&text, "breakfall.toml") {
        Ok(config) => config,
        Err(Error::Config { problems }) => {
            assert!(!problems.is_empty());
            assert!(problems.iter().all(|problem| problem.line.is_some()), "{problems:?}");
            return;
        }
        Err(error) => panic!("{error}"),
    };
    if let Ok(config) = config.with_environment([variable]) {
        assert!(Guard::builder().config(config).build().is_ok());
    }
});
