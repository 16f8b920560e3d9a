//! A Redis into which somebody else writes: nothing of it is trusted, and the good sessions arrive.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use session_model::json::RawJson;
use sha2::{Digest, Sha256};

use crate::commands::Host;
use crate::server::Server;

const GOOD: &str = "sessions/b/2026-01-01T00-00-00-000Z_good.jsonl";
const VICTIM: &str = "sessions/b/2026-01-01T00-00-00-000Z_victim.jsonl";
const CLAIM: &str = "9b6e0000000000000000000000000000/1";

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn header(id: &str) -> String {
    let at = "2026-01-01T00:00:00.000Z";
    format!(r#"{{"type":"session","version":3,"id":"{id}","timestamp":"{at}","cwd":"/w"}}"#) + "\n"
}

/// A session above a chunk of 64 KiB, an answer of 1 MiB and a batch of the index of 8 MiB.
fn good() -> String {
    let line = |at: usize| {
        let text = format!("{at} {}", "x".repeat(50_000));
        format!(
            r#"{{"type":"custom","id":"{at}","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","customType":"t","data":"{text}"}}"#
        ) + "\n"
    };
    header("good") + &(0..200).map(line).collect::<String>()
}

/// What a foreign hand writes of a session.
struct Forged<'a> {
    server: &'a Server,
    key: &'a str,
}

impl<'a> Forged<'a> {
    /// A session that is all right, of these bytes.
    fn new(server: &'a Server, key: &'a str, body: &[u8]) -> Self {
        let forged = Self { server, key };
        for (number, chunk) in body.chunks(65_536).enumerate() {
            server.command(&[b"SET", forged.name(&format!("log:0:{number}")).as_bytes(), chunk]);
        }
        forged.set("key", key).set("epoch", "1").set("owner", CLAIM).set("gen", "0");
        forged.set("len", &body.len().to_string()).set("digest", &hex(body)).list("1000");
        forged
    }

    fn name(&self, what: &str) -> String {
        format!("sessions:s:{{{}}}:{what}", &hex(self.key.as_bytes())[..32])
    }

    fn set(&self, field: &str, value: &str) -> &Self {
        let meta = self.name("meta");
        self.server.command(&[b"HSET", meta.as_bytes(), field.as_bytes(), value.as_bytes()]);
        self
    }

    fn list(&self, score: &str) {
        list(self.server, self.key.as_bytes(), score);
    }
}

fn list(server: &Server, name: &[u8], score: &str) {
    server.command(&[b"ZADD", b"sessions:{all}:sessions", score.as_bytes(), name]);
}

fn files(folder: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => drop(found.insert(path)),
        }
    }
    found
}

/// The names of a host's files, without those of the program itself.
fn names(host: &Host) -> Vec<String> {
    let name = |path: &PathBuf| path.strip_prefix(host.path()).unwrap().display().to_string();
    let all = files(host.path());
    all.iter().map(name).filter(|name| !name.contains(".~")).collect()
}

/// A server with a good session on it, and the host that published it.
fn published() -> (Server, Host) {
    let (server, first) = (Server::start(), Host::new());
    write(&first, GOOD, &good());
    assert_eq!(first.run(&server, "remote push"), (0, "all is published\n".into(), String::new()));
    (server, first)
}

fn write(host: &Host, key: &str, text: &str) {
    fs::create_dir_all(host.file(key).parent().unwrap()).unwrap();
    fs::write(host.file(key), text).unwrap();
}

/// The good session arrives, whole, nothing else does, and what is left out is named.
fn only_the_good_arrives(server: &Server, reasons: &[(&str, &str)]) {
    let host = Host::new();
    let (code, out, err) = host.run(server, "remote pull --all");
    assert_eq!(names(&host), [GOOD], "{out}{err}");
    assert_eq!(fs::read_to_string(host.file(GOOD)).unwrap(), good());
    assert!(out.contains(&format!("{GOOD}: installed")), "{out}");
    for (name, reason) in reasons {
        let told = out.lines().chain(err.lines());
        let told = told.filter(|line| line.contains(name) && line.contains(reason)).count();
        assert_eq!(told, 1, "{name} {reason}: {out}{err}");
    }
    assert_eq!(code, if reasons.is_empty() { 0 } else { 3 }, "{out}{err}");
}

