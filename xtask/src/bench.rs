//! `cargo xtask bench`: ratios of our operations against baselines, all measured in one run.

use crate::{
    Error, Metadata, Result,
    process::{cargo, run as run_command},
};

const PACKAGE: &str = "session-context";
const BENCH: &str = "ratios";

/// Runs the bench that prints ratios, with all features, `args` going to it.
///
/// # Errors
///
/// When the workspace lacks the bench, or it fails.
pub fn run(args: &[String], metadata: &Metadata) -> Result<()> {
    let is_bench = |kind: &String| kind == "bench";
    let exists = metadata.package(PACKAGE).is_some_and(|package| {
        package
            .targets
            .iter()
            .any(|target| target.name == BENCH && target.kind.iter().any(is_bench))
    });
    if !exists {
        return Err(Error::NoBench { package: PACKAGE, bench: BENCH });
    }
    let mut command = cargo();
    command.args(["bench", "--package", PACKAGE, "--all-features", "--bench", BENCH, "--"]);
    run_command(command.args(args))
}
