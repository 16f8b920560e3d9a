//! Bundles are what was packed to the byte, or refused.

use std::sync::Arc;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use session_model::Blob;
use session_model::storage::{SessionStorage, SessionStorageExt};
use session_store_memory::MemoryStorage;
use tar::{Builder, EntryType, Header};

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
    Bundle::gather(&[source(storage, KEY)], |_, _| {}).await.unwrap()
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
    let bundle = Bundle::gather(&sources, |_, _| {}).await.unwrap();
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
    let bundle = Bundle::gather(std::slice::from_ref(&loose), |_, _| {}).await.unwrap();
    assert_eq!(bundle.sessions()[0].key, key("sessions/--w-app--/loose.jsonl"));
    loose.bucket = Some("-app".to_owned());
    let bundle = Bundle::gather(&[loose], |_, _| {}).await.unwrap();
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

/// A bundle made by hand: files with their kind, name and content, and what links lead to.
fn forged(files: &[(EntryType, &str, &[u8])]) -> Vec<u8> {
    let mut tar = Builder::new(GzEncoder::new(Vec::new(), Compression::default()));
    for (kind, name, content) in files {
        let mut header = Header::new_gnu();
        header.set_entry_type(*kind);
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        let is_link = matches!(kind, EntryType::Symlink | EntryType::Link);
        let body: &[u8] = if is_link { b"" } else { content };
        if is_link {
            header.set_link_name_literal(content).unwrap();
        }
        header.set_size(body.len() as u64);
        header.set_mode(0o777);
        header.set_cksum();
        tar.append(&header, body).unwrap();
    }
    tar.into_inner().unwrap().finish().unwrap()
}

/// A manifest of a session and one more file.
fn listing(name: &str, content: &[u8]) -> Vec<u8> {
    let session = b"{\"type\":\"session\",\"id\":\"s\"}\n";
    let member = |name: &str, bytes: &[u8]| {
        let digest = super::manifest::digest(bytes);
        format!("{{\"key\":\"{name}\",\"bytes\":{},\"sha256\":\"{digest}\"}}", bytes.len())
    };
    let mut members = [(KEY, member(KEY, session)), (name, member(name, content))];
    members.sort();
    let members: Vec<_> = members.into_iter().map(|(_, member)| member).collect();
    format!(
        "{{\"format\":\"session-bundle\",\"version\":1,\"redacted\":false,\"sessions\":[{{\"key\":\"{KEY}\",\"id\":\"s\"}}],\"members\":[{}]}}\n",
        members.join(",")
    )
    .into_bytes()
}

fn refusal(bytes: &[u8]) -> String {
    read(bytes).unwrap_err().to_string()
}

#[test]
fn names_outside_of_sessions_are_refused() {
    for name in [
        "../evil",
        "/etc/passwd",
        "sessions/../../evil",
        "sessions/--w--/other.jsonl",
        "history.db",
        "sessions/--w--/2026-03-01T09-00-00-000Z_s1/../x",
        "blobs/short",
        "sessions",
        "sessions/--w--/2026-03-01T09-00-00-000Z_s1x/0.log",
        "blobs/../x",
        "a\\\\b",
        "",
        "blobs/0000000000000000000000000000000000000000000000000000000000000000",
    ] {
        let manifest = listing(name, b"x");
        let refused = refusal(&forged(&[(EntryType::Regular, "manifest.json", &manifest)]));
        assert!(
            refused.ends_with("which is no place of a session; it was not made by `pack`"),
            "{name}: {refused}"
        );
    }
}

#[test]
fn links_duplicates_and_what_is_not_listed_are_refused() {
    let session = b"{\"type\":\"session\",\"id\":\"s\"}\n";
    let artifact = "sessions/--w--/2026-03-01T09-00-00-000Z_s1/0.log";
    let manifest = listing(artifact, b"x");
    let digest = format!("{}\n", super::manifest::digest(&manifest));
    let good = [
        (EntryType::Regular, "manifest.json", &manifest[..]),
        (EntryType::Regular, KEY, &session[..]),
        (EntryType::Regular, artifact, b"x"),
        (EntryType::Regular, "manifest.sha256", digest.as_bytes()),
    ];
    // The key of the session sorts behind those of its artifacts: `/` comes after `.`.
    let mut order = good;
    order[1..3].sort_by_key(|(_, name, _)| *name);
    let good = order;
    assert_eq!(read(&forged(&good)).unwrap().members().len(), 2);

    let changed = |at: usize, file: (EntryType, &'static str, &'static [u8])| {
        let mut files = good.to_vec();
        files[at] = file;
        refusal(&forged(&files))
    };
    for kind in [
        EntryType::Symlink,
        EntryType::Link,
        EntryType::Directory,
        EntryType::Fifo,
        EntryType::Char,
    ] {
        let refused = changed(2, (kind, "x", b"/etc/passwd"));
        assert!(refused.starts_with("the bundle is damaged"), "{kind:?}: {refused}");
    }
    let twice: Vec<_> = good[..3].iter().chain(&good[1..]).copied().collect();
    let more: Vec<_> = good.iter().copied().chain([(EntryType::Regular, "x", &b"x"[..])]).collect();
    let less: Vec<_> = good[..2].iter().chain(&good[3..]).copied().collect();
    for files in [twice, more, less, good[..3].to_vec()] {
        assert!(refusal(&forged(&files)).starts_with("the bundle is damaged"));
    }
    assert!(changed(3, (EntryType::Regular, "manifest.sha256", b"0")).contains("damaged"));
    assert_eq!(refusal(b"PK\x03\x04"), "this is no bundle of sessions");
    assert_eq!(
        refusal(&forged(&[(EntryType::Regular, "x", b"{}")])),
        "this is no bundle of sessions"
    );
    let newer = br#"{"format":"session-bundle","version":2}"#;
    let newer = refusal(&forged(&[(EntryType::Regular, "manifest.json", newer)]));
    assert_eq!(newer, "this bundle is of version 2; this program reads up to 1");
}

