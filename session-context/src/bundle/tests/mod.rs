//! Bundles are what was packed to the byte, or refused.

mod hostile;
mod limits;
#[cfg(feature = "export")]
mod redacted;

use std::sync::Arc;

use proptest::prelude::*;
use session_model::Blob;
use session_model::storage::{SessionStorage, SessionStorageExt};
use session_store_memory::MemoryStorage;

use super::*;
use crate::blobs::BlobStore;

const KEY: &str = "sessions/--w--/2026-03-01T09-00-00-000Z_s1.jsonl";

fn key(key: &str) -> StorageKey {
    StorageKey::new(key).unwrap()
}

async fn put(storage: &MemoryStorage, name: &str, bytes: impl Into<Bytes>) {
    storage.put(&key(name), bytes.into().into(), Default::default()).await.unwrap();
}

/// A storage with a session, its artifacts, a child session, and blobs, one of them missing.
async fn filled() -> (Arc<MemoryStorage>, Blob) {
    let storage = Arc::new(MemoryStorage::new());
    let (image, log) = (Blob::new(&b"\x89PNG pixels"[..]), Blob::new("a long log"));
    let missing = "0".repeat(64);
    let line = |data: &str| {
        format!("{{\"type\":\"custom\",\"id\":\"a\",\"parentId\":null,\"data\":\"{data}\"}}\n")
    };
    let session = format!(
        "{{\"type\":\"session\",\"version\":3,\"id\":\"s1\",\"cwd\":\"/w\",\"title\":\"One\"}}\n{}not json\n{}",
        line(&image.id().to_string()),
        line(&format!("blob:sha256:{missing}"))
    );
    put(&storage, KEY, session).await;
    let folder = KEY.strip_suffix(".jsonl").unwrap();
    put(&storage, &format!("{folder}/0.bash.log"), "output").await;
    let child = format!("{{\"type\":\"session\",\"id\":\"c\"}}\n{}", line(&log.id().to_string()));
    put(&storage, &format!("{folder}/Child.jsonl"), child).await;
    put(&storage, &format!("{folder}/Child/0.read.log"), "deep").await;
    put(&storage, "sessions/--w--/other.jsonl", "{\"type\":\"session\",\"id\":\"o\"}\n").await;
    let blobs = BlobStore::new(storage.clone()).unwrap();
    for blob in [&image, &log, &Blob::new("of nobody")] {
        blobs.put(blob).await.unwrap();
    }
    (storage, log)
}

fn source(storage: &Arc<MemoryStorage>, name: &str) -> BundleSource {
    let storage: Arc<dyn SessionStorage> = storage.clone();
    let blobs = BlobStore::new(storage.clone()).unwrap();
    BundleSource { storage, key: key(name), blobs, bucket: None }
}

async fn gathered(storage: &Arc<MemoryStorage>) -> Bundle {
    Bundle::gather(&[source(storage, KEY)], &BundleLimits::default(), |_, _| {}).await.unwrap()
}

fn read(bytes: &[u8]) -> Result<Bundle, BundleError> {
    Bundle::from_bytes(bytes, &BundleLimits::default())
}

/// Everything in a storage.
async fn all(storage: &MemoryStorage) -> Vec<(String, Bytes)> {
    let (found, errors) = storage.list_all(None, Default::default()).await;
    assert!(errors.is_empty());
    let mut all = Vec::new();
    for meta in found.into_iter().filter(|meta| !meta.key.as_str().ends_with(".lock")) {
        let bytes = storage.read_all(&meta.key).await.unwrap().1;
        all.push((meta.key.to_string(), bytes));
    }
    all
}

#[tokio::test]
async fn a_session_travels_with_all_that_is_its_own() {
    let (from, _) = filled().await;
    let bundle = gathered(&from).await;
    assert_eq!(
        bundle.missing_blobs().iter().map(|b| b.to_hex()).collect::<Vec<_>>(),
        ["0".repeat(64)]
    );
    let bytes = bundle.to_bytes().unwrap();
    assert_eq!(bytes, gathered(&from).await.to_bytes().unwrap(), "the same bytes each time");
    let read = read(&bytes).unwrap();
    assert_eq!((&read.sessions, &read.members), (&bundle.sessions, &bundle.members));
    assert_eq!(read.digest(), bundle.digest());

    let to = Arc::new(MemoryStorage::new());
    let store: Arc<dyn SessionStorage> = to.clone();
    let installed = read.install(&store, |_, _| {}).await.unwrap();
    let new = read.sessions.clone();
    assert_eq!(installed, Installed { new, equal: vec![], artifacts: 3, blobs: 2 });
    let mut want = all(&from).await;
    want.retain(|(key, bytes)| !key.ends_with("other.jsonl") && bytes != "of nobody");
    assert_eq!(all(&to).await, want);

    let again = read.install(&store, |_, _| {}).await.unwrap();
    let equal = read.sessions.clone();
    assert_eq!(again, Installed { new: vec![], equal, artifacts: 0, blobs: 0 });
}