#[test]
fn rows_that_name_no_session_are_left_out_and_named() {
    let (server, first) = published();
    let long = "sessions/b/".to_owned() + &"n".repeat(5000) + ".jsonl";
    let rows: [(&[u8], &str); 9] = [
        (b"extensions/evil.ts", "neither a session"),
        (b"../../evil.jsonl", "segment `.` or `..`"),
        (b"/etc/cron.d/evil", "empty segment"),
        (b"sessions/b/.hidden.jsonl", "a hidden name"),
        (b"sessions/b/nul\0.jsonl", "NUL or backslash"),
        (b"sessions/b/NUL.jsonl", "the name of a device"),
        (b"sessions/b/\x1b[2J.jsonl", "a control character"),
        (b"sessions/b/\xff\xfe.jsonl", "no UTF-8"),
        (long.as_bytes(), "longer than 1024 bytes"),
    ];
    for (at, (name, _)) in rows.iter().enumerate() {
        list(&server, name, &format!("{}", 9_000_000_000_000_000_u64 + at as u64));
        if let Ok(name) = std::str::from_utf8(name) {
            Forged::new(&server, name, &good().into_bytes()).list("1");
        }
    }
    for score in ["-5", "-inf", "inf", "1e300"] {
        list(&server, format!("sessions/b/at{score}.jsonl").as_bytes(), score);
    }
    let reasons = rows.map(|(name, reason)| {
        let name = String::from_utf8_lossy(name);
        let shown = name.split(['\0', '\u{1b}', '\u{fffd}']).next().unwrap().to_owned();
        (shown[..shown.len().min(60)].to_owned(), reason)
    });
    let host = Host::new();
    let (code, out, err) = host.run(&server, "remote list");
    assert_eq!((code, out.lines().count()), (0, 1), "{out}{err}");
    for (name, reason) in &reasons {
        let is_told = |line: &&str| line.contains(name) && line.contains(reason);
        assert_eq!(err.lines().filter(is_told).count(), 1, "{name} {reason}: {err}");
    }
    assert_eq!(err.lines().filter(|line| line.contains("its time is")).count(), 4, "{err}");
    assert!(!err.contains('\u{1b}'), "{err:?}");
    let (code, out, _) = host.run(&server, "remote list --json");
    let skipped = RawJson::parse(out).unwrap().field("skipped").unwrap();
    assert_eq!((code, skipped.field("count").unwrap().as_i64()), (0, Some(13)));
    only_the_good_arrives(&server, &[("extensions/evil.ts", "neither a session")]);
    // The host that has it is not held up either, and is told.
    let (code, _, err) = first.run(&server, "remote status");
    assert_eq!(code, 3, "{err}");
}

