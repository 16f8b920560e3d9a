//! `cargo xtask test`: all tests with all features against a private Redis and a real browser.

use std::process::Command;

use crate::{
    Report, chromium, faults,
    process::{cargo, run as run_command},
    redis::{self, Server},
};

/// Address of the running private server.
const URL: &str = "SESSION_TEST_REDIS_URL";

/// Gets a server ready, runs `cargo test` with `args`, and stops the server.
pub fn run(args: &[String], report: &mut Report) {
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
    report.step("test", || {
        let mut command = cargo_test(args);
        command.env(URL, server.url()).env(redis::BINARY, binary);
        run_command(command.env(chromium::BINARY, browser))
    });
}

/// Libraries, binaries, integration tests, examples and doc tests; not benches, which
/// `--all-targets` would run as tests. The arguments may narrow packages and features.
fn cargo_test(args: &[String]) -> Command {
    const PACKAGES: [&str; 5] = ["-p", "--package", "--workspace", "--all", "--exclude"];
    const FEATURES: [&str; 4] = ["-F", "--features", "--all-features", "--no-default-features"];
    let for_cargo = args.split(|arg| arg == "--").next().unwrap_or_default();
    let names = |options: &[&str]| for_cargo.iter().any(|arg| is_one_of(arg, options));
    let mut command = cargo();
    command.args(["test", "--no-fail-fast"]);
    if !names(&PACKAGES) {
        command.arg("--workspace");
    }
    if !names(&FEATURES) {
        command.arg("--all-features");
    }
    command.args(args);
    command
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
