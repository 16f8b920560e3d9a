//! Publishing to a remote: order, faults, kills, and that nothing is lost.
//!
//! This program is its own child: with `PUBLISH_TEST_ROLE` set it plays that role instead of testing.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    unreachable_pub
)]

#[cfg(feature = "redis")]
mod away;
mod blocked;
mod confirmed;
mod dice;
mod host;
mod hostile;
mod own;
#[cfg(feature = "redis")]
mod proxy;
mod reading;
#[cfg(feature = "redis")]
mod real;
#[cfg(feature = "redis")]
#[path = "../remote/server.rs"]
#[allow(dead_code, reason = "the tests of the remote use more of it")]
mod server;
mod set_back;
mod simulation;
mod steps;
mod support;
mod unanswered;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

fn main() -> ExitCode {
    #[cfg(feature = "redis")]
    if std::env::var_os(real::ROLE).is_some() {
        real::play();
        return ExitCode::SUCCESS;
    }
    #[cfg(feature = "redis")]
    let real = [real::TESTS, away::TESTS].concat();
    #[cfg(not(feature = "redis"))]
    let real: Vec<support::Test> = Vec::new();
    let fakes = [
        blocked::TESTS,
        confirmed::TESTS,
        hostile::TESTS,
        reading::TESTS,
        set_back::TESTS,
        simulation::TESTS,
        steps::TESTS,
        unanswered::TESTS,
    ];
    let trials = [fakes.concat(), real].concat();
    let trials = trials.into_iter().map(|(name, test)| {
        Trial::test(name, move || {
            test();
            Ok(())
        })
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}
