//! A session's life in a store that fails or dies at any one of its calls.

use std::sync::Arc;

use session_context::{NameSource, SessionError, SessionManager, SessionOptions};
use session_model::message::{AssistantMessage, ContentBlock, Message};
use session_model::storage::{SessionStorage, StorageErrorKind, StorageKey};
use session_store_memory::{MemoryStorage, When};

use crate::session::block_on;

const OLD: &str = concat!(
    r#"{"type":"session","id":"s"}"#,
    "\n",
    r#"{"type":"message","message":{"role":"user","content":"old"}}"#,
    "\n",
    r#"{"type":"mess"#,
);

fn key(name: &str) -> StorageKey {
    StorageKey::new(name).unwrap()
}

fn store() -> MemoryStorage {
    let store = MemoryStorage::new();
    block_on(store.put(&key("old"), OLD.to_owned().into(), Default::default())).unwrap();
    store
}

async fn open(store: &MemoryStorage, name: &str) -> Result<SessionManager, SessionError> {
    SessionManager::open(Arc::new(store.clone()), key(name), "/w", SessionOptions::default()).await
}

/// Does everything once; `told` gets the object and id of every entry that was told saved.
async fn live(
    store: &MemoryStorage,
    told: &mut Vec<(&'static str, String)>,
) -> Result<(), SessionError> {
    for name in ["old", "new", "new"] {
        let mut session = open(store, name).await?;
        let lived = turn(&mut session, name, told).await;
        session.close().await.and(lived)?;
    }
    Ok(())
}

async fn turn(
    session: &mut SessionManager,
    name: &'static str,
    told: &mut Vec<(&'static str, String)>,
) -> Result<(), SessionError> {
    let question = session.append_message(Message::user("?", 1)).await?;
    told.push((name, question.clone()));
    let answer = AssistantMessage::new("p", "m", vec![ContentBlock::text("!")], 2);
    told.push((name, session.append_message(answer).await?));
    told.push((name, session.append_label_change(&question, Some("mark")).await?));
    session.flush().await?;
    if session.set_session_name(name, NameSource::User).await? {
        told.push((name, session.leaf_id().unwrap()));
    }
    session.branch(&question)?;
    told.push((name, session.append_message(Message::user("or", 3)).await?));
    Ok(())
}

/// Everything told saved is there once, and sessions go on.
fn check(store: &MemoryStorage, told: &[(&'static str, String)], what: &str) {
    for name in ["old", "new"] {
        let mut session = block_on(open(store, name)).unwrap_or_else(|e| panic!("{what}: {e:?}"));
        let ids: Vec<_> =
            session.entries().iter().map(|entry| entry.id().unwrap().into_owned()).collect();
        for (_, id) in told.iter().filter(|(of, _)| *of == name) {
            assert_eq!(ids.iter().filter(|other| *other == id).count(), 1, "{what}: {id}");
        }
        let said = session.entries().iter().filter_map(|entry| entry.message());
        let old = said.filter(|message| message.as_str().contains("\"old\"")).count();
        assert_eq!(old, usize::from(name == "old"), "{what}");
        let next = block_on(session.append_message(Message::user("next", 4))).unwrap();
        block_on(session.close()).unwrap();
        let session = block_on(open(store, name)).unwrap();
        assert!(session.entry(&next).is_some() || name == "new" && ids.is_empty(), "{what}");
        block_on(session.close()).unwrap();
    }
}

pub fn failing() -> String {
    sweep(
        "failures",
        |store, n, when| store.faults().fail_at(n, when, StorageErrorKind::Full),
        |store| {
            store.faults().clear();
            store.clone()
        },
    )
}

pub fn crashing() -> String {
    sweep("crashes", |store, n, when| store.faults().crash_at(n, when), MemoryStorage::restarted)
}

fn sweep(
    what: &str,
    strike: impl Fn(&MemoryStorage, u64, When),
    after: impl Fn(&MemoryStorage) -> MemoryStorage,
) -> String {
    let mut struck = 0;
    for when in [When::Before, When::Partway(9), When::After] {
        for n in 0.. {
            let store = store();
            let mut told = Vec::new();
            strike(&store, n, when);
            let lived = block_on(live(&store, &mut told));
            let fired = store.faults().fired();
            // A look-up that says "there is none" in any case does not show its failure.
            assert!(lived.is_ok() || fired, "{when:?} at {n}: {lived:?}");
            check(&after(&store), &told, &format!("{what}, {when:?} at {n}"));
            if !fired {
                assert_eq!(told.len(), 15);
                break;
            }
            struck += 1;
        }
    }
    format!("{struck} {what}, before, within and after every call")
}