#[tokio::test]
async fn what_is_there_with_other_content_stops_all() {
    let (from, _) = filled().await;
    let sources = [source(&from, KEY), source(&from, "sessions/--w--/other.jsonl")];
    let bundle = Bundle::gather(&sources, &BundleLimits::default(), |_, _| {}).await.unwrap();
    let to = Arc::new(MemoryStorage::new());
    put(&to, "sessions/--w--/other.jsonl", "{\"type\":\"session\",\"id\":\"x\"}\n").await;
    let before = all(&to).await;
    let store: Arc<dyn SessionStorage> = to.clone();
    let error = bundle.install(&store, |_, _| {}).await.unwrap_err();
    let text = "one file is there already with other content; nothing was changed: ";
    assert_eq!(error.to_string(), format!("{text}sessions/--w--/other.jsonl"));
    assert_eq!(all(&to).await, before);
}

#[tokio::test]
async fn a_failure_midway_leaves_no_part_of_a_session() {
    use session_model::storage::StorageErrorKind;
    use session_store_memory::{Operation, When};

    let (from, _) = filled().await;
    let bundle = gathered(&from).await;
    // Two blobs, three artifacts, then the session.
    for puts in 0..6 {
        let to = Arc::new(MemoryStorage::new());
        to.faults().fail_nth(Operation::Put, puts, When::Before, StorageErrorKind::Full);
        let store: Arc<dyn SessionStorage> = to.clone();
        bundle.install(&store, |_, _| {}).await.unwrap_err();
        let left = all(&to).await;
        assert!(left.iter().all(|(key, _)| key.starts_with("blobs/")), "{puts}: {left:?}");
        to.faults().clear();
        bundle.install(&store, |_, _| {}).await.unwrap();
    }
}

#[tokio::test]
async fn a_session_from_elsewhere_gets_its_place() {
    let storage = Arc::new(MemoryStorage::new());
    put(&storage, "loose", "{\"type\":\"session\",\"id\":\"s\",\"cwd\":\"/w/app\"}\n").await;
    let mut loose = source(&storage, "loose");
    let bundle = Bundle::gather(std::slice::from_ref(&loose), &BundleLimits::default(), |_, _| {})
        .await
        .unwrap();
    assert_eq!(bundle.sessions()[0].key, key("sessions/--w-app--/loose.jsonl"));
    loose.bucket = Some("-app".to_owned());
    let bundle = Bundle::gather(&[loose], &BundleLimits::default(), |_, _| {}).await.unwrap();
    assert_eq!(bundle.sessions()[0].key, key("sessions/-app/loose.jsonl"));
}

#[tokio::test]
async fn every_cut_and_every_flipped_bit_is_noticed_or_harmless() {
    let (from, _) = filled().await;
    let bundle = gathered(&from).await;
    let bytes = bundle.to_bytes().unwrap();
    for end in 0..bytes.len() {
        assert!(read(&bytes[..end]).is_err(), "cut at {end}");
    }
    for bit in 0..bytes.len() * 8 {
        let mut bytes = bytes.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        if let Ok(read) = read(&bytes) {
            assert_eq!(
                (read.sessions, read.members),
                (bundle.sessions.clone(), bundle.members.clone())
            );
        }
    }
    assert!(read(&[&bytes[..], b"x"].concat()).is_err());
    assert!(read(&[&bytes[..], &bytes[..]].concat()).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_packed_is_unpacked(
        files in prop::collection::btree_map("[a-z]{1,8}(/[a-z0-9._-]{1,100}){0,2}", prop::collection::vec(any::<u8>(), 0..300), 0..6)
    ) {
        let folder = KEY.strip_suffix(".jsonl").unwrap();
        let mut bundle = Bundle::default();
        let session = BundledSession { key: key(KEY), id: "s".into(), title: None, cwd: Some("/w".into()) };
        bundle.sessions.push(session);
        bundle.members.insert(key(KEY), Bytes::from_static(b"{}\n"));
        for (name, bytes) in files {
            let Ok(key) = StorageKey::new(format!("{folder}/{name}")) else { continue };
            // What is a file is no folder.
            if !bundle.members.keys().any(|there| key.is_below(there) || there.is_below(&key)) {
                bundle.members.insert(key, bytes.into());
            }
        }
        prop_assert_eq!(read(&bundle.to_bytes().unwrap()).unwrap(), bundle);
    }

    #[test]
    fn any_bytes_are_taken(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let mut packed = vec![0x1f, 0x8b, 8, 0];
        packed.extend(bytes);
        prop_assert!(read(&packed).is_err());
    }
}
