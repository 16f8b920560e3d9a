//! Every change of where a session is, under a fault or a crash at every call of the storage.

use session_context::navigation::{NavigateOptions, SummarySource};
use session_context::{NameSource, SessionError, SessionManager};
use session_model::storage::StorageErrorKind;
use session_store_memory::{MemoryStorage, When};

use crate::moves::conversation;
use crate::support::store::{content, ids, key, open, put, user};
use crate::support::{block_on, options};

/// What is done to a session, and how many entries it adds.
#[derive(Clone, Copy, Debug)]
enum Change {
    Name,
    Archive,
    BranchDurably,
    NavigateDurably,
    NavigateWithSummary,
    OpenCheckpoint,
    Rewind,
}

const CHANGES: [(Change, usize); 7] = [
    (Change::Name, 1),
    (Change::Archive, 1),
    (Change::BranchDurably, 1),
    (Change::NavigateDurably, 1),
    (Change::NavigateWithSummary, 1),
    (Change::OpenCheckpoint, 1),
    (Change::Rewind, 2),
];

impl Change {
    async fn make(self, session: &mut SessionManager) -> Result<(), SessionError> {
        match self {
            Self::Name => session.set_session_name("a name", NameSource::User).await.map(drop),
            Self::Archive => session.append_archive("x1", true).await.map(drop),
            Self::BranchDurably => session.branch_durably(Some("u1")).await.map(drop),
            Self::NavigateDurably => {
                let options = NavigateOptions::default().durable();
                session.navigate_tree("a1", options).await.map(drop)
            }
            Self::NavigateWithSummary => {
                let summary = SummarySource::Given("what was done".to_owned());
                let options = NavigateOptions::default().summary(summary);
                session.navigate_tree("a1", options).await.map(drop)
            }
            Self::OpenCheckpoint => session.open_checkpoint("t9", "try it").await.map(drop),
            Self::Rewind => session.rewind("it did not work").await.map(drop),
        }
    }
}

/// A session the change can be made to, as it is in its file.
async fn prepared(change: Change) -> (MemoryStorage, SessionManager) {
    let storage = MemoryStorage::new();
    put(&storage, &conversation());
    let mut session = open(&storage, options("")).await;
    if matches!(change, Change::Rewind) {
        session.open_checkpoint("t9", "try it").await.unwrap();
        session.append_message(user("trying")).await.unwrap();
    }
    session.flush().await.unwrap();
    (storage, session)
}

fn whole(session: &SessionManager) -> String {
    String::from_utf8(session.document().to_payload().to_bytes().to_vec()).unwrap()
}

/// The lines behind the header, which a name changes too.
fn entries(file: &str) -> &str {
    file.split_once('\n').unwrap().1
}

#[test]
fn a_fault_in_any_call_leaves_all_or_nothing_and_the_session_usable() {
    for (change, added) in CHANGES {
        for when in [When::Before, When::Partway(5), When::After] {
            for n in 0.. {
                let fired = block_on(async {
                    let (storage, mut session) = prepared(change).await;
                    let (before, leaf) = (whole(&session), session.leaf_id());
                    storage.faults().fail_at(n, when, StorageErrorKind::Full);
                    let result = change.make(&mut session).await;
                    let fired = storage.faults().fired();
                    storage.faults().clear();
                    let what = format!("{change:?} {when:?} at {n}: {result:?}");
                    // What is not told saved is whole in memory, or not there at all.
                    let count = session.entries().len() - entries(&before).lines().count();
                    assert!(count == added || result.is_err() && count == 0, "{what}: {count}");
                    if count == 0 {
                        assert_eq!((whole(&session), session.leaf_id()), (before, leaf), "{what}");
                    }
                    let file = content(&storage, &key()).unwrap();
                    let lines = entries(&file).lines().count();
                    let old = session.entries().len() - count;
                    assert!(lines == old || lines == old + added, "{what}: {file}");
                    if session.persistence_error().is_some() {
                        session.save_again().await.unwrap_or_else(|e| panic!("{what}: {e:?}"));
                    }
                    let next = session.append_message(user("next")).await;
                    next.unwrap_or_else(|error| panic!("{what}: {error:?}"));
                    assert_eq!(content(&storage, &key()), Some(whole(&session)), "{what}");
                    session.close().await.unwrap();
                    fired
                });
                if !fired {
                    break;
                }
            }
        }
    }
}

#[test]
fn a_crash_in_any_call_leaves_all_or_nothing() {
    for (change, added) in CHANGES {
        let mut outcomes = [0, 0];
        for when in [When::Before, When::Partway(5), When::After] {
            for n in 0.. {
                let fired = block_on(async {
                    let (storage, mut session) = prepared(change).await;
                    let (before, known) = (whole(&session), ids(&session));
                    storage.faults().crash_at(n, when);
                    let result = change.make(&mut session).await;
                    let fired = storage.faults().fired();
                    drop(session);
                    let storage = storage.restarted();
                    let what = format!("{change:?} {when:?} at {n}: {result:?}");
                    let file = content(&storage, &key()).unwrap();
                    assert!(entries(&file).starts_with(entries(&before)), "{what}: {file}");
                    let mut session = open(&storage, options("9")).await;
                    let now = ids(&session);
                    assert_eq!(now[..known.len()], known, "{what}");
                    let count = now.len() - known.len();
                    assert!(count == added || count == 0 && result.is_err(), "{what}: {now:?}");
                    outcomes[usize::from(count == added)] += 1;
                    if count == 0 && !matches!(change, Change::Rewind) {
                        change.make(&mut session).await.unwrap();
                        assert_eq!(session.entries().len(), known.len() + added, "{what}");
                    }
                    session.close().await.unwrap();
                    fired
                });
                if !fired {
                    break;
                }
            }
        }
        assert!(outcomes[0] > 0 && outcomes[1] > 1, "{change:?}: {outcomes:?}");
    }
}
