//! One private server: a unix socket and a loopback port, nothing on disk, gone with its owner.

use std::{
    fs::{self, File},
    io::{self, Read, Write},
    net::{Ipv4Addr, TcpListener},
    os::unix::net::UnixStream,
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use tempfile::TempDir;

use crate::{Error, Result};

/// How long a server may take to answer.
const PATIENCE: Duration = Duration::from_secs(120);
/// Pause between two looks whether it answers.
const POLL: Duration = Duration::from_millis(10);
/// A free port can be taken by somebody else before the server has it.
const PORTS_TO_TRY: usize = 5;

/// A running server; dropping it ends the process and removes its files.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    port: u16,
    dir: TempDir,
}

impl Server {
    /// Starts the server and waits until it answers.
    pub(crate) fn start(binary: &Path) -> Result<Self> {
        let mut log = String::new();
        for _ in 0..PORTS_TO_TRY {
            let mut server = Self::spawn(binary)?;
            if server.wait_until_ready().map_err(Error::RedisSetUp)? {
                return Ok(server);
            }
            log = server.log();
        }
        Err(Error::RedisDown { binary: binary.to_owned(), log })
    }

    /// The address for clients.
    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/", self.port)
    }

    fn spawn(binary: &Path) -> Result<Self> {
        let prepare = || {
            let dir = tempfile::Builder::new().prefix("xtask-redis-").tempdir()?;
            let log = File::create(dir.path().join("log"))?;
            let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
            Ok((dir, log.try_clone()?, log, port))
        };
        let (dir, stdout, stderr, port) = prepare().map_err(Error::RedisSetUp)?;
        let child = Command::new(binary)
            .args(["--bind", "127.0.0.1", "--port", &port.to_string()])
            .args(["--unixsocket", "socket", "--unixsocketperm", "700"])
            .args(["--save", "", "--appendonly", "no", "--daemonize", "no"])
            .current_dir(dir.path())
            .stdin(Stdio::null())
            .stdout(stdout)
            .stderr(stderr)
            .spawn()
            .map_err(|source| Error::Start { command: binary.display().to_string(), source })?;
        Ok(Self { child, port, dir })
    }

    /// True once the server answers, false if it has ended.
    fn wait_until_ready(&mut self) -> io::Result<bool> {
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            if self.child.try_wait()?.is_some() {
                return Ok(false);
            }
            // The socket lies in our own folder, so the answer is ours; and the server opens it
            // only after it has the port.
            if ping(&self.dir.path().join("socket")).is_ok_and(|pong| pong) {
                return Ok(true);
            }
            thread::sleep(POLL);
        }
        Err(io::Error::new(io::ErrorKind::TimedOut, format!("no answer within {PATIENCE:?}")))
    }

    fn log(&self) -> String {
        let text = fs::read_to_string(self.dir.path().join("log")).unwrap_or_default();
        let lines: Vec<_> = text.lines().collect();
        lines[lines.len().saturating_sub(10)..].join("\n")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It keeps nothing on disk, so there is nothing to wait for. An error means that it is
        // gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn ping(socket: &Path) -> io::Result<bool> {
    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(b"PING\r\n")?;
    let mut answer = [0; 7];
    stream.read_exact(&mut answer)?;
    Ok(&answer == b"+PONG\r\n")
}

#[cfg(test)]
mod tests {
    use std::{env, net::TcpStream};

    use super::*;

    #[test]
    fn a_server_answers_at_its_port_and_is_gone_with_its_owner() {
        let binary = env::var_os(super::super::BINARY).expect("start this by `cargo xtask test`");
        let server = Server::start(Path::new(&binary)).unwrap();
        let dir = server.dir.path().to_owned();
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, server.port)).unwrap();
        stream.write_all(b"*1\r\n$4\r\nPING\r\n").unwrap();
        let mut answer = [0; 7];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"+PONG\r\n");
        assert_eq!(server.url(), format!("redis://127.0.0.1:{}/", server.port));

        drop(server);
        assert!(!dir.exists());
        assert_eq!(stream.read(&mut answer).unwrap(), 0);
    }

    #[test]
    fn a_server_that_ends_at_once_is_an_error_with_its_log() {
        let error = Server::start(Path::new("echo")).unwrap_err().to_string();
        assert!(error.starts_with("echo did not come up; its log ends with:\n--bind"), "{error}");
        assert!(error.ends_with("--daemonize no"), "{error}");
    }
}
