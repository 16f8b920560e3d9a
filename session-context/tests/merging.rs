//! Two copies of one session that were worked on apart.
#![cfg(feature = "memory")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod support;

use std::collections::BTreeSet;

use proptest::prelude::*;
use session_context::SessionError;
use session_context::blobs::BlobStore;
use session_context::manager::{Merged, OtherCopy, SessionManager};
use session_model::Blob;
use session_model::storage::StorageErrorKind;
use session_store_memory::{MemoryStorage, When};
use support::store::{A, B, HEADER, content, key, open, put};
use support::{block_on, options, shared};

/// An entry as another program writes it.
fn entry(id: &str, parent: &str, text: &str) -> String {
    format!(
        r#"{{"type":"message","id":"{id}","parentId":"{parent}","timestamp":"2026-03-01T09:00:02Z","message":{{"role":"user","content":"{text}"}}}}"#
    )
}

fn session(entries: &[&str]) -> String {
    std::iter::once(&HEADER).chain(entries).map(|line| format!("{line}\n")).collect()
}

fn merged(ours: &str, theirs: &str) -> (MemoryStorage, SessionManager, Merged) {
    block_on(async {
        let storage = MemoryStorage::new();
        put(&storage, ours);
        let mut session = open(&storage, options("")).await;
        let merged = session.merge(OtherCopy::new(theirs.to_owned(), "other")).await.unwrap();
        (storage, session, merged)
    })
}

fn ids(session: &SessionManager) -> Vec<String> {
    session.entries().iter().filter_map(|entry| entry.id().map(Into::into)).collect()
}

#[test]
fn a_copy_that_went_on_is_caught_up_with() {
    let c = entry("c", "b", "more");
    let (storage, session, merged) = merged(&session(&[A, B]), &session(&[A, B, &c]));
    assert_eq!((merged.added, merged.only_here, merged.kept_in), (1, 0, None));
    assert_eq!(content(&storage, &key()), Some(self::session(&[A, B, &c])));
    assert_eq!(session.leaf_id().as_deref(), Some("c"));
}

#[test]
fn work_in_both_becomes_two_branches_and_the_leaf_stays_for_good() {
    let (ours, theirs) = (entry("c", "b", "here"), entry("d", "b", "there"));
    let (storage, session, merged) = merged(&session(&[A, B, &ours]), &session(&[A, B, &theirs]));
    assert_eq!((merged.added, merged.only_here), (1, 1));
    assert_eq!(ids(&session)[..4], ["a", "b", "c", "d"]);
    drop(session);
    let file = content(&storage, &key()).unwrap();
    assert!(file.starts_with(&self::session(&[A, B, &ours, &theirs])), "{file}");
    let again = block_on(open(&storage, options("")));
    let path = again.tree().path_to(again.tree().leaf().unwrap());
    let path: Vec<_> = path.iter().filter_map(|&node| again.tree().entry(node).id()).collect();
    assert_eq!(path[..3], ["a", "b", "c"]);
}

#[test]
fn a_copy_whose_last_line_has_no_end_is_taken_whole() {
    let (ours, theirs) = (entry("c", "b", "here"), entry("d", "b", "there"));
    let other = session(&[A, B, &theirs]);
    let (storage, session, _) = merged(&session(&[A, B, &ours]), other.trim_end());
    let before = ids(&session);
    drop(session);
    let again = block_on(open(&storage, options("")));
    assert_eq!((ids(&again), again.diagnostics()), (before, &[][..]));
    assert_eq!(ids(&again)[..4], ["a", "b", "c", "d"]);
}

#[test]
fn merging_again_adds_nothing_and_writes_nothing() {
    let (ours, theirs) = (entry("c", "b", "here"), entry("d", "b", "there"));
    let other = session(&[A, B, &theirs]);
    let (storage, mut session, _) = merged(&session(&[A, B, &ours]), &other);
    let before = content(&storage, &key());
    let again = block_on(session.merge(OtherCopy::new(other, "other"))).unwrap();
    assert_eq!((again.added, again.only_here, again.reworded), (0, 2, vec![]));
    assert_eq!(content(&storage, &key()), before);
}

#[test]
fn other_wording_of_an_entry_is_kept_beside() {
    let theirs = B.replace("}", " }");
    let (storage, session, merged) = merged(&session(&[A, B]), &session(&[A, &theirs]));
    let kept_in = merged.kept_in.unwrap();
    assert_eq!(merged.reworded, ["b"]);
    assert_eq!(content(&storage, &kept_in), Some(format!("{theirs}\n")));
    assert_eq!(content(&storage, &key()), Some(self::session(&[A, B])));
    assert_eq!(session.leaf_id().as_deref(), Some("b"));
}

#[test]
fn what_cannot_be_read_of_the_other_copy_is_told() {
    let c = entry("c", "b", "more");
    let other = format!("{HEADER}\n{A}\ndamaged\n{B}\n{c}\n{}", &B[..20]);
    let (storage, _, merged) = merged(&session(&[A, B]), &other);
    let left: Vec<_> = merged.left.iter().map(|found| found.code.to_string()).collect();
    assert_eq!((merged.added, left), (1, vec!["damaged-line".into(), "torn-tail".into()]));
    assert_eq!(content(&storage, &key()), Some(self::session(&[A, B, &c])));
}

