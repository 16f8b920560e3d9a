//! No feature of a crate is tested that is not shipped.
//!
//! Cargo builds a crate once for all who ask for it, with every feature any of them asks for. What a
//! dev-dependency asks for is there in the tests, and missing in what users get.

use std::{
    collections::{BTreeMap, BTreeSet},
    process::Command,
};

use crate::{
    Error, Metadata, Result,
    process::{cargo, output},
};

/// What ships with most features.
const SHIPPED: [&str; 4] = ["--package", "session-context", "--features", "full"];

/// Features that only tests turn on, and why that changes nothing that is there without them.
const HARMLESS: [(&str, &[&str], &str); 5] = [
    ("libc", &["std"], "declarations of C functions"),
    ("linux-raw-sys", &["prctl", "system"], "declarations of system calls"),
    ("rustix", &["process", "system", "thread", "time"], "each opens a module"),
    ("session-model", &["conformance"], "opens a module"),
    (
        "tokio",
        &[
            "bytes",
            "io-util",
            "libc",
            "macros",
            "mio",
            "net",
            "rt",
            "socket2",
            "test-util",
            "tokio-macros",
        ],
        "each opens modules; the clock of `test-util` stands only where a test stops it",
    ),
];

/// Crates, by name and version, with their features.
type Tree = BTreeMap<String, BTreeSet<String>>;

/// Compares what is shipped with what is tested: the whole, and each package with each of its
/// features alone.
pub(crate) fn run(metadata: &Metadata) -> Result<()> {
    let mut found = BTreeSet::new();
    let workspace = ["--workspace", "--all-features"].map(str::to_owned);
    let shipped = tree(&SHIPPED.map(str::to_owned), WITHOUT_TESTS)?;
    found.extend(only_tested(&shipped, &tree(&workspace, WITH_TESTS)?, "all tests"));
    for package in metadata.packages.iter().filter(|package| package.is_shipped()) {
        let alone = package.features.keys().filter(|feature| *feature != "default");
        let none = vec!["--no-default-features".to_owned()];
        let mut sets = vec![(vec![], "default features".to_owned()), (none, "no features".into())];
        sets.extend(alone.map(|feature| {
            let args = ["--no-default-features", "--features", feature].map(str::to_owned);
            (args.to_vec(), format!("feature {feature}"))
        }));
        for (mut args, name) in sets {
            args.extend(["--package".to_owned(), package.name.clone()]);
            let shipped = tree(&args, WITHOUT_TESTS)?;
            let tests = format!("the tests of {}, {name}", package.name);
            found.extend(only_tested(&shipped, &tree(&args, WITH_TESTS)?, &tests));
        }
    }
    for line in &found {
        println!("{line}");
    }
    if found.is_empty() { Ok(()) } else { Err(Error::OnlyTested(found.len())) }
}

const WITHOUT_TESTS: &str = "normal,build";
const WITH_TESTS: &str = "normal,build,dev";

fn tree(args: &[String], edges: &str) -> Result<Tree> {
    let mut command: Command = cargo();
    command.args(["tree", "--locked", "--prefix", "none", "--no-dedupe", "--format", "{p}|{f}"]);
    let text = output(command.args(["--edges", edges]).args(args))?;
    Ok(parsed(&String::from_utf8_lossy(&text)))
}

fn parsed(text: &str) -> Tree {
    let mut tree = Tree::new();
    for (package, features) in text.lines().filter_map(|line| line.split_once('|')) {
        // Name and version; where it is and what it is follows.
        let package = package.split(' ').take(2).collect::<Vec<_>>().join(" ");
        let features = features.trim_end_matches(" (*)").split(',');
        let features = features.filter(|feature| !feature.is_empty()).map(str::to_owned);
        tree.entry(package).or_default().extend(features);
    }
    tree
}

/// Features of shipped crates that are on only with the tests, one a line.
fn only_tested(shipped: &Tree, tested: &Tree, tests: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (package, features) in shipped {
        let name = package.split(' ').next().unwrap_or_default();
        let harmless = HARMLESS.iter().find(|(harmless, ..)| *harmless == name);
        for feature in tested.get(package).into_iter().flatten() {
            let is_harmless = harmless.is_some_and(|(_, some, _)| some.contains(&feature.as_str()));
            // `default` is a name for others, which are compared themselves.
            if !features.contains(feature) && !is_harmless && feature != "default" {
                found.push(format!("{package}: only {tests} turn on `{feature}`"));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_feature_that_only_tests_turn_on_is_found() {
        let shipped = parsed("a v1.0.0 (/p/a)|\nb v2.1.0|std\ntokio v1.0.0|\nb v2.1.0|std (*)\n\n");
        let tested = parsed(
            "a v1.0.0 (/p/a)|default\nb v2.1.0 (proc-macro)|std\nb v2.1.0|unicode,std\n\
                    tokio v1.0.0|net,full\nc v1.0.0|x\nb v3.0.0|y\n",
        );
        assert_eq!(
            only_tested(&shipped, &tested, "the tests of a"),
            [
                "b v2.1.0: only the tests of a turn on `unicode`",
                "tokio v1.0.0: only the tests of a turn on `full`",
            ]
        );
    }
}
