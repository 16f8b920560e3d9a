//! Sessions of pi, omp, xcsh and openclaw, which need no import.

use std::fs;
use std::sync::Arc;

use session_context::listing::{ListingOptions, Place, SessionCatalog};
use session_context::{SessionManager, SessionOptions};
use session_model::DiagnosticCode;
use session_model::message::Message;
use session_model::storage::{SessionStorageExt, StorageKey};
use session_store_memory::MemoryStorage;

use crate::support::more_sources;

/// A session of pi before it had versions.
const PI_1: &str = r#"{"type":"session","id":"p1","timestamp":"2025-11-20T10:00:00.000Z","cwd":"/w","provider":"google","modelId":"gemini-3","thinkingLevel":"off"}
{"type":"message","timestamp":"2025-11-20T10:00:01.000Z","message":{"role":"user","content":[{"type":"text","text":"hi"}],"timestamp":1763632801000}}
{"type":"message","timestamp":"2025-11-20T10:00:02.000Z","message":{"role":"assistant","content":[{"type":"text","text":"Hello."}],"provider":"google","model":"gemini-3","stopReason":"stop","timestamp":1763632802000}}
{"type":"compaction","timestamp":"2025-11-20T10:00:03.000Z","summary":"They greeted.","firstKeptEntryIndex":2,"tokensBefore":9}
"#;

/// A session of pi as it is now: the model in two fields, a hook's compaction, a name.
const PI_3: &str = r#"{"type":"session","version":3,"id":"p3","timestamp":"2026-05-01T10:00:00.000Z","cwd":"/w"}
{"type":"session_info","id":"00000001","parentId":null,"timestamp":"2026-05-01T10:00:00.100Z","name":"Greetings"}
{"type":"model_change","id":"00000002","parentId":"00000001","timestamp":"2026-05-01T10:00:00.200Z","provider":"fireworks","modelId":"accounts/fireworks/glm-5"}
{"type":"message","id":"00000003","parentId":"00000002","timestamp":"2026-05-01T10:00:01.000Z","message":{"role":"user","content":[{"type":"text","text":"hi"}],"timestamp":1777629601000}}
{"type":"compaction","id":"00000004","parentId":"00000003","timestamp":"2026-05-01T10:00:02.000Z","summary":"They greeted.","firstKeptEntryId":"00000003","tokensBefore":9,"details":{"readFiles":[],"modifiedFiles":[]},"fromHook":true}
"#;

/// A session of omp: a title slot, a pinned credential, a reset.
const OMP: &str = r#"{"type":"session","version":3,"id":"o1","timestamp":"2026-05-01T10:00:00.000Z","cwd":"/w","title":"Old"}
{"type":"message","id":"00000001","parentId":null,"timestamp":"2026-05-01T10:00:01.000Z","message":{"role":"user","content":"before"}}
{"type":"credential_pin","id":"00000002","parentId":"00000001","timestamp":"2026-05-01T10:00:01.500Z","provider":"anthropic","hash":"abc"}
{"type":"reset_boundary","id":"00000003","parentId":"00000002","timestamp":"2026-05-01T10:00:02.000Z"}
{"type":"message","id":"00000004","parentId":"00000003","timestamp":"2026-05-01T10:00:03.000Z","message":{"role":"user","content":"after"}}
"#;

/// A session of xcsh: a tier in one word, a level that is null, a prompt in one string.
const XCSH: &str = r#"{"type":"session","version":3,"id":"x1","timestamp":"2026-05-01T10:00:00.000Z","cwd":"/w","providerPromptCacheKey":"k"}
{"type":"session_init","id":"00000001","parentId":null,"timestamp":"2026-05-01T10:00:00.100Z","systemPrompt":"Be brief.","task":"t","tools":["bash"]}
{"type":"service_tier_change","id":"00000002","parentId":"00000001","timestamp":"2026-05-01T10:00:00.200Z","serviceTier":"priority"}
{"type":"thinking_level_change","id":"00000003","parentId":"00000002","timestamp":"2026-05-01T10:00:00.300Z","thinkingLevel":null}
{"type":"message","id":"00000004","parentId":"00000003","timestamp":"2026-05-01T10:00:01.000Z","message":{"role":"user","content":"hi"}}
"#;

/// A session of openclaw: its own entries, and an answer of its gateway.
const OPENCLAW: &str = r#"{"type":"session","version":3,"id":"c1","timestamp":"2026-05-01T10:00:00.000Z","cwd":"/w"}
{"type":"custom","customType":"model-snapshot","data":{"timestamp":1777629600000,"provider":"openai","modelApi":"openai-responses","modelId":"gpt-5"},"id":"00000001","parentId":null,"timestamp":"2026-05-01T10:00:00.100Z"}
{"type":"message","id":"00000002","parentId":"00000001","timestamp":"2026-05-01T10:00:01.000Z","message":{"role":"user","content":[{"type":"text","text":"hi"}]}}
{"type":"message","id":"00000003","parentId":"00000002","timestamp":"2026-05-01T10:00:02.000Z","message":{"role":"assistant","provider":"openclaw","model":"gateway-injected","content":[{"type":"text","text":"One moment."}],"stopReason":"stop"}}
{"type":"custom","customType":"openclaw.cache-ttl","data":{"timestamp":1777629602000,"provider":"openai","modelId":"gpt-5"},"id":"00000004","parentId":"00000003","timestamp":"2026-05-01T10:00:02.100Z"}
"#;

