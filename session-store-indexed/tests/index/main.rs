//! The index of sessions: what it answers, what it survives, and that it equals one made anew.
//!
//! This program is its own child: with [`support::ROLE`] set it plays that role instead of testing.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, unreachable_pub)]

mod answers;
mod faults;
mod random;
mod search;
mod support;

use std::env;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

fn main() -> ExitCode {
    if let Ok(role) = env::var(support::ROLE) {
        faults::play(&role);
        return ExitCode::SUCCESS;
    }
    let trials = [answers::TESTS, faults::TESTS, random::TESTS, search::TESTS].concat();
    let trials = trials.into_iter().map(|(name, test)| {
        Trial::test(name, move || {
            test();
            Ok(())
        })
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}
