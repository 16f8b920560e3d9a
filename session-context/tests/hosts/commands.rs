//! `sessionctl remote` on hosts.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::server::Server;
use crate::shipped::sessionctl;

pub(crate) struct Host(TempDir);

impl Host {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn file(&self, key: &str) -> PathBuf {
        self.path().join(key)
    }

    /// Runs the command: its exit code, what it printed, and what it said.
    pub(crate) fn run(&self, server: &Server, args: &str) -> (i32, String, String) {
        self.run_on(&server.url(self.path()), args)
    }

    /// The same, on another URL.
    pub(crate) fn run_on(&self, store: &str, args: &str) -> (i32, String, String) {
        let output = Command::new(sessionctl())
            .args(args.split(' '))
            .args(["--store", store])
            .env("HOME", self.path())
            .env_remove("SESSION_AGENT_DIR")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
    }
}

#[test]
fn what_cannot_be_is_told() {
    let server = Server::start();
    let host = Host::new();
    assert_eq!(host.run(&server, "remote list"), (0, String::new(), String::new()));
    let nothing = r#"{"sessions":[]}"#.to_owned() + "\n";
    assert_eq!(host.run(&server, "remote list --json"), (0, nothing, String::new()));
    for command in ["remote pull x", "remote claim x", "remote release x"] {
        let (code, out, err) = host.run(&server, command);
        assert_eq!((code, &*out), (1, ""), "{command}");
        assert!(err.contains("there is no session of the id x"), "{command}: {err}");
    }
    assert_eq!(host.run(&server, "remote pull x --all").0, 2);
    let plain = host.path().display().to_string();
    let (code, _, err) = host.run_on(&plain, "remote list");
    assert_eq!(code, 1);
    assert!(err.contains("indexed:///path?remote=redis://host:6379/0"), "{err}");
    let (code, _, err) =
        host.run_on(&format!("indexed://{plain}?remote=redis://127.0.0.1:1/"), "remote list");
    assert_eq!(code, 1);
    assert!(err.contains("the remote does not answer"), "{err}");
}
