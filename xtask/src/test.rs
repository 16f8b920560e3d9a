//! `cargo xtask test`: all tests with all features against a private Redis and a real browser.

use std::process::Command;

use clap::ValueEnum;

use crate::{
    Metadata, Report, chromium, faults, packages,
    process::{cargo, run as run_command},
    redis::{self, Server},
    shipped::{self, Program},
};

/// Address of the running private server.
const URL: &str = "SESSION_TEST_REDIS_URL";
/// Options of cargo that choose packages.
const PACKAGES: [&str; 5] = ["-p", "--package", "--workspace", "--all", "--exclude"];

/// Gets a server ready, runs `cargo test` with `args`, and stops the server.
pub fn run(args: &[String], metadata: &Metadata, report: &mut Report) {
    let ready = report.try_step("redis", || {
        let binary = redis::find_or_install()?;
        let server = Server::start(&binary)?;
        eprintln!("{} answers at {}", binary.display(), server.url());
        Ok((binary, server))
    });
    let Some((binary, server)) = ready else { return };
    if report.try_step("tools for faults", faults::install_tools).is_none() {
        return;
    }
    let Some(browser) = report.try_step("chromium", chromium::find_or_install) else { return };
    // For the screens, which are tried out in a real terminal.
    if report.try_step("tmux", || packages::install_program("tmux", "tmux")).is_none() {
        return;
    }
    let mut command = cargo_test(args);
    if !names(args, &PACKAGES) {
        // A test that runs alone builds those it needs.
        for &program in Program::value_variants() {
            let step = format!("shipped: {}", program.name());
            if let Some(path) = report.try_step(&step, || shipped::build(program, metadata)) {
                command.env(program.variable(), path);
            }
        }
    }
    report.step("test", || {
        command.env(URL, server.url()).env(redis::BINARY, binary);
        run_command(command.env(chromium::BINARY, browser))
    });
}

/// Libraries, binaries, integration tests, examples and doc tests; not benches, which
/// `--all-targets` would run as tests. The arguments may narrow packages and features.
fn cargo_test(args: &[String]) -> Command {
    const FEATURES: [&str; 4] = ["-F", "--features", "--all-features", "--no-default-features"];
    let mut command = cargo();
    command.args(["test", "--no-fail-fast"]);
    if !names(args, &PACKAGES) {
        command.arg("--workspace");
    }
    if !names(args, &FEATURES) {
        command.arg("--all-features");
    }
    command.args(args);
    command
}

/// Whether one of the arguments for cargo is one of `options`.
fn names(args: &[String], options: &[&str]) -> bool {
    let for_cargo = args.split(|arg| arg == "--").next().unwrap_or_default();
    for_cargo.iter().any(|arg| is_one_of(arg, options))
}

/// Whether `arg` is one of `options`, on its own or with its value attached.
fn is_one_of(arg: &str, options: &[&str]) -> bool {
    options.iter().any(|option| match arg.strip_prefix(option) {
        Some(rest) => rest.is_empty() || rest.starts_with('=') || !option.starts_with("--"),
        None => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(args: &[&str]) -> Vec<String> {
        let args: Vec<_> = args.iter().map(|&arg| arg.to_owned()).collect();
        let command = cargo_test(&args);
        command.get_args().map(|arg| arg.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn everything_runs_unless_arguments_narrow_it() {
        assert_eq!(line(&[]), ["test", "--no-fail-fast", "--workspace", "--all-features"]);
        assert_eq!(
            line(&["-p", "session-model", "tree"]),
            ["test", "--no-fail-fast", "--all-features", "-p", "session-model", "tree"]
        );
        assert_eq!(
            line(&["--package=xtask", "--features=a"]),
            ["test", "--no-fail-fast", "--package=xtask", "--features=a"]
        );
        assert_eq!(line(&["-pxtask", "-Fa"]), ["test", "--no-fail-fast", "-pxtask", "-Fa"]);
    }

    #[test]
    fn arguments_of_the_test_binaries_narrow_nothing() {
        assert_eq!(
            line(&["--packages", "--", "-p", "--features"]),
            [
                "test",
                "--no-fail-fast",
                "--workspace",
                "--all-features",
                "--packages",
                "--",
                "-p",
                "--features"
            ]
        );
    }
}
