//! Clones, names and addresses of stores.

#![allow(clippy::unwrap_used)]

use pollster::block_on;
use session_model::storage::{
    AppendOptions, Payload, PutOptions, SessionStorage, SessionStorageExt, StorageKey,
};
use session_store_memory::MemoryStorage;

fn key(name: &str) -> StorageKey {
    StorageKey::new(name).unwrap()
}

fn put(store: &MemoryStorage, name: &str) {
    block_on(store.put(&key(name), Payload::from(name.to_owned()), PutOptions::default())).unwrap();
}

fn exists(store: &MemoryStorage, name: &str) -> bool {
    block_on(store.exists(&key(name))).unwrap()
}

#[test]
fn clones_share_and_new_stores_do_not() {
    let store = MemoryStorage::new();
    put(&store, "a");
    assert!(exists(&store.clone(), "a"));
    assert!(!exists(&MemoryStorage::new(), "a"));
}

#[test]
fn named_store_is_shared_by_its_name() {
    let store = MemoryStorage::named("shared");
    put(&store, "a");
    assert!(exists(&MemoryStorage::named("shared"), "a"));
    assert!(!exists(&MemoryStorage::named("other"), "a"));
}

#[test]
fn named_store_goes_with_its_last_handle() {
    let store = MemoryStorage::named("short-lived");
    put(&store, "a");
    let writer = block_on(store.open_append(&key("a"), AppendOptions::default())).unwrap();
    drop(store);
    assert!(exists(&MemoryStorage::named("short-lived"), "a"));
    drop(writer);
    assert!(!exists(&MemoryStorage::named("short-lived"), "a"));
}

#[test]
fn displays_its_address() {
    assert_eq!(MemoryStorage::new().to_string(), "memory:");
    assert_eq!(MemoryStorage::named("team").to_string(), "memory://team");
    assert_eq!(format!("{:?}", MemoryStorage::named("team")), "MemoryStorage(memory://team)");
}