#[test]
fn one_bad_hash_stops_nothing() {
    let (server, _first) = published();
    let key = |name: &str| format!("sessions/b/{name}.jsonl");
    let body = (header("x") + "{\"type\":\"custom\",\"id\":\"1\"}\n").into_bytes();
    let forge = |name: &str, field: &str, value: &str| {
        Forged::new(&server, &key(name), &body).set(field, value);
    };
    forge("petabyte", "len", "1000000000000000");
    forge("most", "len", "18446744073709551615");
    forge("negative", "len", "-1");
    forge("nan", "len", "nan");
    forge("digits", "len", &"9".repeat(10_000));
    forge("generation", "gen", "18446744073709551615");
    forge("epoch", "epoch", "18446744073709551615");
    forge("owner", "owner", "\u{1b}[2Jx");
    forge("digest", "digest", "zz");
    forge("gone", "gone", "nobody");
    forge("meta", "meta", &"m".repeat(100_000));
    forge("differs", "digest", &hex(b"others"));
    let wrong = key("type");
    let wrong = Forged { server: &server, key: &wrong };
    server.command(&[b"SET", wrong.name("meta").as_bytes(), b"x"]);
    wrong.list("7");
    let missing = key("missing");
    let missing = Forged::new(&server, &missing, &body);
    server.command(&[b"DEL", missing.name("log:0:0").as_bytes()]);
    let chunk = key("chunk");
    let chunk = Forged::new(&server, &chunk, &body);
    server.command(&[b"DEL", chunk.name("log:0:0").as_bytes()]);
    server.command(&[b"HSET", chunk.name("log:0:0").as_bytes(), b"a", b"b"]);
    let random = (0..70_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8);
    Forged::new(&server, &key("random"), &random.collect::<Vec<_>>());
    Forged::new(&server, &key("object"), b"{\"a\":1}\n{\"b\":2}\n");
    only_the_good_arrives(
        &server,
        &[
            ("petabyte", "it has 1000000000000000 bytes; this host takes at most 2147483648"),
            ("b/most", "it has 18446744073709551615 bytes"),
            ("negative", "its field `len` is no number"),
            ("b/nan", "its field `len` is no number"),
            ("digits", "its field `len` is no number"),
            ("generation", "its generation is 18446744073709551615"),
            ("epoch", "its epoch is 18446744073709551615"),
            ("b/owner", "its owner is called [2Jx"),
            ("b/digest", "its field `digest` is no SHA-256"),
            ("gone", "its field `gone` names no claim"),
            ("b/meta", "its field `meta` has 100000 bytes"),
            ("differs", "the remote has lost bytes"),
            ("b/type", "WRONGTYPE"),
            ("missing", "the remote has lost bytes"),
            ("chunk", "WRONGTYPE"),
            ("random", "it is no session"),
            ("b/object", "it is no session"),
        ],
    );
}

#[test]
fn a_limit_of_the_host_is_kept() {
    let (server, _first) = published();
    let host = Host::new();
    let url = server.url(host.path()) + "&max-session=1M";
    let (code, out, err) = host.run_on(&url, "remote pull --all");
    assert_eq!((code, names(&host).len()), (3, 0), "{out}{err}");
    assert!(err.contains("this host takes at most 1048576"), "{err}");
    let url = server.url(host.path()) + "&max-session=20M";
    assert_eq!(host.run_on(&url, "remote pull --all").0, 0);
    assert_eq!(names(&host), [GOOD]);
}

#[test]
fn a_move_to_another_kind_of_key_is_none() {
    let (server, _first) = published();
    let body = header("victim")
        + "{\"type\":\"custom\",\"id\":\"1\",\"parentId\":null,\"timestamp\":\"2026-01-01T00:00:01.000Z\",\"customType\":\"t\"}\n";
    let forged = Forged::new(&server, VICTIM, body.as_bytes());
    let host = Host::new();
    assert_eq!(host.run(&server, "remote pull --all").0, 0);
    assert_eq!(names(&host), [GOOD, VICTIM]);
    forged.set("gone", &format!("1 {CLAIM}"));
    for to in ["extensions/evil.ts", "sessions/b/.evil.jsonl", "history.db", "../x.jsonl", VICTIM] {
        forged.set("moved", to);
        Forged::new(&server, to, b"attack");
        forged.list("2000");
        let (code, out, err) = host.run(&server, "remote pull --all");
        assert_eq!((code, names(&host)), (3, vec![GOOD.to_owned(), VICTIM.to_owned()]), "{to}");
        assert!(!(out + &err).contains("it is now"), "{to}");
        assert_eq!(fs::read_to_string(host.file(VICTIM)).unwrap(), body);
        server.command(&[b"ZREM", b"sessions:{all}:sessions", to.as_bytes()]);
    }
    // A move to where nothing is takes the session away, and nothing says that it is there.
    forged.set("moved", "sessions/b/nowhere.jsonl").list("3000");
    let (code, out, err) = host.run(&server, &format!("remote pull {GOOD} {VICTIM}"));
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains(&format!("{VICTIM}: removed (it is now trash/")), "{out}");
    let trashed: Vec<_> = names(&host).into_iter().filter(|name| name != GOOD).collect();
    assert_eq!(trashed.len(), 2, "{trashed:?}");
    assert!(trashed.iter().all(|name| name.starts_with("trash/")), "{trashed:?}");
}

