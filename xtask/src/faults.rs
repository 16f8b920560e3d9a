//! `cargo xtask faults`: sessions under failing calls, kills, full disks and power cuts.

use std::fs;

use clap::Args;

use crate::{
    Error, Report, Result, packages,
    process::{cargo, run as run_command},
    redis,
};

/// Set to `long` for the long form.
const FORM: &str = "SESSION_TEST_FAULTS";
/// How many MiB each session has.
const MIB: &str = "SESSION_TEST_FAULTS_MIB";
/// Names the file that gets a line for every test.
const TABLE: &str = "SESSION_TEST_FAULTS_TABLE";
/// How many seeds the simulation of hosts has, and the runs against a real server.
const SIMULATIONS: &str = "SESSION_SIM_SEEDS";
const REAL_RUNS: &str = "SESSION_REAL_SEEDS";
/// How many MiB are written while the server is away.
const AWAY: &str = "SESSION_AWAY_MIB";
/// The tests of shared sessions, with the variable that says how much they do, and how much.
const SHARED: [(&str, &str, u64); 4] = [
    ("simulation", SIMULATIONS, 1000),
    ("faults_of_a_real_server", REAL_RUNS, 50),
    ("killed_publishers", REAL_RUNS, 50),
    ("away_for_long", AWAY, 128),
];
/// Programs the tests start, each with the package that brings it.
const PROGRAMS: [(&str, &str); 1] = [("strace", "strace")];
/// Those of the tests that mount file systems, which only root can run.
const MOUNTING: [(&str, &str); 4] = [
    ("losetup", "util-linux"),
    ("mount", "util-linux"),
    ("mkfs.ext4", "e2fsprogs"),
    ("xfs_io", "xfsprogs"),
];

/// Which faults to run, and how many.
#[derive(Args, Debug, Default)]
pub struct Options {
    /// Many more kills and power cuts
    #[arg(long)]
    long: bool,
    /// Strike sessions of this many MiB instead of small ones, past every batch and block
    #[arg(long, value_name = "MIB")]
    mib: Option<u64>,
    /// Run the tests with one of these in their names only; all without
    names: Vec<String>,
}

/// Installs what is missing, runs the tests and prints what each met.
pub fn run(options: &Options, report: &mut Report) {
    if report.try_step("tools for faults", install_tools).is_none() {
        return;
    }
    report.step("faults", || {
        let dir = tempfile::tempdir().map_err(Error::Scratch)?;
        let table = dir.path().join("table");
        let passed = runs(&options.names).into_iter().try_for_each(|name| {
            let mut command = cargo();
            command.args(["test", "--package", "session-context", "--all-features"]);
            command.args(["--test", "faults", "--"]).args(name).env(TABLE, &table);
            if options.long {
                command.env(FORM, "long");
            }
            if let Some(mib) = options.mib {
                command.env(MIB, mib.to_string());
            }
            run_command(&mut command)
        });
        let passed = passed.and_then(|()| shared_sessions(&chosen(&options.names), options.long));
        // Without a single test that passed there is no table.
        eprint!("{}", aligned(&fs::read_to_string(&table).unwrap_or_default()));
        passed
    });
}

/// Sessions that several hosts share, simulated and on a real Redis; by seeds that are printed.
fn shared_sessions(tests: &[(&str, &str, u64)], is_long: bool) -> Result<()> {
    let (binary, times) = (redis::find_or_install()?, if is_long { 10 } else { 1 });
    for (test, variable, amount) in tests {
        let mut command = cargo();
        command.args(["test", "--package", "session-store-indexed", "--features", "redis"]);
        command.args(["--test", "publish", "--", test]).env(redis::BINARY, &binary);
        run_command(command.env(variable, (amount * times).to_string()))?;
    }
    Ok(())
}

/// Those of the tests of shared sessions that have one of the names in theirs; all without names.
fn chosen(names: &[String]) -> Vec<(&'static str, &'static str, u64)> {
    let is_named =
        |test: &str| names.is_empty() || names.iter().any(|name| test.contains(name.as_str()));
    SHARED.into_iter().filter(|(test, ..)| is_named(test)).collect()
}

/// What each run asks for: a test program takes one name only.
fn runs(names: &[String]) -> Vec<Option<&String>> {
    if names.is_empty() { vec![None] } else { names.iter().map(Some).collect() }
}

/// Installs those of the programs that are missing.
pub(crate) fn install_tools() -> Result<()> {
    let mounting = MOUNTING.iter().filter(|_| rustix::process::geteuid().is_root());
    PROGRAMS
        .iter()
        .chain(mounting)
        .try_for_each(|(program, package)| packages::install_program(program, package))
}

/// Lines of a name, a tab and a text, sorted, with the texts below each other.
fn aligned(table: &str) -> String {
    let mut rows: Vec<_> = table.lines().filter_map(|line| line.split_once('\t')).collect();
    rows.sort_unstable();
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    rows.iter().map(|(name, text)| format!("  {name:<width$}  {text}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_has_a_run_and_none_is_one_run() {
        let names = ["a".to_owned(), "b".to_owned()];
        assert_eq!(runs(&names), [Some(&names[0]), Some(&names[1])]);
        assert_eq!(runs(&[]), [None]);
    }

    #[test]
    fn tests_of_shared_sessions_are_chosen_by_name() {
        let chosen = |name: &str| {
            let found = chosen(&[name.to_owned()]);
            found.into_iter().map(|(test, ..)| test).collect::<Vec<_>>()
        };
        assert_eq!(chosen("away"), ["away_for_long"]);
        assert_eq!(chosen("kill"), ["killed_publishers"]);
        assert_eq!(chosen("append"), [""; 0]);
        assert_eq!(super::chosen(&[]), SHARED);
    }

    #[test]
    fn the_table_has_its_texts_below_each_other() {
        assert_eq!(aligned("longer\ttwo\na\tone\n"), "  a       one\n  longer  two\n");
    }
}
