//! What only shows with several processes: claims, umasks, limits, and sudden death.
//!
//! This binary is its own child: started with a role in its environment, it plays that role.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    unreachable_pub
)]

#[path = "processes/claims.rs"]
mod claims;
#[path = "processes/kill.rs"]
mod kill;
#[path = "processes/limits.rs"]
mod limits;
mod support;

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use libtest_mimic::{Arguments, Trial};

const ROLE: &str = "SESSION_STORE_FILE_ROLE";
const ROOT: &str = "SESSION_STORE_FILE_ROOT";

fn main() -> ExitCode {
    if let Ok(role) = env::var(ROLE) {
        let root = PathBuf::from(env::var_os(ROOT).unwrap());
        match role.as_str() {
            "hold" => claims::hold(&root),
            "count" => claims::count(&root),
            "append" => kill::append(&root),
            "make" => limits::make(&root),
            "die" => limits::die(&root),
            "fill" => limits::fill(&root),
            other => panic!("there is no role {other}"),
        }
        return ExitCode::SUCCESS;
    }
    let mut trials = Vec::new();
    let mut trial = |name, test: fn()| {
        trials.push(Trial::test(name, move || {
            test();
            Ok(())
        }));
    };
    trial("a_claim_holds_between_processes_and_ends_with_its_holder", claims::ends_with_its_holder);
    trial("a_lock_file_removed_before_it_was_locked_is_no_claim", claims::of_what_was_removed);
    trial("contending_processes_take_turns", claims::take_turns);
    trial("what_was_acknowledged_survives_kill", kill::nothing_is_lost);
    trial("modes_do_not_depend_on_the_umask", limits::modes);
    trial("an_append_that_does_not_fit_is_cut_back", limits::cut_back);
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// A child in a role, with a shell's commands run before.
fn child(role: &str, root: &Path, before: &str) -> Command {
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!(r#"{before} exec "$0""#)).arg(env::current_exe().unwrap());
    command.env(ROLE, role).env(ROOT, root);
    command
}
