//! The page: what fails, seen in a browser.
