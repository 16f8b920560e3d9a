//! A Redis of the test's own, that can be killed and started again.

use std::{
    env, fs,
    net::TcpListener,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use session_store_indexed::{
    redis::{RedisOptions, RedisRemote},
    remote::Remote,
};
use tempfile::TempDir;

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
        let dir = TempDir::new().unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let args = args.iter().map(|&arg| arg.to_owned()).collect();
        let mut server = Self { dir, port, args, child: None };
        server.start_again();
        server
    }

    pub(crate) fn start_again(&mut self) {
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
        self.child = Some(child);
        let start = Instant::now();
        loop {
            let answer = self.try_command(&["PING"]);
            // One that asks for a password is up, too.
            if answer.is_ok() || answer.as_ref().is_err_and(|error| error.code() == Some("NOAUTH"))
            {
                return;
            }
            assert!(start.elapsed() < Duration::from_secs(20), "{answer:?}");
            std::thread::yield_now();
        }
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
        format!("redis+unix://{}", self.dir.path().join("socket").display())
    }

    pub(crate) fn try_command(&self, words: &[&str]) -> redis::RedisResult<redis::Value> {
        let client = redis::Client::open(format!("redis://127.0.0.1:{}/", self.port))?;
        let mut command = redis::cmd(words[0]);
        command.arg(&words[1..]).query(&mut client.get_connection()?)
    }

    pub(crate) fn command(&self, words: &[&str]) -> redis::Value {
        self.try_command(words).unwrap()
    }

    pub(crate) fn remote_at(url: &str, prefix: &str) -> RedisRemote {
        let mut options = RedisOptions::default();
        options.prefix = prefix.to_owned();
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

impl Drop for Server {
    fn drop(&mut self) {
        if self.child.is_some() {
            self.kill();
        }
    }
}
