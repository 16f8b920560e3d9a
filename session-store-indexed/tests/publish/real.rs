//! A real Redis behind a bad network: killed, emptied, full, read only, failed over; and publishers
//! that are killed.
//!
//! `SESSION_SIM_SEED` replays one seed, `SESSION_REAL_SEEDS` says how many there are.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::env;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use pollster::block_on;
use session_model::storage::{
    AppendOptions, Durability, PutOptions, SessionStorage, SessionStorageExt, StorageErrorKind,
    StorageKey,
};
use session_store_file::FileStorage;
use session_store_indexed::index::IndexOptions;
use session_store_indexed::publish::PublishOptions;
use session_store_indexed::redis::{RedisOptions, RedisRemote};
use session_store_indexed::remote::{Claim, Remote};
use session_store_indexed::storage::{INDEX_FILE, IndexedStorage};

use super::away;
use super::confirmed::joined_objects_are_confirmed;
use super::dice::{Dice, for_each_seed};
use super::proxy::{Fault, Proxy};
use super::server::{PATIENCE, Server};
use super::support::{Test, events, header, log, message, run, session};

pub const TESTS: &[Test] = &[
    ("faults_of_a_real_server", faults_of_a_real_server),
    ("killed_publishers", killed_publishers),
    ("published_means_confirmed", published_means_confirmed),
    ("a_joined_object_is_confirmed_by_redis", a_joined_object_is_confirmed_by_redis),
    ("a_remote_that_is_away_holds_nobody_up", a_remote_that_is_away_holds_nobody_up),
];

pub const ROLE: &str = "PUBLISH_TEST_ROLE";
pub const URL: &str = "PUBLISH_TEST_URL";
pub const ROOT: &str = "PUBLISH_TEST_ROOT";

const SEEDS: u64 = 4;
pub const PREFIX: &str = "p:";

fn remote(url: &str) -> Arc<RedisRemote> {
    let mut options = RedisOptions::default();
    options.prefix = PREFIX.to_owned();
    options.timeout = Duration::from_millis(250);
    Arc::new(RedisRemote::new(&url.parse().unwrap(), options).unwrap())
}

pub fn open(root: &Path, url: &str, publish: PublishOptions) -> IndexedStorage {
    let files = Arc::new(FileStorage::open(root).unwrap());
    let path = root.join(INDEX_FILE);
    let options = IndexOptions::default().busy_timeout(PATIENCE);
    IndexedStorage::open_shared(files, path, options, remote(url), publish).unwrap()
}

fn options() -> PublishOptions {
    PublishOptions::default()
        .pauses(Duration::from_millis(2), Duration::from_millis(50))
        .timeout(PATIENCE)
        .drain(Duration::ZERO)
}

/// The remote has what the files have, each byte once and in order.
fn check(server: &Server, storage: &IndexedStorage, wanted: &BTreeMap<StorageKey, String>) {
    let there = server.remote(PREFIX);
    run(async {
        for (key, lines) in wanted {
            assert_eq!(storage.read_all(key).await.unwrap().1, lines.as_bytes(), "{key}");
            let log = log(&there, key).await;
            assert_eq!(log.as_deref(), Some(lines.as_bytes()), "{key}");
        }
        events(&there).await;
    });
    assert_eq!(storage.blocked().unwrap(), []);
}

/// Has a server copy another from now on; returns once it has all.
fn follow(replica: &Server, primary: &Server) {
    replica.command(&["REPLICAOF", "127.0.0.1", &primary.port().to_string()]);
    primary.command(&["SET", "followed", "1"]);
    until(|| matches!(replica.try_command(&["GET", "followed"]), Ok(redis::Value::BulkString(_))));
}

/// Waits for what others do.
pub fn until(mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE);
        std::thread::yield_now();
    }
}

