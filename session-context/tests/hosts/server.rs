//! A Redis of the test's own, on a socket, that keeps what it has when it is killed.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

pub(crate) struct Server {
    dir: TempDir,
    child: Option<Child>,
    port: u16,
}

impl Server {
    pub(crate) fn start() -> Self {
        let mut server = Self { dir: tempfile::tempdir().unwrap(), child: None, port: 0 };
        server.start_again();
        server
    }

    /// One that listens at a port as well.
    pub(crate) fn start_at_port() -> Self {
        // A port that was free can be taken by somebody else before the server has it.
        loop {
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            let mut server = Self { dir: tempfile::tempdir().unwrap(), child: None, port };
            if server.comes_up() {
                return server;
            }
        }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn start_again(&mut self) {
        assert!(self.comes_up());
    }

    /// Starts the server and waits until it listens; false if it has ended.
    fn comes_up(&mut self) -> bool {
        let binary = std::env::var_os("SESSION_TEST_REDIS_SERVER")
            .expect("start this by `cargo xtask test`, which sets SESSION_TEST_REDIS_SERVER");
        let child = Command::new(binary)
            .args(["--bind", "127.0.0.1", "--port", &self.port.to_string()])
            .args(["--unixsocket", "socket", "--unixsocketperm", "700"])
            .args(["--save", "", "--appendonly", "yes", "--appendfsync", "always"])
            .current_dir(self.dir.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        self.child = Some(child);
        let socket = self.socket();
        let mut has_ended = false;
        until("Redis is up", || {
            has_ended = self.child.as_mut().is_none_or(|child| child.try_wait().unwrap().is_some());
            has_ended || UnixStream::connect(&socket).is_ok()
        });
        if has_ended {
            self.child = None;
        }
        !has_ended
    }

    /// Ends the server at once, as a crash would.
    pub(crate) fn kill(&mut self) {
        let mut child = self.child.take().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        std::fs::remove_file(self.socket()).unwrap();
    }

    /// Sends a command, and returns the strings of its answer.
    pub(crate) fn ask(&self, command: &[&str]) -> Vec<String> {
        let mut stream = UnixStream::connect(self.socket()).unwrap();
        let mut request = format!("*{}\r\n", command.len());
        for word in command {
            request.push_str(&format!("${}\r\n{word}\r\n", word.len()));
        }
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        read_value(&mut BufReader::new(stream), &mut answer);
        answer
    }

    /// The session's hash: generation, epoch, owner and length of the log, and its digest.
    pub(crate) fn state(&self) -> Vec<String> {
        let hash = self.meta_key();
        self.ask(&["HMGET", &hash, "gen", "epoch", "owner", "len", "digest", "log", "logs"])
    }

    fn meta_key(&self) -> String {
        let mut keys = self.ask(&["KEYS", "sessions:s:*:meta"]);
        assert_eq!(keys.len(), 1, "{keys:?}");
        keys.remove(0)
    }

    /// Every key of every log, in the order of their bytes.
    pub(crate) fn chunks(&self) -> Vec<String> {
        let mut chunks = self.ask(&["KEYS", "sessions:s:*:log:*"]);
        chunks.sort_by_key(|key| (key.len(), key.clone()));
        chunks
    }

    fn socket(&self) -> PathBuf {
        self.dir.path().join("socket")
    }

    /// The URL of a host's directory that is shared through this server.
    pub(crate) fn url(&self, host: &Path) -> String {
        self.url_with(host, "")
    }

    /// The same, with options of the server's address.
    pub(crate) fn url_with(&self, host: &Path, options: &str) -> String {
        let (socket, options) = (self.socket(), options.replace('?', "%3F"));
        format!("indexed://{}?remote=redis%2Bunix://{}{options}", host.display(), socket.display())
    }

    /// Sends a command past the program under test, which must succeed.
    pub(crate) fn command(&self, words: &[&[u8]]) {
        let mut stream = UnixStream::connect(self.socket()).unwrap();
        let mut request = format!("*{}\r\n", words.len()).into_bytes();
        for word in words {
            request.extend(format!("${}\r\n", word.len()).into_bytes());
            request.extend_from_slice(word);
            request.extend_from_slice(b"\r\n");
        }
        stream.write_all(&request).unwrap();
        let mut answer = String::new();
        BufReader::new(stream).read_line(&mut answer).unwrap();
        assert!(!answer.is_empty() && !answer.starts_with('-'), "{answer}");
    }

    /// As [`url`](Self::url), for a user and a database.
    pub(crate) fn url_of(&self, host: &Path, user: &str, database: u32) -> String {
        self.url_with(host, &format!("?user={user}%26pass=x%26db={database}"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.child.is_some() {
            self.kill();
        }
    }
}

/// Reads an answer of the server; what is nothing is an empty string.
fn read_value(from: &mut impl BufRead, answer: &mut Vec<String>) {
    let mut line = String::new();
    from.read_line(&mut line).unwrap();
    let (kind, rest) = line.trim_end().split_at(1);
    match kind {
        "*" => (0..rest.parse::<i64>().unwrap()).for_each(|_| read_value(from, answer)),
        "$" if rest == "-1" => answer.push(String::new()),
        "$" => {
            let mut bytes = vec![0; rest.parse::<usize>().unwrap() + 2];
            from.read_exact(&mut bytes).unwrap();
            bytes.truncate(bytes.len() - 2);
            answer.push(String::from_utf8_lossy(&bytes).into_owned());
        }
        _ => answer.push(rest.to_owned()),
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