#[test]
fn objects_are_below_their_session_and_of_a_bounded_size() {
    let (server, _first) = published();
    let folder = GOOD.strip_suffix(".jsonl").unwrap();
    let object = |key: &str, size: &str, body: &[u8]| {
        let base = format!("sessions:o:{{{}}}:", &hex(key.as_bytes())[..32]);
        let (meta, digest) = (format!("{base}meta"), hex(body));
        let fields = [("key", key), ("size", size), ("digest", &digest)];
        for (field, value) in fields {
            server.command(&[b"HSET", meta.as_bytes(), field.as_bytes(), value.as_bytes()]);
        }
        server.command(&[b"SET", format!("{base}{digest}:0").as_bytes(), body]);
        server.command(&[b"ZADD", b"sessions:{all}:objects", b"0", key.as_bytes()]);
    };
    object(&format!("{folder}/petabyte.log"), "1000000000000000", b"x");
    object(&format!("{folder}/short.log"), "2", b"x");
    object(&format!("{folder}/.profile"), "1", b"x");
    object(&format!("{folder}/../../../evil"), "1", b"x");
    let (code, out, err) = {
        let host = Host::new();
        let told = host.run(&server, "remote pull --all");
        assert_eq!(names(&host), [GOOD], "{told:?}");
        assert_eq!(fs::read_to_string(host.file(GOOD)).unwrap(), good());
        told
    };
    assert_eq!(code, 3, "{out}{err}");
    for (name, reason) in [
        ("petabyte.log", "it has 1000000000000000 bytes"),
        ("short.log", "lost bytes"),
        (".profile", "a hidden name"),
        ("evil", "segment `.` or `..`"),
    ] {
        let is_told = |line: &&str| line.contains(name) && line.contains(reason);
        assert_eq!(err.lines().filter(is_told).count(), 1, "{name} {reason}: {err}");
    }
    for at in 0..1500 {
        object(&format!("{folder}/{at:04}.log"), "1", b"x");
    }
    // Above a page of 1,000 objects.
    let host = Host::new();
    host.run(&server, "remote pull --all");
    assert_eq!(names(&host).len(), 1501);
}

#[test]
fn more_bogus_rows_than_a_page_of_1000_do_not_hide_a_session() {
    let (server, _first) = published();
    let fill = "for i = 1, 5000 do redis.call('ZADD', KEYS[1], 9e15 - i, ARGV[1] .. i) end \
                for i = 1, 2500 do redis.call('ZADD', KEYS[1], -i, 'n' .. i) end";
    for name in ["bogus", "sessions/b/../"] {
        let rows = b"sessions:{all}:sessions";
        server.command(&[b"EVAL", fill.as_bytes(), b"1", rows, name.as_bytes()]);
    }
    let host = Host::new();
    let (code, out, err) = host.run(&server, "remote list");
    assert_eq!((code, out.lines().count()), (0, 1), "{out}");
    assert!(err.contains("more are left out as well"), "{err}");
    only_the_good_arrives(&server, &[("\"sessions/b/../1\"", "segment `.` or `..`")]);
}

#[test]
fn a_feed_of_nonsense_is_passed_over() {
    let (server, _first) = published();
    for fields in [&["k", GOOD, "c", "x"][..], &["a", "b"], &["k", "extensions/e.ts", "c", "-"]] {
        let fields = fields.iter().map(|field| field.as_bytes());
        let words: Vec<&[u8]> =
            [&b"XADD"[..], b"sessions:{all}:feed", b"*"].into_iter().chain(fields).collect();
        server.command(&words);
    }
    only_the_good_arrives(&server, &[]);
    server.command(&[b"DEL", b"sessions:{all}:feed"]);
    server.command(&[b"SET", b"sessions:{all}:feed", b"x"]);
    only_the_good_arrives(&server, &[]);
}