fn faults_of_a_real_server() {
    for_each_seed("SESSION_REAL_SEEDS", SEEDS, |seed| {
        let mut dice = Dice(seed);
        let durable = ["--appendonly", "yes", "--appendfsync", "always"];
        let copied = [&durable[..], &["--repl-diskless-sync-delay", "0"]].concat();
        // In turn: one that keeps everything, one that forgets when it ends, one that fails over.
        let kind = seed % 3;
        let mut server = Server::start(if kind == 1 { &[] } else { &copied });
        let mut replica = (kind == 2).then(|| Server::start(&copied));
        server.command(&["ACL", "SETUSER", "agent", "on", ">x", "~*", "&*", "+@all"]);
        if let Some(replica) = &replica {
            replica.command(&["ACL", "SETUSER", "agent", "on", ">x", "~*", "&*", "+@all"]);
            follow(replica, &server);
        }
        let proxy = Proxy::start(server.port());
        let url = format!("redis://agent:x@127.0.0.1:{}/", proxy.port);
        let dir = tempfile::tempdir().unwrap();
        let mut storage = open(dir.path(), &url, options());
        let mut wanted: BTreeMap<StorageKey, String> = BTreeMap::new();
        for step in 0..40 {
            let key = session(&dice.below(3).to_string());
            let line = message(&step.to_string(), &"x".repeat(dice.below(3000) as usize));
            match dice.below(12) {
                0 => {
                    let lines = header(&step.to_string()) + &line;
                    let put = storage.put(&key, lines.clone().into(), PutOptions::default());
                    block_on(put).unwrap();
                    wanted.insert(key, lines);
                }
                1 => proxy.set(Fault::ALL[dice.below(5) as usize]),
                2 => std::thread::sleep(Duration::from_millis(dice.below(60))),
                3 => {
                    server.kill();
                    server.start_again();
                    server.command(&["ACL", "SETUSER", "agent", "on", ">x", "~*", "&*", "+@all"]);
                    if let Some(replica) = &replica {
                        follow(replica, &server);
                    }
                }
                4 => drop(server.command(&["CONFIG", "SET", "maxmemory", "1"])),
                5 => drop(server.command(&["REPLICAOF", "127.0.0.1", "1"])),
                6 => drop(server.command(&["ACL", "SETUSER", "agent", "-evalsha"])),
                7 => {
                    server.command(&["CONFIG", "SET", "maxmemory", "0"]);
                    server.command(&["REPLICAOF", "NO", "ONE"]);
                    server.command(&["ACL", "SETUSER", "agent", "+evalsha"]);
                }
                8 => {
                    drop(storage);
                    storage = open(dir.path(), &url, options());
                }
                9 if step > 10 => {
                    // The replica lags from here on, and then takes over.
                    let Some(next) = replica.take() else { continue };
                    next.command(&["REPLICAOF", "NO", "ONE"]);
                    let lines = message("lagging", "y");
                    if let Some(known) = wanted.get_mut(&key) {
                        block_on(storage.append_once(&key, lines.clone().into())).unwrap();
                        known.push_str(&lines);
                    }
                    std::thread::sleep(Duration::from_millis(100));
                    server.kill();
                    server = next;
                    proxy.turn_to(server.port());
                }
                _ => {
                    let known = wanted.entry(key.clone()).or_default();
                    let lines = if known.is_empty() { header("s") + &line } else { line };
                    block_on(storage.append_once(&key, lines.clone().into())).unwrap();
                    known.push_str(&lines);
                }
            }
        }
        proxy.set(Fault::None);
        server.command(&["CONFIG", "SET", "maxmemory", "0"]);
        server.command(&["REPLICAOF", "NO", "ONE"]);
        server.command(&["ACL", "SETUSER", "agent", "+evalsha"]);
        block_on(storage.drain(Durability::Published)).unwrap();
        // What the last fail-over lost is found with a new connection.
        drop(storage);
        let storage = open(dir.path(), &url, options());
        let key = session("last");
        block_on(storage.append_once(&key, header("last").into())).unwrap();
        wanted.insert(key, header("last"));
        block_on(storage.drain(Durability::Published)).unwrap();
        check(&server, &storage, &wanted);
    });
}

/// Plays the role that the environment names.
pub fn play() {
    if env::var(ROLE).is_ok_and(|role| role == away::AWAY) {
        return away::play();
    }
    append_until_killed();
}

/// Tells of every line that is accepted.
fn append_until_killed() {
    let storage = open(Path::new(&env::var(ROOT).unwrap()), &env::var(URL).unwrap(), options());
    let mut writers = Vec::new();
    for name in ["0", "1"] {
        let key = session(name);
        let options = AppendOptions::default();
        let mut writer = block_on(storage.open_append(&key, options)).unwrap();
        // A kill can fall between two pages of one write; nobody was told of that line.
        let text = block_on(storage.read_all(&key)).unwrap().1;
        let whole = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
        if whole < text.len() {
            block_on(writer.truncate(whole as u64)).unwrap();
        }
        if writer.is_empty() {
            block_on(writer.append(header(name).into())).unwrap();
        }
        writers.push(writer);
    }
    println_flush("ready");
    for number in 0_u64.. {
        let which = (number % 2) as usize;
        let line = message(&format!("{}-{number}", std::process::id()), "text");
        block_on(writers[which].append(line.clone().into())).unwrap();
        println_flush(&format!("{which} {}", line.trim_end()));
    }
}

pub fn println_flush(line: &str) {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).unwrap();
}

