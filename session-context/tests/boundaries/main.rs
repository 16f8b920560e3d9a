//! Sizes at which the code goes on to a next batch, block or page: below, at, above, and above the
//! second one. Each test has the name of the constant it crosses.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    dead_code,
    unreachable_pub,
    reason = "tests, and parts of others"
)]

#[path = "../support/shipped.rs"]
mod shipped;
#[path = "../sessionctl/support.rs"]
mod support;

use support::{Dir, json, session};

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;
const FOLDER: &str = "agent/sessions/--w-app--";
const FILE: &str = "agent/sessions/--w-app--/s.jsonl";

fn around(boundary: usize) -> [usize; 4] {
    [boundary - 1, boundary, boundary + 1, 2 * boundary + 1]
}

/// An entry's line; `n` counts from 1.
fn line(n: usize, text: &str) -> String {
    let parent = if n == 1 { "null".to_owned() } else { format!("\"{:08x}\"", n - 1) };
    format!(
        r#"{{"type":"message","id":"{n:08x}","parentId":{parent},"timestamp":"2026-03-01T09:00:01Z","message":{{"role":"user","content":"{text}"}}}}"#
    ) + "\n"
}

/// A session of exactly so many bytes, whose last entry alone says `needle`; and how many it has.
fn session_of(size: usize) -> (String, usize) {
    const TEXT: usize = 16_000;
    let filler = "weather data ".repeat(2_000);
    let mut file = session(&[]);
    for n in 1.. {
        let room = size - file.len() - line(n + 1, "needle").len() - line(n, "").len();
        let text = if room > TEXT + 1_000 { TEXT } else { room };
        file += &line(n, &filler[..text]);
        if text == room {
            file += &line(n + 1, "needle");
            assert_eq!(file.len(), size);
            return (file, n + 1);
        }
    }
    unreachable!()
}

/// The index, the files themselves, a search of both kinds, a fork and a bundle all give the whole of
/// sessions around this size.
fn sessions_are_whole_around(boundary: usize) {
    for size in around(boundary) {
        let dir = Dir::new();
        let (text, entries) = session_of(size);
        dir.write(FILE, &text);
        let told = format!(
            "1 session with {entries} entries, {entries} of them messages; {size} of {size} bytes are indexed\n"
        );
        assert_eq!(dir.run("index build --store agent").quiet(), told);
        let same = "the index says what the files hold\n";
        assert_eq!(dir.run("index check --store agent").quiet(), same, "{size}");
        let url = format!("indexed://{}/agent", dir.path().display());
        for args in ["list --all --json", "show s-0001 --json"] {
            let plain = dir.run(&format!("{args} --store agent")).quiet();
            let indexed = dir.run(&format!("{args} --store {url}")).quiet();
            assert_eq!(plain, indexed, "{args} of {size}");
        }
        for how in ["", "--no-index"] {
            let found = dir.run(&format!("search --all --json --store agent {how} needle")).quiet();
            let hits = json(&found).field("hits").unwrap().as_array().unwrap();
            let found: Vec<_> = hits
                .items()
                .iter()
                .map(|hit| hit.field("entry").unwrap().as_text().unwrap().into_owned())
                .collect();
            assert_eq!(found, [format!("{entries:08x}")], "{size} {how}");
        }
        let packed = dir.run("--store agent pack s-0001 -o s.tar.gz");
        assert_eq!(packed.code, Some(0), "{}", packed.err);
        let unpacked = dir.run("unpack s.tar.gz --into new");
        assert_eq!(unpacked.code, Some(0), "{}", unpacked.err);
        assert!(dir.read("new/sessions/--w-app--/s.jsonl") == text, "unpacked of {size}");
        let forked = json(&dir.run("--store agent fork s-0001 --json").quiet());
        let path = forked.field("path").unwrap().as_text().unwrap().into_owned();
        let copy = std::fs::read_to_string(dir.path().join(path)).unwrap();
        let entries = |text: &str| text.split_once('\n').unwrap().1.to_owned();
        assert!(entries(&copy).ends_with(&entries(&text)), "fork of {size}");
        assert!(dir.read(FILE) == text, "{size}");
    }
}

#[test]
fn summary_head_bytes() {
    sessions_are_whole_around(4 * KIB);
}

#[test]
fn summary_tail_bytes() {
    sessions_are_whole_around(32 * KIB);
}

#[test]
fn search_head() {
    sessions_are_whole_around(64 * KIB);
}

#[test]
fn file_store_buffer_bytes() {
    sessions_are_whole_around(128 * KIB);
}

#[test]
fn index_catch_up_chunk() {
    sessions_are_whole_around(MIB);
}

#[test]
fn file_store_large_page() {
    sessions_are_whole_around(2 * MIB);
}

#[test]
fn search_part_and_chunk() {
    sessions_are_whole_around(4 * MIB);
}

#[test]
fn index_batch_bytes_and_parallel_min_bytes() {
    sessions_are_whole_around(8 * MIB);
}

#[test]
fn search_batch_bytes_and_file_store_min_shared_bytes() {
    sessions_are_whole_around(32 * MIB);
}

/// Lists from files and from the index name every one of so many sessions.
fn every_session_is_listed(counts: [usize; 4]) {
    for count in counts {
        let dir = Dir::new();
        for n in 0..count {
            let text = session(&[]).replace("s-0001", &format!("s-{n:04}")) + &line(1, "hello");
            dir.write(&format!("{FOLDER}/{n:04}.jsonl"), text);
        }
        let ids = |out: &str| {
            let sessions = json(out).as_array().unwrap();
            let id = |item: &session_model::json::RawJson| {
                item.field("id").unwrap().as_text().unwrap().into_owned()
            };
            let mut ids: Vec<_> = sessions.items().iter().map(id).collect();
            ids.sort();
            ids
        };
        let expected: Vec<_> = (0..count).map(|n| format!("s-{n:04}")).collect();
        assert_eq!(ids(&dir.run("list --all --json --store agent").quiet()), expected);
        let told = dir.run("index build --store agent").quiet();
        assert!(told.starts_with(&format!("{count} sessions with {count} entries")), "{told}");
        let url = format!("indexed://{}/agent", dir.path().display());
        assert_eq!(ids(&dir.run(&format!("list --all --json --store {url}")).quiet()), expected);
    }
}

#[test]
fn listing_batch() {
    every_session_is_listed(around(64));
}

#[test]
fn index_batch_changes() {
    every_session_is_listed(around(256));
}