#[tokio::test]
async fn bombs_are_refused_before_they_are_read() {
    let storage = Arc::new(MemoryStorage::new());
    let header = "{\"type\":\"session\",\"id\":\"s\",\"cwd\":\"/w\"}\n";
    put(&storage, KEY, format!("{header}{}", " ".repeat(24 << 20))).await;
    let bytes = gathered(&storage).await.to_bytes().unwrap();
    assert!(bytes.len() < 64 << 10);
    assert!(read(&bytes).is_ok(), "the first megabytes are free");
    let tight = BundleLimits { max_ratio: 1, ..BundleLimits::default() };
    for limits in [tight, BundleLimits::default().max_bytes(1 << 20)] {
        let refused = Bundle::from_bytes(&bytes, &limits).unwrap_err();
        assert!(matches!(refused, BundleError::TooLarge { .. }), "{refused}");
    }
    let manifest = vec![b' '; 80 << 20];
    let refused = refusal(&forged(&[(EntryType::Regular, "manifest.json", &manifest)]));
    assert_eq!(refused, "this is no bundle of sessions");
}

#[cfg(feature = "export")]
#[tokio::test]
async fn a_redacted_bundle_leaks_no_secret() {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use session_model::json::RawJson;

    for (kind, text, secret) in crate::redact::tests::texts() {
        let storage = Arc::new(MemoryStorage::new());
        let said = RawJson::string(&text);
        let base64 = STANDARD.encode(format!("note: {text}\n"));
        let log = Blob::new(format!("log\n{text}\n{base64}\n"));
        BlobStore::new(storage.clone()).unwrap().put(&log).await.unwrap();
        let header =
            format!("{{\"type\":\"session\",\"id\":\"s\",\"cwd\":\"/w\",\"title\":{said}}}\n");
        let line =
            format!("{{\"type\":\"custom\",\"id\":\"a\",\"data\":[{said},\"{}\"]}}\n", log.id());
        put(&storage, KEY, format!("{header}{line}damaged {said}\n")).await;
        let folder = KEY.strip_suffix(".jsonl").unwrap();
        put(&storage, &format!("{folder}/0.bash.log"), format!("{text}\n{base64}")).await;
        put(&storage, &format!("{folder}/Child.jsonl"), format!("{header}{line}")).await;
        put(&storage, &format!("{folder}/1.bin.log"), &b"\xff\x00binary"[..]).await;
        let (bundle, report) = gathered(&storage).await.redacted().unwrap();
        assert!(report.kinds().any(|(hidden, _)| hidden == kind), "{kind}");
        let escaped = RawJson::string(&secret).as_str().trim_matches('"').to_owned();
        let manifest = super::manifest::write(&bundle);
        let files = bundle.members().values().map(|bytes| String::from_utf8_lossy(bytes));
        for file in files.chain([manifest.into()]) {
            let leak = [&secret, &escaped, &base64].into_iter().find(|s| file.contains(s.as_str()));
            assert_eq!(leak, None, "{kind} in {file}");
        }
        let read = read(&bundle.to_bytes().unwrap()).unwrap();
        assert!(read.is_redacted());
        let session = read.members()[&key(KEY)].clone();
        let named: Vec<_> = super::references::blobs_in(&session).collect();
        assert_eq!(named.len(), 1);
        assert_ne!(named[0], log.id());
        assert!(read.members().contains_key(&key(&format!("blobs/{}", named[0].to_hex()))));
    }
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
            if let Ok(key) = StorageKey::new(format!("{folder}/{name}")) {
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