#[test]
fn only_copies_are_merged() {
    block_on(async {
        let storage = MemoryStorage::new();
        put(&storage, &session(&[A]));
        let mut ours = open(&storage, options("")).await;
        let stranger = session(&[A, B]).replace(r#""id":"s""#, r#""id":"other""#);
        let refused = ours.merge(OtherCopy::new(stranger, "x.jsonl")).await.unwrap_err();
        assert_eq!(
            refused.to_string(),
            "x.jsonl is the session other, no copy of s; only copies can be merged"
        );
        let old = format!("{{\"type\":\"session\",\"id\":\"s\"}}\n{A}\n");
        let refused = ours.merge(OtherCopy::new(old, "x.jsonl")).await.unwrap_err();
        assert!(matches!(refused, SessionError::OtherFormat { .. }), "{refused}");
        let refused = ours.merge(OtherCopy::new("no session\n", "x.jsonl")).await.unwrap_err();
        assert!(matches!(refused, SessionError::NotASession { .. }), "{refused}");
        assert_eq!(content(&storage, &key()), Some(session(&[A])));
    });
}

#[test]
fn blobs_come_along_and_missing_ones_are_told() {
    block_on(async {
        let (storage, elsewhere) = (MemoryStorage::new(), MemoryStorage::new());
        let there = BlobStore::new(shared(&elsewhere)).unwrap();
        let (blob, missing) = (Blob::new(&b"picture"[..]), Blob::new(&b"gone"[..]));
        there.put(&blob).await.unwrap();
        let image = |id: &str, blob: &Blob| {
            format!(
                r#"{{"type":"message","id":"{id}","parentId":"a","timestamp":"2026-03-01T09:00:02Z","message":{{"role":"user","content":[{{"type":"image","data":"{}","mimeType":"image/png"}}]}}}}"#,
                blob.id()
            )
        };
        put(&storage, &session(&[A]));
        let mut ours = open(&storage, options("")).await;
        let other = session(&[A, &image("c", &blob), &image("d", &missing)]);
        let merged = ours.merge(OtherCopy::new(other, "other").blobs(there)).await.unwrap();
        let here = BlobStore::new(shared(&storage)).unwrap();
        assert_eq!(here.get(blob.id()).await.unwrap(), "picture");
        let told: Vec<_> = merged.left.iter().map(|found| found.code.to_string()).collect();
        assert_eq!((merged.added, told), (2, vec!["missing-blob".to_owned()]));
    });
}

#[test]
fn a_failure_at_any_call_loses_nothing_and_merging_again_finishes() {
    let (c, d, e) = (entry("c", "b", "here"), entry("d", "b", "1"), entry("e", "d", "2"));
    let other = session(&[A, B, &d, &e]);
    for call in 1.. {
        let storage = MemoryStorage::new();
        put(&storage, &session(&[A, B, &c]));
        let failed = block_on(async {
            let mut ours = open(&storage, options("")).await;
            storage.faults().fail_at(call, When::Before, StorageErrorKind::Full);
            let done = ours.merge(OtherCopy::new(other.clone(), "other")).await;
            storage.faults().clear();
            done.is_err()
        });
        block_on(async {
            let mut again = open(&storage, options("")).await;
            again.merge(OtherCopy::new(other.clone(), "other")).await.unwrap();
            let found: BTreeSet<_> = ids(&again).into_iter().collect();
            assert!(["a", "b", "c", "d", "e"].iter().all(|&id| found.contains(id)), "{found:?}");
            let twice = ids(&again).len() - found.len();
            assert_eq!(twice, 0, "call {call}");
        });
        if !failed {
            return;
        }
    }
}

proptest! {
    /// Two copies grow apart from a common beginning, each on branches of its own.
    #[test]
    fn either_way_round_all_entries_of_both_are_there_once(
        ours in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        theirs in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let grow = |name: &str, parents: &[prop::sample::Index]| {
            let mut ids = vec!["a".to_owned(), "b".to_owned()];
            let mut lines = vec![A.to_owned(), B.to_owned()];
            for (n, parent) in parents.iter().enumerate() {
                let id = format!("{name}{n}");
                lines.push(entry(&id, parent.get::<String>(&ids), name));
                ids.push(id);
            }
            lines
        };
        let (ours, theirs) = (grow("x", &ours), grow("y", &theirs));
        let file = |lines: &[String]| session(&lines.iter().map(String::as_str).collect::<Vec<_>>());
        let wanted: BTreeSet<&String> = ours.iter().chain(&theirs).collect();
        for (one, other) in [(&ours, &theirs), (&theirs, &ours)] {
            let (storage, _, _) = merged(&file(one), &file(other));
            let after = content(&storage, &key()).unwrap();
            let lines: Vec<_> = after.lines().skip(1).map(str::to_owned).collect();
            let found: BTreeSet<_> = lines.iter().filter(|l| wanted.contains(l)).collect();
            prop_assert_eq!(&found, &wanted);
            prop_assert!(lines.len() <= wanted.len() + 1);
            prop_assert!(after.starts_with(&file(one)));
        }
    }
}
