//! The programs as their users get them: built by cargo calls of their own, without the features
//! that dev-dependencies turn on in a build of the tests.
#![allow(
    clippy::unwrap_used,
    dead_code,
    unreachable_pub,
    reason = "tests; each binary uses its own part"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// `sessionctl` with the feature `full`.
pub fn sessionctl() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| program("sessionctl", "SESSION_TEST_SESSIONCTL"))
}

/// `sessionctl` with the default features.
pub fn sessionctl_default() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| program("sessionctl-default", "SESSION_TEST_SESSIONCTL_DEFAULT"))
}

/// The example `agent_loop`, with the features the README names.
pub fn agent_loop() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| program("agent-loop", "SESSION_TEST_AGENT_LOOP"))
}

/// The example `private_log`, with the features it needs.
pub fn private_log() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| program("private-log", "SESSION_TEST_PRIVATE_LOG"))
}

/// The path in the variable, where `cargo xtask test` has built the program; else builds it.
fn program(name: &str, variable: &str) -> PathBuf {
    if let Some(path) = std::env::var_os(variable) {
        return path.into();
    }
    let output = Command::new(env!("CARGO"))
        .args(["xtask", "shipped", name])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    assert!(output.status.success(), "`cargo xtask shipped {name}` failed; it says why above");
    String::from_utf8(output.stdout).unwrap().trim_end().into()
}
