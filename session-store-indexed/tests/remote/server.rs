//! A Redis of the test's own, that can be killed and started again.

use std::{
    env, fs,
    net::TcpListener,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use session_store_indexed::{
    redis::{RedisOptions, RedisRemote},
    remote::Remote,
};
use tempfile::TempDir;

/// How long a server may take for what it is to do, on a machine that is busy with other things.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// The rights `docs/redis.md` tells operators to give.
const DOCUMENTED: &str = include_str!("../../../docs/redis.md");

pub(crate) struct Server {
    dir: TempDir,
    port: u16,
    args: Vec<String>,
    child: Option<Child>,
}

impl Server {
    pub(crate) fn start(args: &[&str]) -> Self {
        let args: Vec<_> = args.iter().map(|&arg| arg.to_owned()).collect();
        let mut log = String::new();
        // A port that was free can be taken by somebody else before the server has it.
        for _ in 0..5 {
            let (dir, port) = (TempDir::new().unwrap(), free_port());
            let mut server = Self { dir, port, args: args.clone(), child: None };
            if server.comes_up() {
                return server;
            }
            log = server.log();
        }
        panic!("{log}");
    }

    pub(crate) fn start_again(&mut self) {
        let start = Instant::now();
        // So can the port of one that was killed; whoever has it gives it back.
        while !self.comes_up() {
            assert!(start.elapsed() < PATIENCE, "{}", self.log());
        }
    }

    /// Starts the server and waits until it answers; false if it has ended.
    fn comes_up(&mut self) -> bool {
        let binary = env::var_os("SESSION_TEST_REDIS_SERVER")
            .expect("start this by `cargo xtask test`, which sets SESSION_TEST_REDIS_SERVER");
        let child = Command::new(binary)
            .args(["--bind", "127.0.0.1", "--port", &self.port.to_string(), "--save", ""])
            .args(["--unixsocket", "socket", "--unixsocketperm", "700"])
            .args(&self.args)
            .current_dir(self.dir.path())
            .stdin(Stdio::null())
            .stdout(fs::File::create(self.dir.path().join("log")).unwrap())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let child = self.child.insert(child);
        let start = Instant::now();
        loop {
            if child.try_wait().unwrap().is_some() {
                self.child = None;
                return false;
            }
            // The socket is the server's own, and it has the port before it opens that.
            let answer = command_at(&socket_in(&self.dir), &["PING"]);
            // One that asks for a password is up, too.
            if answer.is_ok() || answer.as_ref().is_err_and(|error| error.code() == Some("NOAUTH"))
            {
                return true;
            }
            assert!(start.elapsed() < PATIENCE, "{answer:?}");
            thread::yield_now();
        }
    }

    fn log(&self) -> String {
        fs::read_to_string(self.dir.path().join("log")).unwrap()
    }

    /// Ends the server at once, as a crash would.
    pub(crate) fn kill(&mut self) {
        let mut child = self.child.take().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn socket(&self) -> String {
        socket_in(&self.dir)
    }

    pub(crate) fn try_command(&self, words: &[&str]) -> redis::RedisResult<redis::Value> {
        command_at(&format!("redis://127.0.0.1:{}/", self.port), words)
    }

    pub(crate) fn command(&self, words: &[&str]) -> redis::Value {
        self.try_command(words).unwrap()
    }

    pub(crate) fn remote_at(url: &str, prefix: &str) -> RedisRemote {
        let mut options = RedisOptions::default();
        options.prefix = prefix.to_owned();
        options.timeout = PATIENCE / 4;
        RedisRemote::new(&url.parse().unwrap(), options).unwrap()
    }

    pub(crate) fn remote(&self, prefix: &str) -> RedisRemote {
        Self::remote_at(&format!("redis://127.0.0.1:{}/", self.port), prefix)
    }

    /// A remote whose user has what the documentation's line gives, for another prefix.
    pub(crate) async fn remote_as_documented(&self, prefix: &str) -> RedisRemote {
        let line = DOCUMENTED.lines().find(|line| line.starts_with("ACL SETUSER ")).unwrap();
        let line = line.replace("~sessions:*", &format!("~{prefix}*"));
        self.command(&line.split(' ').collect::<Vec<_>>());
        let url = format!("redis://agent:a-long-secret@127.0.0.1:{}/", self.port);
        let remote = Self::remote_at(&url, prefix);
        remote.check().await.unwrap();
        remote
    }
}

fn socket_in(dir: &TempDir) -> String {
    format!("redis+unix://{}", dir.path().join("socket").display())
}

/// A port that nobody listens at just now.
pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn command_at(url: &str, words: &[&str]) -> redis::RedisResult<redis::Value> {
    let client = redis::Client::open(url)?;
    redis::cmd(words[0]).arg(&words[1..]).query(&mut client.get_connection()?)
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.child.is_some() {
            self.kill();
        }
    }
}
