//! Sessions under faults: failing system calls, sudden death, full disks, power cuts, other writers.
//!
//! `cargo xtask faults` runs these with what they need. This binary is its own child: started with a
//! role in its environment, it plays that role.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    unreachable_pub,
    reason = "tests"
)]

mod calls;
mod contend;
mod cuts;
mod life;
mod merge;
mod no_locks;
mod operations;
mod outputs;
mod power;
mod session;
#[path = "../support/shipped.rs"]
mod shipped;
mod space;

use std::env;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use libtest_mimic::{Arguments, Trial};

const ROLE: &str = "SESSION_TEST_FAULTS_ROLE";
const ROOT: &str = "SESSION_TEST_FAULTS_ROOT";
/// Set to `long` for the long form.
const FORM: &str = "SESSION_TEST_FAULTS";
/// A file that gets a line for every test: its name, a tab, and what it met.
const TABLE: &str = "SESSION_TEST_FAULTS_TABLE";

fn main() -> ExitCode {
    if let Ok(role) = env::var(ROLE) {
        let root = PathBuf::from(env::var_os(ROOT).unwrap());
        match role.split_once(' ').unwrap_or((&role, "")) {
            ("contend", name) => contend::play(&root, name),
            ("power", kind) => power::play(&root, kind),
            _ => panic!("there is no role {role}"),
        }
        return ExitCode::SUCCESS;
    }
    let tests: [(&str, Test); 25] = [
        ("life_with_failing_calls", life::failing),
        ("life_with_crashes", life::crashing),
        ("system_calls_of_append", calls::append),
        ("system_calls_of_append_with_an_image", calls::append_image),
        ("system_calls_of_doctor", calls::doctor),
        ("system_calls_of_gc", calls::gc),
        ("system_calls_of_label", calls::label),
        ("system_calls_of_migrate", calls::migrate),
        ("kills_of_archive", operations::archive),
        ("kills_of_branch_out", operations::branch_out),
        ("kills_of_fork", operations::fork),
        ("memory_of_a_large_fork", operations::large_fork),
        ("kills_of_mv", operations::mv),
        ("kills_of_rename", operations::rename),
        ("kills_of_restore", operations::restore),
        ("kills_of_rm", operations::rm),
        ("kills_of_export", outputs::killed),
        ("order_of_export_and_pack", outputs::in_order),
        ("torn_ends", cuts::ends),
        ("torn_title_slots", cuts::slots),
        ("kill_of_contending_writers", contend::nothing_is_lost),
        ("writes_that_do_not_fit", space::limited),
        ("copies_changed_apart", merge::nothing_is_lost),
        ("no_locks", no_locks::only_reads_work),
        ("full_disk", space::full),
    ];
    let mut trials: Vec<_> = tests.into_iter().map(|(name, test)| trial(name, test)).collect();
    trials.push(trial("power_cut", power::cut));
    if !rustix::process::geteuid().is_root() {
        eprintln!(
            "full_disk and power_cut mount file systems; they are skipped, as this is not root"
        );
        trials.truncate(trials.len() - 2);
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// A test, which tells what it met.
type Test = fn() -> String;

fn trial(name: &'static str, test: Test) -> Trial {
    Trial::test(name, move || {
        let met = test();
        eprintln!("{name}: {met}");
        if let Some(table) = env::var_os(TABLE) {
            let line = format!("{name}\t{met}\n");
            File::options().create(true).append(true).open(table)?.write_all(line.as_bytes())?;
        }
        Ok(())
    })
}

fn is_long() -> bool {
    env::var(FORM).is_ok_and(|form| form == "long")
}

/// This program in another role.
fn child(role: &str, root: &Path) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.env(ROLE, role).env(ROOT, root);
    command
}

/// Runs a program that has to work.
#[track_caller]
fn run(program: &str, args: &[&str]) -> String {
    let missing = format!("{program} is missing; `cargo xtask faults` installs it");
    let output = Command::new(program).args(args).output().unwrap_or_else(|_| panic!("{missing}"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {args:?}: {errors}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}
