//! Writers that contend for one session and are killed at any moment, again and again.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use session_context::NameSource;
use session_model::storage::StorageErrorKind;

use crate::session::{self, BULK, FILE, append, block_on, goes_on, look, open, whole_records};
use crate::{child, is_long};

/// Text number `n` of a writer; some are long enough to be written in parts.
fn text(writer: &str, n: u64) -> String {
    let fill = if n % 16 == 7 { 150_000 } else { n as usize % 300 };
    format!("{writer} {n} {}", "x".repeat(fill))
}

/// Writes for ever, a few entries under each claim; notes each text before and after it is written.
pub fn play(root: &Path, name: &str) {
    let note =
        |what: &str| File::options().create(true).append(true).open(root.join(what)).unwrap();
    let (mut tried, mut told) = (note("tried"), note("told"));
    let mut n = 0;
    loop {
        let mut session = match open(&root.join("store")) {
            Ok(session) => session,
            Err(error)
                if error.storage_error().map(|e| e.kind()) == Some(StorageErrorKind::Busy) =>
            {
                thread::yield_now();
                continue;
            }
            Err(error) => panic!("{error:?}"),
        };
        for _ in 0..1 + n % 5 {
            tried.write_all(format!("{name} {n}\n").as_bytes()).unwrap();
            append(&mut session, &text(name, n)).unwrap();
            told.write_all(format!("{name} {n}\n").as_bytes()).unwrap();
            n += 1;
        }
        if n % 7 == 0 {
            block_on(session.set_session_name(&format!("{name} {n}"), NameSource::User)).unwrap();
        }
        block_on(session.close()).unwrap();
    }
}

pub fn nothing_is_lost() -> String {
    let cycles = if is_long() { 200 } else { 20 };
    let root = tempfile::tempdir().unwrap();
    let store = root.path().join("store");
    fs::create_dir(&store).unwrap();
    let (mut told_all, mut torn) = (0, 0);
    for cycle in 0..cycles {
        // Each cycle begins anew now and then, so that reading all of it stays quick.
        if cycle % 10 == 0 {
            for name in ["tried", "told"] {
                fs::write(root.path().join(name), "").unwrap();
            }
            session::write(&store, FILE, session::whole());
        }
        let names = [format!("w{cycle}a"), format!("w{cycle}b")];
        let mut writers = names
            .each_ref()
            .map(|name| child(&format!("contend {name}"), root.path()).spawn().unwrap());
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            let reader = scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    if let Some(session) = look(&store) {
                        whole_records(&session, "while it is written");
                    }
                }
            });
            // The moment differs from cycle to cycle; none of them is waited for.
            let opening = BULK.len() as u64 / 50;
            let until = 10_000 + opening + cycle * 7_919 % 60_000;
            thread::sleep(Duration::from_micros(until));
            for writer in &mut writers {
                assert!(writer.try_wait().unwrap().is_none(), "a writer gave up");
                writer.kill().unwrap();
                writer.wait().unwrap();
            }
            over.store(true, Ordering::Relaxed);
            reader.join().unwrap();
        });
        let (told, end) = check(root.path(), &format!("cycle {cycle}"));
        (told_all, torn) = (told_all.max(told), torn + u32::from(end));
    }
    goes_on(&store, "after all");
    format!(
        "{cycles} cycles, 2 writers killed in each, up to {told_all} told entries in a file, {torn} torn ends met"
    )
}

/// Checks the session against the notes; returns how many entries were told saved, and whether the
/// end is torn.
fn check(root: &Path, what: &str) -> (usize, bool) {
    let notes = |name: &str| -> Vec<String> {
        let notes = fs::read_to_string(root.join(name)).unwrap();
        notes.lines().map(str::to_owned).collect()
    };
    let (tried, told) = (notes("tried"), notes("told"));
    let tried: HashSet<_> = tried.into_iter().collect();
    let session = look(&root.join("store")).unwrap();
    whole_records(&session, what);
    let mut there = HashSet::new();
    for entry in session.entries() {
        let Some(message) = entry.message() else { continue };
        let said = message.as_object().unwrap().get("content").unwrap().to_string();
        let said = said.trim_matches('"').to_owned();
        let Some((writer, rest)) = said.split_once(' ') else { continue };
        let n: u64 = rest.split(' ').next().unwrap().parse().unwrap();
        assert_eq!(said, text(writer, n), "{what}");
        let note = format!("{writer} {n}");
        assert!(tried.contains(&note), "{what}: nobody wrote {note}");
        assert!(there.insert(note), "{what}: {writer} {n} is there twice");
    }
    let lost: Vec<_> = told.iter().filter(|note| !there.contains(*note)).collect();
    assert!(lost.is_empty(), "{what}: lost {lost:?}");
    (told.len(), !session.diagnostics().is_empty())
}
