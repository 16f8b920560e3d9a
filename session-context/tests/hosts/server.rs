//! A Redis of the test's own, on a socket, that keeps what it has when it is killed.

use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

pub(crate) struct Server {
    dir: TempDir,
    child: Option<Child>,
}

impl Server {
    pub(crate) fn start() -> Self {
        let mut server = Self { dir: tempfile::tempdir().unwrap(), child: None };
        server.start_again();
        server
    }

    pub(crate) fn start_again(&mut self) {
        let binary = std::env::var_os("SESSION_TEST_REDIS_SERVER")
            .expect("start this by `cargo xtask test`, which sets SESSION_TEST_REDIS_SERVER");
        let child = Command::new(binary)
            .args(["--port", "0", "--unixsocket", "socket", "--unixsocketperm", "700"])
            .args(["--save", "", "--appendonly", "yes", "--appendfsync", "always"])
            .current_dir(self.dir.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        self.child = Some(child);
        until("Redis is up", || UnixStream::connect(self.socket()).is_ok());
    }

    /// Ends the server at once, as a crash would.
    pub(crate) fn kill(&mut self) {
        let mut child = self.child.take().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        std::fs::remove_file(self.socket()).unwrap();
    }

    fn socket(&self) -> PathBuf {
        self.dir.path().join("socket")
    }

    /// The URL of a host's directory that is shared through this server.
    pub(crate) fn url(&self, host: &Path) -> String {
        let socket = self.socket();
        format!("indexed://{}?remote=redis%2Bunix://{}", host.display(), socket.display())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.child.is_some() {
            self.kill();
        }
    }
}

/// Waits for what others do.
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(120), "waited too long: {what}");
        std::thread::yield_now();
    }
}
