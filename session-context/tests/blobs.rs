//! Blobs: the store, images in sessions, faults, and cleaning up.
#![cfg(all(feature = "memory", feature = "file"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod support;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use proptest::prelude::*;
use session_context::blobs::{BlobError, BlobStore, GcOptions};
use session_context::{ContextOptions, LeafChoice, SessionManager};
use session_model::json::RawJson;
use session_model::message::{Content, ContentBlock, Message, UserMessage};
use session_model::persisted::{
    NOTICE, OversizePolicy, PersistOptions, blob_refs, encode_base64, restored,
};
use session_model::storage::{
    ListOptions, PutOptions, SessionStorage, SessionStorageExt, StorageErrorKind, StorageKey,
};
use session_model::{Blob, BlobRef, DiagnosticCode as Code, Entry};
use session_store_file::FileStorage;
use session_store_memory::{MemoryStorage, When};
use support::store::{HEADER, all, answer, codes, content, key, open, put, user};
use support::{block_on, options, shared};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn image(byte: u8) -> (Blob, Message) {
    let blob = Blob::new(vec![byte; 900]);
    let block = ContentBlock::image(encode_base64(blob.bytes()), "image/png");
    let content = Content::Blocks(vec![block]);
    (blob, Message::User(UserMessage { content, ..Default::default() }))
}

fn storage_key(text: &str) -> StorageKey {
    StorageKey::new(text).unwrap()
}

fn messages(session: &SessionManager) -> Vec<RawJson> {
    session.entries().iter().filter_map(Entry::message).collect()
}

#[test]
fn a_store_holds_what_was_put_and_mends_what_is_wrong() {
    let dir = tempfile::tempdir().unwrap();
    let stores: [Arc<dyn SessionStorage>; 2] =
        [Arc::new(MemoryStorage::new()), Arc::new(FileStorage::open(dir.path()).unwrap())];
    for storage in stores {
        block_on(async {
            let blobs = BlobStore::new(storage.clone()).unwrap();
            let blob = Blob::new("pixels");
            assert!(matches!(blobs.get(blob.id()).await, Err(BlobError::Missing { .. })));
            assert_eq!(blobs.head(blob.id()).await.unwrap(), None);
            blobs.put(&blob).await.unwrap();
            blobs.put(&blob).await.unwrap();
            assert_eq!(blobs.get(blob.id()).await.unwrap(), "pixels");
            assert_eq!(blobs.head(blob.id()).await.unwrap().map(|meta| meta.size), Some(6));
            let key = blobs.key(blob.id()).unwrap();
            assert_eq!(key.as_str(), format!("blobs/{}", blob.id().to_hex()));
            for wrong in ["pixelz", ""] {
                storage.put(&key, wrong.into(), PutOptions::default()).await.unwrap();
                assert!(matches!(blobs.get(blob.id()).await, Err(BlobError::Damaged { .. })));
                assert_eq!(blobs.verify_all().await.problems.len(), 1);
                blobs.put(&blob).await.unwrap();
                assert_eq!(blobs.get(blob.id()).await.unwrap(), "pixels");
            }
            let check = blobs.verify_all().await;
            assert_eq!((check.whole, check.problems.len()), (1, 0));
        });
    }
    private(&dir.path().join("blobs"), 0o700);
    private(&dir.path().join("blobs").join(BlobRef::of(b"pixels").to_hex()), 0o600);
}

fn private(path: &std::path::Path, want: u32) {
    use std::os::unix::fs::PermissionsExt;
    let mode = path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, want, "{}", path.display());
}

#[test]
fn images_are_written_as_references_and_come_back() {
    block_on(async {
        let storage = MemoryStorage::new();
        put(&storage, &format!("{HEADER}\n"));
        let (blob, message) = image(7);
        let mut session = open(&storage, options("")).await;
        session.append_message(message.clone()).await.unwrap();
        let whole = messages(&session);
        assert_eq!(whole, [message.to_json()], "memory keeps the whole value");
        session.close().await.unwrap();
        let file = content(&storage, &key()).unwrap();
        assert!(file.contains(&format!("\"data\":\"{}\"", blob.id())), "{file}");
        assert_eq!(
            BlobStore::new(shared(&storage)).unwrap().get(blob.id()).await.unwrap(),
            blob.bytes()
        );

        let session = open(&storage, options("x")).await;
        let entry = session.entries()[0].clone();
        assert_eq!(blob_refs(&entry.json()), [blob.id()], "references stay until asked for");
        let (resolved, found) = session.resolved(&entry).await;
        assert_eq!((resolved.message().unwrap(), found), (whole[0].clone(), vec![]));
        assert_eq!(resolved.line(), entry.line());
        let mut context = session.build_session_context();
        session.resolve_images(&mut context).await;
        assert_eq!(context.messages[0].json(), &whole[0]);
        session.close().await.unwrap();

        let mut session = open(&storage, options("y").resolve()).await;
        assert_eq!(messages(&session), whole);
        session.set_session_name("named", session_context::NameSource::User).await.unwrap();
        session.close().await.unwrap();
        let again = content(&storage, &key()).unwrap();
        assert_eq!(again.lines().nth(1), file.lines().nth(1), "what was resolved is not written");
    });
}

