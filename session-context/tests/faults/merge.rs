//! Two copies of a session, changed apart, that meet again.

use std::collections::BTreeSet;
use std::fs;

use session_context::NameSource;

use crate::session::{self, A, B, FILE, HEADER, append, block_on, goes_on, id, look, open};

/// Puts a copy that went its own way in the place of a session while that is open.
pub fn nothing_is_lost() -> String {
    let mut meetings = 0;
    for theirs_is_rewritten in [false, true] {
        for ours_is_rewritten in [false, true] {
            for next_is_a_rewrite in [false, true] {
                meet(theirs_is_rewritten, ours_is_rewritten, next_is_a_rewrite);
                meetings += 1;
            }
        }
    }
    format!("{meetings} meetings, every entry of both sides there once")
}

fn meet(theirs_is_rewritten: bool, ours_is_rewritten: bool, next_is_a_rewrite: bool) {
    let what = format!("{theirs_is_rewritten} {ours_is_rewritten} {next_is_a_rewrite}");
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for dir in [&here, &there] {
        session::write(dir.path(), FILE, format!("{HEADER}\n{A}\n{B}\n"));
    }
    let [mut ours, mut theirs] = [&here, &there].map(|dir| open(dir.path()).unwrap());
    let mut told = BTreeSet::from(["a".to_owned(), "b".to_owned()]);
    for n in 0..3 {
        told.insert(append(&mut ours, &format!("here {n}")).unwrap());
        told.insert(append(&mut theirs, &format!("there {n}")).unwrap());
    }
    for (session, rewrites) in [(&mut ours, ours_is_rewritten), (&mut theirs, theirs_is_rewritten)]
    {
        if rewrites {
            assert!(block_on(session.set_session_name("apart", NameSource::User)).unwrap());
            told.extend(session.leaf_id());
        }
    }
    block_on(theirs.close()).unwrap();
    fs::rename(there.path().join(FILE), here.path().join(FILE)).unwrap();
    if next_is_a_rewrite {
        assert!(block_on(ours.set_session_name("together", NameSource::User)).unwrap());
        told.extend(ours.leaf_id());
    } else {
        told.insert(append(&mut ours, "together").unwrap());
    }
    block_on(ours.close()).unwrap();
    let session = look(here.path()).unwrap();
    let ids: Vec<_> = session.entries().iter().map(id).collect();
    assert_eq!(ids.len(), told.len(), "{what}: {ids:?}");
    assert_eq!(ids.into_iter().collect::<BTreeSet<_>>(), told, "{what}");
    goes_on(here.path(), &what);
}