fn killed_publishers() {
    let server = Server::start(&[]);
    let url = format!("redis://127.0.0.1:{}/", server.port());
    for_each_seed("SESSION_REAL_SEEDS", 1, |seed| {
        server.command(&["FLUSHALL"]);
        let mut dice = Dice(seed);
        let dir = tempfile::tempdir().unwrap();
        let mut accepted: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for _ in 0..5 {
            let mut child = Command::new(env::current_exe().unwrap())
                .env(ROLE, "writer")
                .env(URL, &url)
                .env(ROOT, dir.path())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
            let wanted = dice.below(400) + 1;
            for line in lines.by_ref().take(wanted as usize) {
                let line = line.unwrap();
                if let Some((which, line)) = line.split_once(' ') {
                    accepted.entry(which.to_owned()).or_default().push(line.to_owned());
                }
            }
            child.kill().unwrap();
            child.wait().unwrap();
            for line in lines.map_while(Result::ok) {
                if let Some((which, line)) = line.split_once(' ').filter(|_| line.ends_with('}')) {
                    accepted.entry(which.to_owned()).or_default().push(line.to_owned());
                }
            }
        }
        let storage = open(dir.path(), &url, options());
        block_on(storage.drain(Durability::Published)).unwrap();
        let wanted = accepted.iter().map(|(which, lines)| {
            let key = session(which);
            let text = block_on(storage.read_all(&key)).unwrap().1;
            let text = String::from_utf8(text.to_vec()).unwrap();
            let mut left = text.lines();
            for line in lines {
                let around = text.lines().find(|found| found.contains(line.as_str()));
                assert!(
                    left.any(|found| found == line),
                    "lost or out of order: {line}, {around:?}"
                );
            }
            (key, text.clone())
        });
        let wanted = wanted.collect();
        check(&server, &storage, &wanted);
    });
}

fn published_means_confirmed() {
    let mut server = Server::start(&[]);
    let url = format!("redis://127.0.0.1:{}/", server.port());
    let dir = tempfile::tempdir().unwrap();
    let storage = open(dir.path(), &url, options().timeout(Duration::from_secs(2)));
    let a = session("a");
    let mut writer = block_on(storage.open_append(&a, AppendOptions::exclusive("me"))).unwrap();
    let there = || run(log(&server.remote(PREFIX), &a)).map(|log| log.len() as u64);
    let lines = header("a") + &message("1", "x");
    for line in lines.split_inclusive('\n') {
        block_on(writer.append(line.to_owned().into())).unwrap();
        // Two seconds may be too few; what counts is that it is there once that is said.
        until(|| match block_on(writer.sync(Durability::Published)) {
            Err(error) if error.kind() == StorageErrorKind::Unavailable => false,
            confirmed => confirmed.map(|()| true).unwrap(),
        });
        assert_eq!(there(), Some(writer.len()));
    }
    // Another host takes it over.
    let claim = Claim {
        owner: "other".to_owned(),
        lease: Duration::from_secs(600),
        force: true,
        seen_epoch: 0,
    };
    let other = server.remote(PREFIX);
    let _ = run(other.claim(&a, &claim)).unwrap();
    block_on(writer.append(message("2", "y").into())).unwrap();
    let error = block_on(writer.sync(Durability::Published)).unwrap_err();
    assert_eq!(error.kind(), StorageErrorKind::Unavailable, "{error:?}");
    server.kill();
    until(|| {
        let error = block_on(storage.drain(Durability::Published)).unwrap_err();
        assert_eq!(error.kind(), StorageErrorKind::Unavailable, "{error:?}");
        // Whether it was tried since the server went is another matter.
        std::error::Error::source(&error).is_some_and(|e| e.to_string().contains("does not answer"))
    });
}

fn a_joined_object_is_confirmed_by_redis() {
    let durable = ["--appendonly", "yes", "--appendfsync", "always"];
    let server = RefCell::new(Server::start(&durable));
    let url = format!("redis://127.0.0.1:{}/", server.borrow().port());
    joined_objects_are_confirmed(
        || remote(&url),
        |is_away| match is_away {
            true => server.borrow_mut().kill(),
            false => server.borrow_mut().start_again(),
        },
    );
}

fn a_remote_that_is_away_holds_nobody_up() {
    let dir = tempfile::tempdir().unwrap();
    let storage = open(dir.path(), "redis://127.0.0.1:1/", options());
    let a = session("a");
    let mut writer = block_on(storage.open_append(&a, AppendOptions::default())).unwrap();
    block_on(writer.append(header("a").into())).unwrap();
    for number in 0..5000 {
        let line = message(&number.to_string(), &"x".repeat(900));
        block_on(writer.append(line.into())).unwrap();
    }
    storage.catch_up(|_| {}).unwrap();
    let status = || storage.publish_status(10).unwrap().unwrap();
    until(|| status().last_error.is_some());
    let status = status();
    assert_eq!((status.rows, status.bytes, status.entries), (1, writer.len(), 5000));
    drop(writer);
    let start = Instant::now();
    drop(storage);
    assert!(start.elapsed() < PATIENCE / 2);
}
