//! After any operations, the index equals one made from the files.

use std::sync::Arc;

use pollster::block_on;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use session_model::storage::{
    AppendOptions, CopyOptions, PutOptions, RenameOptions, SessionStorage, SessionStorageExt,
};
use session_store_file::FileStorage;
use session_store_indexed::index::IndexOptions;
use session_store_indexed::storage::IndexedStorage;
use session_store_memory::MemoryStorage;

use crate::support::{Test, append, header, key, message};

pub const TESTS: &[Test] = &[
    ("after_any_operations_over_files", after_any_operations_over_files),
    ("after_any_operations_over_memory", after_any_operations_over_memory),
];

#[derive(Clone, Debug)]
enum Step {
    Append(u8, u8, u8),
    Torn(u8),
    Put(u8, u8),
    Truncate(u8, u8),
    Copy(u8, u8),
    Rename(u8, u8),
    Remove(u8),
    RemoveAll,
    CatchUp,
    Reopen,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let name = || 0..3_u8;
    let step = prop_oneof![
        6 => (name(), 0..6_u8, 0..6_u8).prop_map(|(n, id, parent)| Step::Append(n, id, parent)),
        1 => name().prop_map(Step::Torn),
        2 => (name(), 0..4_u8).prop_map(|(n, len)| Step::Put(n, len)),
        1 => (name(), any::<u8>()).prop_map(|(n, len)| Step::Truncate(n, len)),
        1 => (name(), name()).prop_map(|(a, b)| Step::Copy(a, b)),
        1 => (name(), name()).prop_map(|(a, b)| Step::Rename(a, b)),
        1 => name().prop_map(Step::Remove),
        1 => Just(Step::RemoveAll),
        3 => Just(Step::CatchUp),
        1 => Just(Step::Reopen),
    ];
    prop::collection::vec(step, 1..25)
}

fn take(storage: &IndexedStorage, step: &Step) {
    let name = |n: &u8| key(&n.to_string());
    // That an object is missing, or there already, is as good as another outcome.
    match step {
        Step::Append(n, id, parent) => {
            if !block_on(storage.exists(&name(n))).unwrap() {
                append(storage, &name(n), &header(&n.to_string(), ""));
            }
            let parent = (parent != id).then(|| parent.to_string());
            append(storage, &name(n), &message(&id.to_string(), parent.as_deref(), "user", ""));
        }
        Step::Torn(n) => append(storage, &name(n), "{\"type\":\"x\""),
        Step::Put(n, len) => {
            let lines = (0..*len).map(|id| message(&id.to_string(), None, "assistant", ""));
            let body = header("put", "") + &lines.collect::<String>();
            block_on(storage.put(&name(n), body.into(), PutOptions::default())).unwrap();
        }
        Step::Truncate(n, len) => {
            let options = AppendOptions::exclusive("test");
            let mut writer = block_on(storage.open_append(&name(n), options)).unwrap();
            let len = u64::from(*len).min(writer.len());
            block_on(writer.truncate(len)).unwrap();
            block_on(writer.close()).unwrap();
        }
        Step::Copy(a, b) => {
            let _ = block_on(storage.copy(&name(a), &name(b), CopyOptions::overwriting()));
        }
        Step::Rename(a, b) => {
            let _ = block_on(storage.rename(&name(a), &name(b), RenameOptions::overwriting()));
        }
        Step::Remove(n) => {
            let _ = block_on(storage.remove(&name(n)));
        }
        Step::RemoveAll => {
            block_on(storage.remove_all(&"sessions/b".parse().unwrap())).unwrap();
        }
        Step::CatchUp => storage.catch_up(|_| {}).unwrap(),
        Step::Reopen => {}
    }
}

fn after_any_operations(make: impl Fn(&std::path::Path) -> Arc<dyn SessionStorage>) {
    let config = Config { cases: 48, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new(config);
    let outcome = runner.run(&(steps(), 1..4_usize), |(steps, room)| {
        let dir = tempfile::tempdir().unwrap();
        let inner = make(dir.path());
        let open = || {
            let options = IndexOptions::default().queue_sessions(room);
            IndexedStorage::open(inner.clone(), dir.path().join("index.db"), options).unwrap()
        };
        let mut storage = open();
        for step in &steps {
            take(&storage, step);
            if matches!(step, Step::Reopen) {
                drop(storage);
                storage = open();
            }
        }
        storage.catch_up(|_| {}).unwrap();
        prop_assert_eq!(storage.check(|_| {}).unwrap(), []);
        Ok(())
    });
    outcome.unwrap();
}

fn after_any_operations_over_files() {
    after_any_operations(|dir| Arc::new(FileStorage::open(dir.join("root")).unwrap()));
}

fn after_any_operations_over_memory() {
    after_any_operations(|_| Arc::new(MemoryStorage::new()));
}
