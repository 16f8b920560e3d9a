//! `cargo xtask ci`: every check that a change has to pass.

use std::env;

use clap::{Args, ValueEnum};

use crate::{
    Metadata, Report, Result, deny,
    features::feature_sets,
    process::{cargo, run as run_command},
    published, same_features, snippets, test, tidy,
};

/// Which steps to run.
#[derive(Args, Debug, Default)]
pub struct Options {
    /// Run these steps only, as in `--only fmt,tidy`
    #[arg(long, value_delimiter = ',', value_name = "STEPS")]
    only: Vec<Step>,
    /// Leave these steps out, as in `--skip deny`
    #[arg(long, value_delimiter = ',', value_name = "STEPS")]
    skip: Vec<Step>,
    /// Let cargo-deny look for security advisories too, which fetches their database with git
    #[arg(long)]
    advisories: bool,
}

/// A step of `ci`, in the order they run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Step {
    /// The sources are formatted
    Fmt,
    /// The house rules hold
    Tidy,
    /// No warning, with each set of features
    Clippy,
    /// The tests pass
    Test,
    /// The documentation builds without a warning
    Doc,
    /// Tests turn on no feature of a crate that is not shipped
    Features,
    /// The programs in README and docs build and run outside the workspace
    Snippets,
    /// The declared Rust builds the packages
    RustVersion,
    /// The oldest versions of dependencies that the manifests allow build
    MinimalVersions,
    /// Every crate that is published packs and builds from its package
    Packages,
    /// Licences, bans and sources of the dependencies
    Deny,
}

/// Runs the chosen steps, all of them whatever fails.
pub fn run(options: &Options, metadata: &Metadata, report: &mut Report) {
    for step in Step::value_variants().iter().filter(|step| options.wants(**step)) {
        match step {
            Step::Fmt => {
                report.step("fmt", || run_command(cargo().args(["fmt", "--all", "--check"])))
            }
            Step::Tidy => report.step("tidy", || tidy::run(metadata)),
            Step::Clippy => clippy(metadata, report),
            Step::Test => test::run(&[], metadata, report),
            Step::Doc => report.step("doc", doc),
            Step::Features => report.step("features", || same_features::run(metadata)),
            Step::Snippets => report.step("snippets", || snippets::run(metadata)),
            Step::RustVersion => report.step("rust version", || published::rust_version(metadata)),
            Step::MinimalVersions => {
                report.step("minimal versions", || published::minimal_versions(metadata))
            }
            Step::Packages => report.step("packages", || published::packages(metadata)),
            Step::Deny => deny::run(options.advisories, report),
        }
    }
}

impl Options {
    fn wants(&self, step: Step) -> bool {
        (self.only.is_empty() || self.only.contains(&step)) && !self.skip.contains(&step)
    }
}

fn clippy(metadata: &Metadata, report: &mut Report) {
    for set in feature_sets(metadata) {
        report.step(&format!("clippy: {}", set.name), || {
            let clippy = ["clippy", "--keep-going"];
            run_command(cargo().args(clippy).args(set.args).args(["--", "-D", "warnings"]))
        });
    }
}

fn doc() -> Result<()> {
    let mut flags = env::var("RUSTDOCFLAGS").unwrap_or_default();
    flags.push_str(" -D warnings");
    let mut command = cargo();
    command.args(["doc", "--keep-going", "--workspace", "--no-deps", "--all-features"]);
    run_command(command.env("RUSTDOCFLAGS", flags.trim_start()))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        options: Options,
    }

    fn steps(args: &[&str]) -> Vec<Step> {
        let options = Cli::parse_from(std::iter::once(&"ci").chain(args)).options;
        Step::value_variants().iter().copied().filter(|step| options.wants(*step)).collect()
    }

    #[test]
    fn steps_are_chosen_by_only_and_skip() {
        assert_eq!(steps(&[]), Step::value_variants());
        assert_eq!(steps(&["--only", "tidy,fmt"]), [Step::Fmt, Step::Tidy]);
        assert_eq!(
            steps(&["--skip", "deny,test,features,snippets,rust-version,minimal-versions"]),
            [Step::Fmt, Step::Tidy, Step::Clippy, Step::Doc, Step::Packages]
        );
        assert_eq!(steps(&["--only", "fmt,doc", "--skip", "doc"]), [Step::Fmt]);
    }
}