#[test]
fn a_missing_or_damaged_blob_leaves_the_reference_and_is_reported() {
    block_on(async {
        let storage = MemoryStorage::new();
        put(&storage, &format!("{HEADER}\n"));
        let (blob, message) = image(7);
        let mut session = open(&storage, options("")).await;
        let id = session.append_message(message).await.unwrap();
        session.close().await.unwrap();
        let blob_key = storage_key(&format!("blobs/{}", blob.id().to_hex()));
        for (bytes, code) in [(Some("other".into()), Code::DamagedBlob), (None, Code::MissingBlob)]
        {
            storage.faults().overwrite(&blob_key, bytes).unwrap();
            let session = open(&storage, options("x").resolve()).await;
            assert_eq!(codes(&session), [code]);
            assert_eq!(session.diagnostics()[0].entry.as_deref(), Some(&*id));
            assert_eq!(blob_refs(&session.entries()[0].json()), [blob.id()]);
            let mut options = ContextOptions::default();
            options.safety.note_missing_images = true;
            let context = session.session_context(LeafChoice::Current, &options);
            let text = context.messages[0].json().to_string();
            assert!(text.contains("[image/png left out: it is no longer stored]"), "{text}");
            session.close().await.unwrap();
        }
    });
}

#[test]
fn an_unwritten_session_writes_its_blobs_with_its_file() {
    block_on(async {
        let storage = MemoryStorage::new();
        let new = session_context::NewSession::in_cwd("/w");
        let mut session = SessionManager::create(shared(&storage), new, options("")).await.unwrap();
        let (blob, message) = image(1);
        session.append_message(message).await.unwrap();
        assert_eq!(all(&storage), []);
        session.append_message(answer("seen")).await.unwrap();
        let blobs = session.blobs().unwrap();
        assert_eq!(blobs.get(blob.id()).await.unwrap(), blob.bytes());
        session.close().await.unwrap();
    });
}

#[test]
fn whole_values_stay_in_memory_when_another_program_appends() {
    block_on(async {
        let storage = MemoryStorage::new();
        put(&storage, &format!("{HEADER}\n"));
        let mut session = open(&storage, options("")).await;
        let (_, message) = image(3);
        session.append_message(message.clone()).await.unwrap();
        let theirs = r#"{"type":"custom","customType":"x","id":"z","parentId":null}"#;
        let file = content(&storage, &key()).unwrap() + theirs + "\n";
        storage.faults().overwrite(&key(), Some(file.into())).unwrap();
        session.append_message(user("more")).await.unwrap();
        assert_eq!(messages(&session), [message.to_json(), user("more").to_json()]);
        assert!(session.entry("z").is_some());
        session.close().await.unwrap();
    });
}

#[test]
fn a_cut_text_names_its_whole_and_comes_back() {
    block_on(async {
        let storage = MemoryStorage::new();
        put(&storage, &format!("{HEADER}\n"));
        let persist = PersistOptions::default().oversize(OversizePolicy::Blob);
        let mut session = open(&storage, options("").persist(persist)).await;
        let text = "é\"😀".repeat(200_000);
        session.append_message(user(&text)).await.unwrap();
        let whole = messages(&session);
        session.close().await.unwrap();
        let session = open(&storage, options("x")).await;
        let cut = messages(&session)[0].field("content").unwrap();
        let cut = cut.as_text().unwrap().into_owned();
        assert!(cut.ends_with(&format!("]{NOTICE}")));
        assert!((499_999..=500_000).contains(&cut.encode_utf16().count()));
        session.close().await.unwrap();
        let session = open(&storage, options("y").resolve()).await;
        assert_eq!(messages(&session), whole);
        session.close().await.unwrap();
    });
}