async fn opened(file: &str) -> (Arc<MemoryStorage>, StorageKey, SessionManager) {
    let storage = Arc::new(MemoryStorage::new());
    let key = StorageKey::new("sessions/--w--/s.jsonl").unwrap();
    storage.append_once(&key, file.to_owned().into()).await.unwrap();
    let options = SessionOptions::default();
    let session = SessionManager::open(storage.clone(), key.clone(), "/w", options).await.unwrap();
    (storage, key, session)
}

async fn content(storage: &MemoryStorage, key: &StorageKey) -> String {
    String::from_utf8(storage.read_all(key).await.unwrap().1.to_vec()).unwrap()
}

fn said(session: &SessionManager) -> Vec<String> {
    let context = session.build_session_context();
    let texts = context.messages.iter().map(|message| match message.message() {
        Message::CompactionSummary(summary) => format!("summary: {}", summary.summary),
        other => {
            let text = other.content().map(|content| content.text().into_owned());
            format!("{}: {}", other.role(), text.unwrap_or_default())
        }
    });
    texts.collect()
}

#[test]
fn sessions_of_pi_before_versions_are_brought_up_to_date() {
    pollster::block_on(async {
        let (storage, key, session) = opened(PI_1).await;
        let codes: Vec<_> = session.diagnostics().iter().map(|d| d.code).collect();
        assert_eq!(codes, [DiagnosticCode::Migrated]);
        assert_eq!(said(&session), ["summary: They greeted.", "assistant: Hello."]);
        let file = content(&storage, &key).await;
        assert!(file.contains(r#""thinkingLevel":"off","version":3}"#), "{file}");
        assert!(!file.contains("firstKeptEntryIndex"), "{file}");
    });
}

#[test]
fn sessions_of_each_tool_open_and_go_on_with_every_byte_in_place() {
    pollster::block_on(async {
        let slot = session_model::TitleSlot {
            title: "New".into(),
            source: Some("user".into()),
            updated_at: "2026-05-01T10:00:04.000Z".into(),
        };
        let omp = String::from_utf8(slot.to_line()).unwrap() + OMP;
        let cases: [(&str, Option<&str>, &[&str]); 4] = [
            (PI_3, Some("Greetings"), &["summary: They greeted.", "user: hi"]),
            (&omp, Some("New"), &["user: after"]),
            (XCSH, None, &["user: hi"]),
            (OPENCLAW, None, &["user: hi", "assistant: One moment."]),
        ];
        for (file, title, context) in cases {
            let (storage, key, mut session) = opened(file).await;
            assert_eq!(session.diagnostics(), []);
            assert_eq!(
                (session.session_name().as_deref(), said(&session)),
                (title, context.iter().map(|s| (*s).to_owned()).collect())
            );
            session.append_message(Message::user("more", 1)).await.unwrap();
            session.close().await.unwrap();
            assert!(content(&storage, &key).await.starts_with(file));
        }
    });
}

#[test]
fn states_are_read_as_they_are_meant() {
    pollster::block_on(async {
        let (_, _, pi) = opened(PI_3).await;
        let models = pi.build_session_context().models;
        assert_eq!(models.default_model(), Some("fireworks/accounts/fireworks/glm-5"));
        let (_, _, xcsh) = opened(XCSH).await;
        assert_eq!(xcsh.build_session_context().thinking_level, "off");
        assert_eq!(xcsh.header().provider_prompt_cache_key().as_deref(), Some("k"));
    });
}

/// openclaw keeps copies of a session beside it, and renames what is deleted.
#[test]
fn copies_that_openclaw_makes_are_told_apart() {
    pollster::block_on(async {
        let (storage, _, session) = opened(OPENCLAW).await;
        session.close().await.unwrap();
        for name in ["s.checkpoint.0001.jsonl", "s.jsonl.deleted.2026-05-01T10-00-05.000Z"] {
            let key = StorageKey::new(format!("sessions/--w--/{name}")).unwrap();
            storage.append_once(&key, OPENCLAW.to_owned().into()).await.unwrap();
        }
        let place = Place::agent_dir(storage).unwrap();
        let catalog = SessionCatalog::new(vec![place]);
        let rows = catalog.list_all(ListingOptions::default()).await.unwrap();
        let mut rows: Vec<_> =
            rows.iter().map(|row| (row.key.file_name().to_owned(), row.id_is_shared)).collect();
        rows.sort();
        assert_eq!(rows, [("s.checkpoint.0001.jsonl".into(), true), ("s.jsonl".into(), true)]);
    });
}

/// Also those in `pi/` of more sources.
#[test]
fn reading_changes_no_byte() {
    pollster::block_on(async {
        let mut files = [PI_1, PI_3, OMP, XCSH, OPENCLAW].map(str::to_owned).to_vec();
        if let Some(folder) = more_sources() {
            let folder = fs::read_dir(folder.join("pi")).unwrap();
            files.extend(folder.map(|file| fs::read_to_string(file.unwrap().path()).unwrap()));
        }
        for before in files {
            let storage = Arc::new(MemoryStorage::new());
            let key = StorageKey::new("s.jsonl").unwrap();
            storage.append_once(&key, before.clone().into()).await.unwrap();
            let options = SessionOptions::default();
            let reading = SessionManager::open_read_only(storage.clone(), key.clone(), options);
            assert!(!said(&reading.await.unwrap()).is_empty());
            assert_eq!(content(&storage, &key).await, before);
        }
    });
}
