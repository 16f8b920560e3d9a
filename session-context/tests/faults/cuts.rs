//! Files that end, or change, in the middle of a record, at every byte of it.

use std::fs;

use session_model::document::LoadOptions;
use session_model::{SessionDocument, TitleSlot};

use crate::session::{self, A, FILE, HEADER, block_on, goes_on, id, look, open};

/// A line with characters of every length.
const WIDE: &str = r#"{"type":"message","id":"w","parentId":"a","timestamp":"2026-01-01T00:00:02.000Z","message":{"role":"user","content":"é € 😀 \ud83d\ude00 \" }"}}"#;
const LAST: &str = r#"{"type":"custom","customType":"x","id":"l","parentId":"w","timestamp":"2026-01-01T00:00:03.000Z","data":{"😀":["é"]}}"#;

/// Cuts the file at every byte of its last two lines.
pub fn ends() -> String {
    let file = format!("{HEADER}\n{A}\n{WIDE}\n{LAST}\n").into_bytes();
    let from = HEADER.len() + A.len() + 2;
    for cut in from..=file.len() {
        let what = format!("cut at byte {cut}");
        let dir = tempfile::tempdir().unwrap();
        session::write(dir.path(), FILE, &file[..cut]);
        let mut whole = vec!["a"];
        let ends = [from + WIDE.len(), file.len() - 1];
        whole.extend(["w", "l"].iter().zip(ends).filter(|(_, end)| cut >= *end).map(|(id, _)| id));
        let ids: Vec<_> = look(dir.path()).unwrap().entries().iter().map(id).collect();
        assert_eq!(ids, whole, "{what}");
        goes_on(dir.path(), &what);
        let last_line = file[..cut].rsplit(|byte| *byte == b'\n').next().unwrap();
        let is_torn =
            !last_line.is_empty() && ![WIDE, LAST].map(str::as_bytes).contains(&last_line);
        let asides = asides(dir.path());
        assert_eq!(asides, Vec::from_iter(is_torn.then(|| last_line.to_vec())), "{what}");
    }
    format!("{} ends, nothing lost", file.len() + 1 - from)
}

/// Puts the first bytes of a new title slot before the last of the old one, at every byte.
pub fn slots() -> String {
    let slot = |title: &str, time: &str| {
        let (title, source) = (title.to_owned(), Some("user".to_owned()));
        TitleSlot { title, source, updated_at: time.to_owned() }.to_line()
    };
    let old = slot("old é", "2026-01-01T00:00:00.000Z");
    let new = slot("a new title, which is longer 😀", "2026-02-02T22:22:22.222Z");
    let mut refused = 0;
    for cut in 0..=new.len() {
        let what = format!("cut at byte {cut}");
        let dir = tempfile::tempdir().unwrap();
        let rest = format!("{HEADER}\n{A}\n");
        let file = [&new[..cut], &old[cut..], rest.as_bytes()].concat();
        session::write(dir.path(), FILE, &file);
        // A first line that is neither a slot nor damaged JSON makes the file no session.
        let is_session =
            SessionDocument::load(file.clone().into(), &LoadOptions::default()).is_ok();
        if is_session {
            let ids: Vec<_> = look(dir.path()).unwrap().entries().iter().map(id).collect();
            assert_eq!(ids, ["a"], "{what}");
            goes_on(dir.path(), &what);
        } else {
            block_on(open(dir.path()).unwrap().close()).unwrap();
            let asides = asides(dir.path());
            assert!(asides.iter().any(|aside| aside[..] == file[..]), "{what}");
            refused += 1;
        }
    }
    format!("{} mixtures, of which {refused} are no session and kept aside", new.len() + 1)
}

/// What the files hold that were put aside.
fn asides(dir: &std::path::Path) -> Vec<Vec<u8>> {
    let files = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap());
    let asides = files.filter(|file| file.file_name().to_string_lossy().contains("-"));
    asides.map(|file| fs::read(file.path()).unwrap()).collect()
}