/// Whatever call fails, no line names a blob that is not there whole, and saving again makes it
/// good.
#[test]
fn no_line_ever_names_a_blob_that_is_not_there() {
    for when in [When::Before, When::After] {
        for nth in 0.. {
            let fired = block_on(async {
                let storage = MemoryStorage::new();
                put(&storage, &format!("{HEADER}\n"));
                let mut session = open(&storage, options("")).await;
                let faults = storage.faults();
                faults.fail_at(nth, when, StorageErrorKind::Full);
                let mut failed = false;
                for byte in [1, 2, 1] {
                    failed |= session.append_message(image(byte).1).await.is_err();
                    check_references(&storage);
                }
                failed |= session.flush().await.is_err();
                check_references(&storage);
                let fired = faults.fired();
                faults.clear();
                assert_eq!(failed, fired && session.persistence_error().is_some());
                session.save_again().await.unwrap();
                session.flush().await.unwrap();
                let whole = messages(&session);
                session.close().await.unwrap();
                let session = open(&storage, options("x").resolve()).await;
                assert_eq!(messages(&session), whole);
                session.close().await.unwrap();
                fired
            });
            if !fired {
                assert!(nth > 5, "the sweep saw no fault");
                break;
            }
        }
    }
}

fn check_references(storage: &MemoryStorage) {
    let image = storage.restarted();
    let blobs = BlobStore::new(shared(&image)).unwrap();
    for line in content(&image, &key()).unwrap().lines().skip(1) {
        for id in blob_refs(&RawJson::parse(line.to_owned()).unwrap()) {
            block_on(blobs.get(id)).unwrap();
        }
    }
}

fn later(days: u32) -> GcOptions {
    GcOptions::default().now(SystemTime::now() + days * DAY)
}

#[test]
fn only_old_blobs_that_nothing_refers_to_are_moved_away() {
    let dir = tempfile::tempdir().unwrap();
    let files = Arc::new(FileStorage::open(dir.path()).unwrap());
    for storage in [shared(&MemoryStorage::new()), files] {
        clean_up(storage);
    }
}

fn clean_up(storage: Arc<dyn SessionStorage>) {
    block_on(async {
        let elsewhere = MemoryStorage::new();
        let blobs = BlobStore::new(storage.clone()).unwrap();
        let places = [
            "sessions/damaged-line.jsonl",
            "sessions/a.jsonl.torn-1",
            "trash/s.jsonl",
            "trash/doctor-1/a.damaged-1",
            "sessions/a/0.log",
            "notes.txt",
        ];
        let mut used = BTreeSet::new();
        for place in places {
            let blob = Blob::new(place);
            blobs.put(&blob).await.unwrap();
            let text = format!("{HEADER}\n\0 {{\"data\":\"{}\"", blob.id());
            storage.put(&storage_key(place), text.into(), PutOptions::default()).await.unwrap();
            used.insert(blob.id());
        }
        let (far, unused) = (Blob::new("elsewhere"), Blob::new("unused"));
        for blob in [&far, &unused] {
            blobs.put(blob).await.unwrap();
        }
        let text = format!("{}", far.id());
        elsewhere.put(&key(), text.into(), PutOptions::default()).await.unwrap();

        let young = blobs.gc_plan(&GcOptions::default().grace(Duration::ZERO), |_, _| {}).await;
        assert_eq!((young.unused.len(), young.young, young.used), (0, 2, 6));
        let plan = blobs.gc_plan(&later(8).also(shared(&elsewhere)), |_, _| {}).await;
        let found: Vec<_> = plan.unused.iter().map(|unused| unused.id).collect();
        assert_eq!((found, plan.used), (vec![unused.id()], 7));
        assert_eq!(blobs.get(unused.id()).await.unwrap(), "unused", "a plan changes nothing");

        let outcome = blobs.gc_apply(&plan).await;
        let [(id, to)] = &outcome.moved[..] else { panic!("{outcome:?}") };
        assert_eq!(*id, unused.id());
        assert_eq!(storage.read_all(to).await.unwrap().1, "unused");
        assert!(to.as_str().starts_with("trash/blobs/"));
        assert!(matches!(blobs.get(unused.id()).await, Err(BlobError::Missing { .. })));
        for id in used.iter().chain([&far.id()]) {
            blobs.get(*id).await.unwrap();
        }
    });
}

#[test]
fn what_a_live_writer_refers_to_stays() {
    let dir = tempfile::tempdir().unwrap();
    let storage: Arc<dyn SessionStorage> = Arc::new(FileStorage::open(dir.path()).unwrap());
    block_on(async {
        let blobs = BlobStore::new(storage.clone()).unwrap();
        let ((written, first), (coming, second)) = (image(1), image(2));
        blobs.put(&coming).await.unwrap();
        let options = options("").blobs(blobs.clone());
        let open = SessionManager::open(storage.clone(), key(), "/w", options);
        let mut session = open.await.unwrap();
        session.append_message(first).await.unwrap();
        session.append_message(answer("seen")).await.unwrap();
        let plan = blobs.gc_plan(&later(8), |_, _| {}).await;
        let unused: Vec<_> = plan.unused.iter().map(|unused| unused.id).collect();
        assert_eq!((unused, plan.used), (vec![coming.id()], 1));
        session.append_message(second).await.unwrap();
        let outcome = blobs.gc_apply(&plan).await;
        assert_eq!((outcome.moved, outcome.kept), (vec![], vec![coming.id()]));
        for blob in [written, coming] {
            assert_eq!(blobs.get(blob.id()).await.unwrap(), blob.bytes());
        }
    });
}

