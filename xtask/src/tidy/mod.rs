//! `cargo xtask tidy`: the house rules that a program can check.
//!
//! Each check is a function over the project's files that reports places; `CHECKS` is the list.

mod banners;
mod layers;
mod layout;
mod length;
mod links;
mod machine;
mod manifests;
mod marks;
mod module_docs;
mod project;
mod purity;
mod reachable;
mod rust;

use project::Project;

use crate::{Error, Metadata, Result};

type Check = fn(&Project<'_>) -> Vec<Finding>;

const CHECKS: &[(&str, Check)] = &[
    ("banners", banners::check),
    ("layers", layers::check),
    ("layout", layout::check),
    ("length", length::check),
    ("links", links::check),
    ("machine", machine::check),
    ("manifests", manifests::check),
    ("marks", marks::check),
    ("module docs", module_docs::check),
    ("purity", purity::check),
    ("reachable", reachable::check),
];

/// A place that breaks a rule.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    path: String,
    /// From 1.
    line: usize,
    message: String,
}

impl Finding {
    fn new(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, message: message.into() }
    }
}

/// Runs every check over the project's files and prints what they find.
///
/// # Errors
///
/// When a file cannot be read, or something was found.
pub fn run(metadata: &Metadata) -> Result<()> {
    let project = Project::load(metadata)?;
    let mut findings = 0;
    for (name, check) in CHECKS {
        let mut found = check(&project);
        found.sort();
        findings += found.len();
        for Finding { path, line, message } in found {
            println!("{path}:{line}: {message} ({name})");
        }
    }
    if findings == 0 { Ok(()) } else { Err(Error::Untidy(findings)) }
}
