//! The prompt history in several processes, some of which die.
//!
//! This program is its own child: with [`ROLE`] set it plays that role instead of testing.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitCode, Stdio};
use std::time::Duration;

use libtest_mimic::{Arguments, Failed, Trial};
use session_store_indexed::DatabaseDiagnostic;
use session_store_indexed::history::{HistoryOptions, HistoryStorage};

const ROLE: &str = "HISTORY_TEST_ROLE";
const DATABASE: &str = "HISTORY_TEST_DATABASE";
const NAME: &str = "HISTORY_TEST_NAME";

/// How many processes race each other.
const PROCESSES: usize = 8;

/// How many prompts each of them adds.
const PROMPTS: usize = 25;

type Outcome = Result<(), Failed>;

fn main() -> ExitCode {
    if let Ok(role) = env::var(ROLE) {
        play(&role);
        return ExitCode::SUCCESS;
    }
    let trials = vec![
        Trial::test("eight_processes_make_one_history", eight_processes_make_one_history),
        Trial::test("eight_processes_upgrade_one_history", eight_processes_upgrade_one_history),
        Trial::test("eight_processes_replace_one_damage", eight_processes_replace_one_damage),
        Trial::test("flushed_prompts_survive_a_kill", flushed_prompts_survive_a_kill),
        #[cfg(unix)]
        Trial::test("files_are_private_under_any_umask", files_are_private_under_any_umask),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// What a child does: says `ready`, waits for a line, and then does its part.
fn play(role: &str) {
    let variable = |name| env::var(name).unwrap();
    let (database, name) = (variable(DATABASE), variable(NAME));
    #[cfg(unix)]
    if role == "open with umask" {
        let umask = u32::from_str_radix(&name, 8).unwrap();
        rustix::process::umask(rustix::fs::Mode::from_raw_mode(umask));
    }
    say("ready");
    wait_for_parent();
    // The others wait for the same disk.
    let options = HistoryOptions::default().busy_timeout(Duration::from_secs(120));
    let history = HistoryStorage::open(&database, options).unwrap();
    match role {
        "add" => {
            for number in 0..PROMPTS {
                history.add(&format!("{name} {number}"), Some(&name), None).unwrap();
            }
            let diagnostics = history.diagnostics();
            history.close().unwrap();
            let moved = |diagnostic: &&DatabaseDiagnostic| {
                matches!(diagnostic, DatabaseDiagnostic::SetAside { .. })
            };
            say(&diagnostics.iter().filter(moved).count().to_string());
        }
        "add until killed" => {
            for number in 0.. {
                history.add(&format!("{name} {number}"), None, None).unwrap();
                history.flush().unwrap();
                say(&number.to_string());
            }
        }
        "open with umask" => {
            history.add("one", None, None).unwrap();
            history.flush().unwrap();
            say("open");
            wait_for_parent();
        }
        other => panic!("unknown role {other}"),
    }
}

fn say(line: &str) {
    let mut output = std::io::stdout();
    writeln!(output, "{line}").unwrap();
    output.flush().unwrap();
}

fn wait_for_parent() {
    std::io::stdin().read_line(&mut String::new()).unwrap();
}

/// A child process; it is killed if the test ends before it.
struct Player {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Player {
    /// Starts a child and waits until it is ready.
    fn start(role: &str, database: &Path, name: &str) -> Self {
        let mut child = Command::new(env::current_exe().unwrap())
            .env(ROLE, role)
            .env(DATABASE, database)
            .env(NAME, name)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut player = Self { child, lines };
        assert_eq!(player.next_line(), "ready");
        player
    }

    fn go(&mut self) {
        self.child.stdin.as_mut().unwrap().write_all(b"go\n").unwrap();
    }

    fn next_line(&mut self) -> String {
        self.lines.next().expect("the child ended early").unwrap()
    }

    fn finish(mut self) {
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        // Fails only for a child that has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Lets eight processes open the database at once and add prompts; returns how many of them
/// moved a damaged database aside.
fn race(database: &Path) -> usize {
    let mut players: Vec<Player> = (0..PROCESSES)
        .map(|number| Player::start("add", database, &format!("process {number}")))
        .collect();
    players.iter_mut().for_each(Player::go);
    players
        .into_iter()
        .map(|mut player| {
            let moved: usize = player.next_line().parse().unwrap();
            player.finish();
            moved
        })
        .sum()
}

fn all_prompts() -> BTreeSet<String> {
    (0..PROCESSES)
        .flat_map(|process| (0..PROMPTS).map(move |number| format!("process {process} {number}")))
        .collect()
}

/// Returns all prompts, by id, and fails unless the database and its index are sound.
fn stored(database: &Path) -> Vec<String> {
    let connection = rusqlite::Connection::open(database).unwrap();
    let verdict: String =
        connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(verdict, "ok");
    connection
        .execute("INSERT INTO history_fts(history_fts, rank) VALUES ('integrity-check', 1)", [])
        .unwrap();
    let mut statement = connection.prepare("SELECT prompt FROM history ORDER BY id").unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// Fails unless the prompts of every process are there once and in order.
fn assert_all_stored(stored: &[String]) {
    for process in 0..PROCESSES {
        let name = format!("process {process} ");
        let own: Vec<&String> = stored.iter().filter(|text| text.starts_with(&name)).collect();
        let expected: Vec<String> = (0..PROMPTS).map(|number| format!("{name}{number}")).collect();
        assert_eq!(own, expected.iter().collect::<Vec<_>>());
    }
}

fn eight_processes_make_one_history() -> Outcome {
    for _ in 0..5 {
        let directory = tempfile::tempdir()?;
        let database = directory.path().join("new").join("history.db");
        assert_eq!(race(&database), 0);
        let stored = stored(&database);
        assert_all_stored(&stored);
        assert_eq!(stored.into_iter().collect::<BTreeSet<_>>(), all_prompts());
    }
    Ok(())
}

fn eight_processes_upgrade_one_history() -> Outcome {
    let directory = tempfile::tempdir()?;
    let database = directory.path().join("history.db");
    rusqlite::Connection::open(&database)?.execute_batch(
        "CREATE TABLE history (id INTEGER PRIMARY KEY AUTOINCREMENT, prompt TEXT NOT NULL,
             created_at INTEGER NOT NULL DEFAULT (unixepoch()));
         INSERT INTO history (prompt) VALUES ('older');",
    )?;
    assert_eq!(race(&database), 0);
    let stored = stored(&database);
    assert_eq!(stored[0], "older");
    assert_all_stored(&stored[1..]);
    Ok(())
}

fn eight_processes_replace_one_damage() -> Outcome {
    for _ in 0..5 {
        let directory = tempfile::tempdir()?;
        let database = directory.path().join("history.db");
        fs::write(&database, "not a database, just bytes")?;
        assert_eq!(race(&database), 1);
        assert_all_stored(&stored(&database));
        let aside: Vec<_> = fs::read_dir(directory.path())?
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.to_str().unwrap().contains(".damaged-"))
            .collect();
        assert_eq!(aside.len(), 1, "{aside:?}");
        assert_eq!(fs::read(&aside[0])?, b"not a database, just bytes");
    }
    Ok(())
}

fn flushed_prompts_survive_a_kill() -> Outcome {
    let directory = tempfile::tempdir()?;
    let database = directory.path().join("history.db");
    let mut acknowledged = Vec::new();
    for round in 0..10 {
        let name = format!("round {round}");
        let mut player = Player::start("add until killed", &database, &name);
        player.go();
        for _ in 0..=round * 3 {
            acknowledged.push(format!("{name} {}", player.next_line()));
        }
        player.child.kill()?;
        // What it said before it died counts too.
        for line in player.lines.by_ref() {
            acknowledged.push(format!("{name} {}", line?));
        }
        let stored: BTreeSet<String> = stored(&database).into_iter().collect();
        let lost: Vec<_> = acknowledged.iter().filter(|text| !stored.contains(*text)).collect();
        assert!(lost.is_empty(), "{lost:?}");
    }
    let history = HistoryStorage::open(&database, HistoryOptions::default())?;
    assert_eq!(history.diagnostics(), []);
    Ok(())
}

#[cfg(unix)]
fn files_are_private_under_any_umask() -> Outcome {
    use std::os::unix::fs::PermissionsExt;

    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    for umask in ["000", "077", "666"] {
        let directory = tempfile::tempdir()?;
        let new = directory.path().join("a/b");
        if umask == "666" {
            // Under this one not even the directory could be entered.
            fs::create_dir_all(&new)?;
        }
        let mut player = Player::start("open with umask", &new.join("history.db"), umask);
        player.go();
        assert_eq!(player.next_line(), "open");
        for name in ["history.db", "history.db-wal", "history.db-shm"] {
            assert_eq!(mode(&new.join(name)), 0o600, "{name} under {umask}");
        }
        if umask != "666" {
            assert_eq!([mode(&directory.path().join("a")), mode(&new)], [0o700, 0o700]);
        }
        player.go();
        player.finish();
    }

    let directory = tempfile::tempdir()?;
    let database = directory.path().join("history.db");
    fs::write(&database, "not a database, just bytes")?;
    let mut player = Player::start("open with umask", &database, "000");
    player.go();
    assert_eq!(player.next_line(), "open");
    for entry in fs::read_dir(directory.path())? {
        let path = entry?.path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
    player.go();
    player.finish();
    Ok(())
}