#[test]
fn what_is_put_again_after_the_plan_stays() {
    block_on(async {
        let storage = MemoryStorage::new();
        let blobs = BlobStore::new(shared(&storage)).unwrap();
        let blob = Blob::new("again");
        blobs.put(&blob).await.unwrap();
        let plan = blobs.gc_plan(&later(8), |_, _| {}).await;
        assert_eq!(plan.unused.len(), 1);
        blobs.put(&blob).await.unwrap();
        let outcome = blobs.gc_apply(&plan).await;
        assert_eq!((outcome.moved, outcome.kept), (vec![], vec![blob.id()]));
        assert_eq!(blobs.get(blob.id()).await.unwrap(), "again");
    });
}

#[test]
fn nothing_is_moved_while_anything_cannot_be_read() {
    block_on(async {
        let storage = MemoryStorage::new();
        put(&storage, &format!("{HEADER}\n"));
        let blobs = BlobStore::new(shared(&storage)).unwrap();
        blobs.put(&Blob::new("unused")).await.unwrap();
        for nth in 0.. {
            let before = all(&storage);
            storage.faults().fail_at(nth, When::Before, StorageErrorKind::Denied);
            let plan = blobs.gc_plan(&later(8), |_, _| {}).await;
            let fired = storage.faults().fired();
            storage.faults().clear();
            assert_eq!(plan.is_complete(), !fired, "fault {nth}");
            if !fired {
                assert!(nth > 2);
                break;
            }
            let outcome = blobs.gc_apply(&plan).await;
            assert_eq!((outcome.moved, all(&storage)), (vec![], before));
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn gc_never_moves_what_is_mentioned(
        mentions in prop::collection::vec((0u8..12, any::<bool>(), "[ -~]{0,90}", 0usize..3), 0..10),
    ) {
        block_on(async {
            let storage = MemoryStorage::new();
            let blobs = BlobStore::new(shared(&storage)).unwrap();
            let every: Vec<_> = (0..12u8).map(|n| Blob::new(vec![n; 3])).collect();
            for blob in &every {
                blobs.put(blob).await.unwrap();
            }
            let mut files = vec![String::new(); 3];
            let mut used = BTreeSet::new();
            for (n, plain, text, file) in mentions {
                let id = every[usize::from(n)].id();
                used.insert(id);
                let hash = if plain { id.to_hex() } else { id.to_string() };
                files[file] += &format!("{text}{hash}");
            }
            for (n, file) in files.into_iter().enumerate() {
                let key = storage_key(&format!("sessions/{n}.jsonl"));
                storage.put(&key, file.into(), PutOptions::default()).await.unwrap();
            }
            let plan = blobs.gc_plan(&later(8), |_, _| {}).await;
            blobs.gc_apply(&plan).await;
            let (left, _) = storage
                .list_all(Some(&storage_key("blobs")), ListOptions::default())
                .await;
            let left = left.iter().map(|o| BlobRef::from_hex(o.key.file_name()).unwrap());
            prop_assert_eq!(left.collect::<BTreeSet<_>>(), used);
            Ok(())
        })?;
    }

    #[test]
    fn images_survive_writing_and_loading(
        images in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..2000), 0..4),
        text in "\\PC*",
        custom in any::<bool>(),
    ) {
        let mut blocks = vec![ContentBlock::text(&text).to_json()];
        blocks.extend(images.iter().map(|i| ContentBlock::image(encode_base64(i), "image/png").to_json()));
        let content = RawJson::array(&blocks);
        let entry = if custom {
            format!(r#"{{"type":"custom_message","customType":"c","id":"a","content":{content}}}"#)
        } else {
            format!(r#"{{"type":"message","id":"a","message":{{"role":"user","content":{content}}}}}"#)
        };
        let json = RawJson::parse(entry).unwrap();
        let entry = Entry::with_persisted_form(&json, &PersistOptions::default()).unwrap();
        let large: Vec<_> = images.iter().filter(|i| i.len().div_ceil(3) * 4 >= 1024).collect();
        let blobs = entry.blobs();
        prop_assert_eq!(blobs.iter().map(|b| &b.bytes()[..]).collect::<Vec<_>>(), large);
        let line = RawJson::parse(entry.line().slice(..entry.line().len() - 1)).unwrap();
        let back = restored(&line, |id| {
            blobs.iter().find(|blob| blob.id() == id).map(|blob| blob.bytes().clone())
        });
        prop_assert_eq!(back.unwrap_or(line), json);
    }
}
