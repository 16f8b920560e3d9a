//! Publishing to a remote: order, faults, kills, and that nothing is lost.
//!
//! This program is its own child: with [`support::ROLE`] set it plays that role instead of testing.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    unreachable_pub
)]

mod blocked;
mod host;
mod simulation;
mod steps;
mod support;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

fn main() -> ExitCode {
    let trials = [blocked::TESTS, simulation::TESTS, steps::TESTS].concat();
    let trials = trials.into_iter().map(|(name, test)| {
        Trial::test(name, move || {
            test();
            Ok(())
        })
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}
