//! The `cargo xtask` command line.

#![expect(clippy::print_stderr, reason = "a developer's tool talks on the terminal")]

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use xtask::{Metadata, Report, Result, bench, ci, faults, fuzz, screenshots, shipped, test, tidy};

/// Everything a developer or CI runs.
///
/// Each step is printed with its time, a summary closes the run, and the exit code is 0 only if
/// every step passed.
#[derive(Parser)]
#[command(bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run every check that a change has to pass
    Ci(ci::Options),
    /// Run all tests with all features against a private Redis
    ///
    /// Finds `redis-server` or `valkey-server` on PATH, or installs it with the system's package
    /// manager, starts a private instance and stops it at the end. Without a server the command
    /// fails: no test is skipped.
    ///
    /// Arguments after `--` go to `cargo test`:
    ///
    ///     cargo xtask test -- -p session-model tree
    ///     cargo xtask test -- -p session-store-file --test conformance -- --nocapture
    #[command(verbatim_doc_comment)]
    Test {
        /// Arguments for `cargo test`
        #[arg(last = true, value_name = "CARGO ARGS")]
        args: Vec<String>,
    },
    /// Build programs as their users get them, and print their paths
    ///
    /// Tests drive these. Nothing is built that is built already.
    Shipped {
        #[arg(required = true)]
        programs: Vec<shipped::Program>,
    },
    /// Check the house rules that a program can check
    Tidy,
    /// Put sessions through failing system calls, kills, full disks and power cuts
    ///
    /// Installs strace, e2fsprogs, xfsprogs and util-linux if they are missing. What mounts file
    /// systems runs as root only. `cargo xtask test` runs the short form, too.
    Faults(faults::Options),
    /// Run fuzz targets, all of them or one
    ///
    /// Installs cargo-fuzz if it is missing, and takes a nightly toolchain.
    Fuzz(fuzz::Options),
    /// Draw the screens of the README anew, as text and as pictures
    ///
    /// Installs tmux and the font DejaVu Sans Mono if they are missing.
    Screenshots,
    /// Print ratios of our operations against baselines measured in the same run
    Bench {
        /// Arguments for the bench program
        #[arg(last = true, value_name = "BENCH ARGS")]
        args: Vec<String>,
    },
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let mut report = Report::default();
    match run(&cli.command, &mut report) {
        Ok(()) => report.finish(),
        Err(error) => {
            eprintln!("error: {}", error.chain());
            ExitCode::FAILURE
        }
    }
}

fn run(command: &Command, report: &mut Report) -> Result<()> {
    let metadata = Metadata::load()?;
    // The same run from every folder: cargo-deny, for one, looks at the package it stands in.
    metadata.enter_root()?;
    match command {
        Command::Ci(options) => ci::run(options, &metadata, report),
        Command::Test { args } => test::run(args, &metadata, report),
        Command::Shipped { programs } => return shipped::run(programs, &metadata),
        Command::Faults(options) => faults::run(options, report),
        Command::Fuzz(options) => fuzz::run(options, report),
        Command::Screenshots => screenshots::run(&metadata, report),
        Command::Tidy => report.step("tidy", || tidy::run(&metadata)),
        Command::Bench { args } => report.step("bench", || bench::run(args, &metadata)),
    }
    Ok(())
}
