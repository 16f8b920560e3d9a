//! One session in a memory store, and looks into the store.
#![allow(unreachable_pub, dead_code, reason = "each test binary uses its own part")]

use session_context::{SessionManager, SessionOptions};
use session_model::DiagnosticCode as Code;
use session_model::message::{AssistantMessage, ContentBlock, Message};
use session_model::storage::{ListOptions, SessionStorage, SessionStorageExt, StorageKey};
use session_store_memory::MemoryStorage;

use super::{block_on, shared};

pub const KEY: &str = "sessions/--w--/s.jsonl";
pub const HEADER: &str =
    r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}"#;
pub const A: &str = r#"{"type":"message","id":"a","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"one"}}"#;
pub const B: &str = r#"{"type":"custom","customType":"x","id":"b","parentId":"a","timestamp":"2026-01-01T00:00:02.000Z"}"#;

pub fn key() -> StorageKey {
    StorageKey::new(KEY).unwrap()
}

pub fn user(text: &str) -> Message {
    Message::user(text, 1)
}

pub fn answer(text: &str) -> Message {
    AssistantMessage::new("p", "m", vec![ContentBlock::text(text)], 2).into()
}

pub fn put(storage: &MemoryStorage, content: &str) {
    block_on(storage.put(&key(), content.to_owned().into(), Default::default())).unwrap();
}

pub fn content(storage: &MemoryStorage, key: &StorageKey) -> Option<String> {
    let read = block_on(storage.read_all(key)).ok()?;
    Some(String::from_utf8(read.1.to_vec()).unwrap())
}

/// All objects, as name and content.
pub fn all(storage: &MemoryStorage) -> Vec<(String, String)> {
    let (objects, errors) = block_on(storage.list_all(None, ListOptions::default()));
    assert!(errors.is_empty(), "{errors:?}");
    objects.iter().map(|o| (o.key.to_string(), content(storage, &o.key).unwrap())).collect()
}

pub async fn open(storage: &MemoryStorage, options: SessionOptions) -> SessionManager {
    SessionManager::open(shared(storage), key(), "/w", options).await.unwrap()
}

pub fn codes(session: &SessionManager) -> Vec<Code> {
    session.diagnostics().iter().map(|d| d.code).collect()
}

pub fn ids(session: &SessionManager) -> Vec<String> {
    session.entries().iter().map(|e| e.id().unwrap_or_default().into_owned()).collect()
}
