//! Lines, keys and what a remote has.

use bytes::Bytes;
use pollster::block_on;
use session_model::storage::StorageKey;
use session_store_indexed::remote::{Event, Remote};

pub type Test = (&'static str, fn());

pub fn key(name: &str) -> StorageKey {
    StorageKey::new(name).unwrap()
}

pub fn session(name: &str) -> StorageKey {
    key(&format!("sessions/b/{name}.jsonl"))
}

pub fn header(id: &str) -> String {
    format!(
        "{{\"type\":\"session\",\"version\":3,\"id\":\"{id}\",\
         \"timestamp\":\"2026-01-01T00:00:00.000Z\",\"cwd\":\"/w\"}}\n"
    )
}

pub fn message(id: &str, text: &str) -> String {
    format!(
        "{{\"type\":\"message\",\"id\":\"{id}\",\"parentId\":null,\
         \"timestamp\":\"2026-01-01T00:00:05.000Z\",\
         \"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n"
    )
}

/// The whole log of a session on a remote; `None` if it is not there.
pub async fn log(remote: &dyn Remote, key: &StorageKey) -> Option<Bytes> {
    let state = remote.state(key).await.unwrap()?;
    if state.tombstone.is_some() || state.digest.is_none() {
        return None;
    }
    let mut log = Vec::new();
    loop {
        let part = remote.read(key, log.len() as u64, 1 << 20).await.unwrap().unwrap();
        if part.bytes.is_empty() {
            return Some(log.into());
        }
        log.extend_from_slice(&part.bytes);
    }
}

/// With a runtime, as a client of a server needs one.
pub fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

pub fn logged(remote: &dyn Remote, key: &StorageKey) -> Option<String> {
    block_on(log(remote, key)).map(|log| String::from_utf8(log.to_vec()).unwrap())
}

/// All events there are, with timestamps that only rise.
pub async fn events(remote: &dyn Remote) -> Vec<Event> {
    let mut after = 0;
    let mut all = Vec::new();
    loop {
        let feed = remote.feed(after, 100).await.unwrap();
        if feed.events.is_empty() {
            break;
        }
        after = feed.next;
        all.extend(feed.events);
    }
    assert!(all.is_sorted_by(|one, two| one.at < two.at), "{all:?}");
    all
}
