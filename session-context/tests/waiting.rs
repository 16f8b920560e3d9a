//! Waiting for what another writer holds, in the library.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::time::Duration;

use session_context::{
    NewSession, SessionError, SessionManager, SessionOptions, WaitingStorage, open_storage,
};
use session_model::storage::{
    AppendOptions, Durability, PutOptions, RenameOptions, SessionStorage, SessionStorageExt,
    StorageError, StorageErrorKind, StorageKey,
};
use tokio::sync::Notify;

fn key(text: &str) -> StorageKey {
    StorageKey::new(text).unwrap()
}

/// One storage of each kind.
fn storages(dir: &std::path::Path) -> Vec<Arc<dyn SessionStorage>> {
    let place = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    let mut urls = vec!["memory:".to_owned(), place("files")];
    if cfg!(feature = "indexed") {
        urls.push(format!("indexed://{}", place("indexed")));
    }
    urls.iter().map(|url| open_storage(url).unwrap()).collect()
}

fn run<T>(future: impl Future<Output = T>) -> T {
    // Without timers, and with one thread: whoever blocks it blocks the one that is waited for.
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

#[test]
fn who_waits_leaves_the_executor_to_the_one_that_is_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    for storage in storages(dir.path()) {
        run(async {
            let a = key("sessions/b/a.jsonl");
            storage.append_once(&a, "one\n".into()).await.unwrap();
            let claim = || AppendOptions::exclusive("an agent");
            let told = Arc::new(Notify::new());
            let telling = Arc::clone(&told);
            let waiting = WaitingStorage::new(Arc::clone(&storage), Duration::MAX);
            let waiting = waiting.telling(move |error| {
                assert!(error.to_string().contains("is in use by an agent"), "{error}");
                telling.notify_one();
            });
            let held = storage.open_append(&a, claim()).await.unwrap();
            let release = async {
                told.notified().await;
                held.close().await.unwrap();
            };
            let (claimed, ()) = tokio::join!(waiting.open_append(&a, claim()), release);
            drop(claimed.unwrap());

            let held = storage.open_append(&a, claim()).await.unwrap();
            let release = async {
                told.notified().await;
                drop(held);
            };
            let put = waiting.put(&a, "two\n".into(), PutOptions::default());
            tokio::join!(put, release).0.unwrap();

            let held = storage.open_append(&a, claim()).await.unwrap();
            let release = async {
                told.notified().await;
                drop(held);
            };
            let to = key("sessions/b/b.jsonl");
            let moved = waiting.rename(&a, &to, RenameOptions::default());
            tokio::join!(moved, release).0.unwrap();
            assert_eq!(storage.read_all(&to).await.unwrap().1, "two\n");
            let held = storage.open_append(&to, claim()).await.unwrap();
            let release = async {
                told.notified().await;
                drop(held);
            };
            tokio::join!(waiting.remove(&to), release).0.unwrap();
            storage.drain(Durability::Accepted).await.unwrap();
        });
    }
}

#[test]
fn time_that_is_up_and_a_wait_that_is_dropped_change_nothing() {
    let dir = tempfile::tempdir().unwrap();
    for storage in storages(dir.path()) {
        run(async {
            let new = NewSession::in_cwd("/w");
            let options = || SessionOptions::default().owner("an agent").eager();
            let mut holder =
                SessionManager::create(Arc::clone(&storage), new, options()).await.unwrap();
            let session = holder.key().clone();
            let before = storage.read_all(&session).await.unwrap();
            let open = |wait| {
                let options = SessionOptions::default().wait(wait);
                SessionManager::open(Arc::clone(&storage), session.clone(), "/w", options)
            };
            let error = open(Duration::from_millis(30)).await.unwrap_err();
            let SessionError::Storage(StorageError::Busy { holder: named, .. }) = &error else {
                panic!("{error:?}")
            };
            assert_eq!(named.owner.as_deref(), Some("an agent"));
            {
                let mut dropped = Box::pin(open(Duration::MAX));
                let once = std::future::poll_fn(|cx| {
                    std::task::Poll::Ready(dropped.as_mut().poll(cx).is_pending())
                });
                assert!(once.await);
            }
            assert_eq!(storage.read_all(&session).await.unwrap(), before);
            holder.ensure_on_disk().await.unwrap();
            holder.close().await.unwrap();
            let mut opened = open(Duration::ZERO).await.unwrap();
            opened.append_custom_entry("x", None).await.unwrap();
            opened.close().await.unwrap();

            let gone = key("sessions/b/gone.jsonl");
            let missing = SessionManager::open_existing(
                Arc::clone(&storage),
                gone.clone(),
                "/w",
                SessionOptions::default().wait(Duration::MAX),
            );
            assert!(matches!(missing.await, Err(SessionError::NotFound { key }) if key == gone));
            let head = storage.head(&gone).await.unwrap_err();
            assert_eq!(head.kind(), StorageErrorKind::NotFound);
        });
    }
}