#[test]
fn push_and_status_say_what_the_remote_says() {
    let (mut server, first) = published();
    let url = |options: &str| server.url_with(first.path(), options);
    let run = |options: &str, args: &str| first.run_on(&url(options), args);
    assert_eq!(run("", "remote status").0, 0);
    server.command(&[b"ACL", b"SETUSER", b"reader", b"on", b">p", b"~*", b"+@read", b"+info"]);
    server.command(&[b"ACL", b"SETUSER", b"nobody", b"on", b">p", b"~*", b"+ping"]);
    for (options, reason) in [
        ("?user=reader%26pass=wrong", "user or password is wrong"),
        ("?user=nobody%26pass=p", "NOPERM"),
        ("?user=reader%26pass=p", "NOPERM"),
    ] {
        for command in ["remote push", "remote status"] {
            let (code, out, err) = run(options, command);
            let wanted = if command == "remote push" { 1 } else { 3 };
            assert_eq!(code, wanted, "{options} {command}: {out}{err}");
            assert!((out.clone() + &err).contains(reason), "{options} {command}: {out}{err}");
            assert!(!out.contains("all is published"), "{options} {command}: {out}{err}");
        }
    }
    // The remote lost it all: what was published once is published anew, and then confirmed.
    server.command(&[b"FLUSHALL"]);
    assert_eq!(run("", "remote push"), (0, "all is published\n".to_owned(), String::new()));
    let (code, out, _) = run("", "remote push --json");
    let confirmed = RawJson::parse(out).unwrap().field("confirmed").unwrap().as_i64();
    assert_eq!((code, confirmed), (0, Some(1)));
    let replica = [&b"REPLICAOF"[..], b"127.0.0.1", b"1"];
    server.command(&replica);
    let (code, out, err) = run("", "remote push");
    assert_eq!(code, 1, "{out}{err}");
    assert!(err.contains("the remote is read only"), "{err}");
    assert_eq!(run("", "remote status").0, 3);
    server.command(&[b"REPLICAOF", b"NO", b"ONE"]);
    // Another host's lines that are not here yet.
    let other = Host::new();
    assert_eq!(other.run(&server, "remote pull --all").0, 0);
    let line = r#"{"type":"custom","customType":"t"}"#;
    let more = good()
        + &line.replacen(
            '{',
            r#"{"id":"z","parentId":null,"timestamp":"2026-01-01T00:00:02.000Z","#,
            1,
        )
        + "\n";
    write(&other, GOOD, &more);
    assert_eq!(other.run(&server, "remote push").0, 0);
    let (code, out, err) = run("", "remote status");
    assert_eq!(code, 5, "{out}{err}");
    assert!(out.contains("`sessionctl remote pull` fetches them"), "{out}");
    assert_eq!(run("", "remote pull").0, 0);
    assert_eq!(run("", "remote status").0, 0);
    let down = url("");
    server.kill();
    let (code, out, err) = first.run_on(&down, "remote push --wait 0");
    assert_eq!(code, 1, "{out}{err}");
    assert!(err.contains("the remote does not answer"), "{err}");
    let (code, out, _) = first.run_on(&down, "remote status");
    assert_eq!(code, 3);
    assert!(out.contains("the remote does not answer"), "{out}");
}

#[test]
fn a_server_without_tls_is_named_so() {
    let server = Server::start_at_port();
    let host = Host::new();
    let url =
        format!("indexed://{}?remote=rediss://127.0.0.1:{}/", host.path().display(), server.port());
    let (code, out, _) = host.run_on(&url, "remote status");
    assert_eq!(code, 3, "{out}");
    assert!(out.contains("answers without TLS; write redis://"), "{out}");
}
