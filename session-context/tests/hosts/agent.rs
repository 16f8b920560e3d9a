//! An agent in a process of its own, which has a session open and writes what it is told.

use std::io::{BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use pollster::block_on;
use session_context::{SessionManager, SessionOptions, open_storage};
use session_model::json::RawJson;
use session_model::storage::{Durability, StorageKey};

use crate::server::Server;

/// Set in the other process: the storage's URL.
const STORE: &str = "HOSTS_TEST_STORE";

pub(crate) const SESSION: &str = "sessions/b/2026-01-01T00-00-00-000Z_s.jsonl";

pub(crate) fn key() -> StorageKey {
    StorageKey::new(SESSION).unwrap()
}

pub(crate) async fn open(url: &str) -> session_context::Result<SessionManager> {
    let options = SessionOptions::default().owner("an agent").durability(Durability::Durable);
    let storage = open_storage(url).unwrap();
    SessionManager::open(storage, key(), "/w", options).await
}

pub(crate) async fn say(manager: &mut SessionManager, text: &str) {
    manager.append_custom_entry("said", Some(RawJson::string(text))).await.unwrap();
}

/// What was said in a session, in the order of its file.
pub(crate) fn said(file: &Path) -> Vec<String> {
    let content = std::fs::read_to_string(file).unwrap();
    let data = |line: &str| RawJson::parse(line.to_owned()).ok()?.field("data");
    content.lines().filter_map(|line| Some(data(line)?.as_text()?.into_owned())).collect()
}

pub(crate) struct Agent {
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

impl Agent {
    pub(crate) fn start(server: &Server, host: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "agent::write_what_is_told", "--nocapture"])
            .env(STORE, server.url(host))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut agent = Self { child, input, output: BufReader::new(output).lines() };
        agent.wait_for("open");
        agent
    }

    /// Has the agent append a line, durably on its host.
    pub(crate) fn say(&mut self, text: &str) {
        writeln!(self.input, "{text}").unwrap();
        self.wait_for(&format!("said {text}"));
    }

    fn wait_for(&mut self, wanted: &str) {
        let found = self.output.by_ref().map_while(Result::ok).any(|line| line == wanted);
        assert!(found, "the agent ended before {wanted:?}");
    }

    /// Ends the agent at once.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

#[test]
fn write_what_is_told() {
    let Ok(url) = std::env::var(STORE) else { return };
    let mut manager = block_on(open(&url)).unwrap();
    println!("\nopen");
    for text in std::io::stdin().lines() {
        let text = text.unwrap();
        block_on(say(&mut manager, &text));
        println!("said {text}");
    }
}
