//! Sessions whose secrets are not written.

use std::sync::Arc;

use pollster::block_on;
use session_context::redact::HideSecrets;
use session_context::{NameSource, NewSession, SessionManager, SessionOptions};
use session_model::json::RawJson;
use session_model::persisted::{OversizePolicy, PersistOptions};
use session_model::storage::{SessionStorage, SessionStorageExt, StorageKey};
use session_model::{Entry, EntryKind};
use session_store_memory::MemoryStorage;

const SECRET: &str = "sk-live-Zk4q0Rw2pXz9Qm4T7u1LbN8c";

struct World {
    storage: Arc<dyn SessionStorage>,
    session: SessionManager,
}

impl World {
    fn new() -> Self {
        let storage: Arc<dyn SessionStorage> = Arc::new(MemoryStorage::new());
        let persist = PersistOptions::default().oversize(OversizePolicy::Blob);
        let options = SessionOptions::default().eager().persist(persist);
        let options = options.filter(HideSecrets::new().unwrap());
        let new = NewSession::in_cwd("/w");
        let session = block_on(SessionManager::create(Arc::clone(&storage), new, options)).unwrap();
        Self { storage, session }
    }

    fn append(&mut self, message: &str) -> Entry {
        let message = RawJson::parse(message.to_owned()).unwrap();
        block_on(self.session.append_message_json(&message)).unwrap();
        self.session.entries().last().unwrap().clone()
    }

    /// Everything in the storage, as text.
    fn all(&self) -> String {
        let (metas, errors) = block_on(self.storage.list_all(None, Default::default()));
        assert!(errors.is_empty());
        let read = |key: &StorageKey| block_on(self.storage.read_all(key)).unwrap().1;
        let all: Vec<u8> = metas.iter().flat_map(|meta| read(&meta.key)).collect();
        String::from_utf8(all).unwrap()
    }
}

fn written(entry: &Entry) -> String {
    let line = std::str::from_utf8(entry.line()).unwrap();
    line.split_once(r#""message":"#).unwrap().1.trim_end().trim_end_matches('}').to_owned()
}

#[test]
fn what_a_tool_prints_is_written_without_its_secrets() {
    let mut world = World::new();
    let call = r#"{"role":"assistant","content":[{"type":"toolCall","id":"call_E","name":"bash","arguments":{"cmd":"cat .env"}}],"stopReason":"toolUse"}"#;
    world.append(call);
    let result = format!(
        r#"{{"role":"toolResult","toolCallId":"call_E","toolName":"bash","content":[{{"type":"text","text":"API_KEY={SECRET}\nPORT=80"}}],"isError":false}}"#
    );
    let entry = world.append(&result);
    assert_eq!(entry.message().unwrap().as_str(), result);
    let expected = r#"{"role":"toolResult","toolCallId":"call_E","toolName":"bash","content":[{"type":"text","text":"API_KEY=[redacted:openai-key]\nPORT=80"}],"isError":false"#;
    assert_eq!(written(&entry), expected);
    // What is known stays hidden where it stands alone.
    let question = format!(r#"{{"role":"user","content":"is {SECRET} right?"}}"#);
    let entry = world.append(&question);
    assert_eq!(written(&entry), r#"{"role":"user","content":"is [redacted:openai-key] right?""#);
    let context = world.session.build_session_context();
    let seen: Vec<_> = context.messages.iter().map(|message| message.json().as_str()).collect();
    assert_eq!(seen, [call, &*result, &*question]);
    assert!(!world.all().contains(SECRET));
}

#[test]
fn signed_blocks_are_written_as_they_are() {
    let mut world = World::new();
    let message = format!(
        r#"{{"role":"assistant","content":[{{"type":"thinking","thinking":"The key is {SECRET}.","thinkingSignature":"c2lnbmVk"}},{{"type":"redactedThinking","data":"{SECRET}"}},{{"type":"text","text":"It is {SECRET}."}}]}}"#
    );
    let entry = world.append(&message);
    let hidden = message.replace(&format!("It is {SECRET}."), "It is [redacted:openai-key].");
    assert_eq!(written(&entry) + "}", hidden);
}

#[test]
fn what_a_name_gave_away_is_hidden_where_it_stands_alone() {
    let mut world = World::new();
    world.append(r#"{"role":"user","content":"DB_PASSWORD=Tr0ub4dor-horse"}"#);
    let entry = world.append(r#"{"role":"user","content":"is Tr0ub4dor-horse right?"}"#);
    assert_eq!(written(&entry), r#"{"role":"user","content":"is [redacted:named-secret] right?""#);
}

#[test]
fn an_entry_stays_what_it_is_and_where_it_is() {
    let mut world = World::new();
    let entry = format!(r#"{{"type":"{SECRET}","note":"{SECRET}"}}"#);
    let id = block_on(world.session.append_entry_json(&RawJson::parse(entry).unwrap())).unwrap();
    let entry = &world.session.entries()[0];
    let line = RawJson::parse(entry.line().clone()).unwrap();
    let names = ["type", "id", "note"];
    let fields = names.map(|name| line.field(name).unwrap().as_text().unwrap().into_owned());
    assert_eq!(fields, [SECRET, &id, "[redacted:openai-key]"]);
}

#[test]
fn a_branch_and_a_new_name_copy_no_secret() {
    let mut world = World::new();
    let entry = world.append(r#"{"role":"user","content":"Hello"}"#);
    let label = format!("with {SECRET}");
    block_on(world.session.append_label_change(&entry.id().unwrap(), Some(&label))).unwrap();
    block_on(world.session.create_branched_session(&entry.id().unwrap())).unwrap().unwrap();
    let labels = world.session.entries().iter().filter(|e| e.kind() == EntryKind::Label);
    let labels: Vec<_> = labels.map(|entry| entry.line().clone()).collect();
    assert_eq!(labels.len(), 1);
    assert!(String::from_utf8_lossy(&labels[0]).contains("with [redacted:openai-key]"));
    assert!(!world.all().contains(SECRET));

    // A name of before stays in what is there, and is not written once more.
    let storage: Arc<dyn SessionStorage> = Arc::new(MemoryStorage::new());
    let new = NewSession::in_cwd("/w");
    let options = SessionOptions::default().eager();
    let mut plain = block_on(SessionManager::create(Arc::clone(&storage), new, options)).unwrap();
    let name = format!("Use {SECRET}");
    assert!(block_on(plain.set_session_name(&name, NameSource::User)).unwrap());
    let key = plain.key().clone();
    block_on(plain.close()).unwrap();
    let options = SessionOptions::default().filter(HideSecrets::new().unwrap());
    let mut session =
        block_on(SessionManager::open(Arc::clone(&storage), key, "/w", options)).unwrap();
    assert!(block_on(session.set_session_name("Plain", NameSource::User)).unwrap());
    let lines: Vec<_> = session.entries().iter().map(|entry| entry.line().clone()).collect();
    let holds = |line: &bytes::Bytes| String::from_utf8_lossy(line).contains(SECRET);
    assert_eq!(lines.iter().map(holds).collect::<Vec<_>>(), [true, false]);
    let world = World { storage, session };
    assert_eq!(world.all().matches(SECRET).count(), 1);
}

#[test]
fn nothing_comes_back_by_a_name_a_rewrite_or_a_blob() {
    let mut world = World::new();
    let long = format!(r#"{{"role":"user","content":"{SECRET} {}"}}"#, "x ".repeat(400_000));
    world.append(&long);
    let name = format!("Use {SECRET} here");
    assert!(block_on(world.session.set_session_name(&name, NameSource::User)).unwrap());
    assert_eq!(world.session.session_name().as_deref(), Some("Use [redacted:openai-key] here"));
    let changed = block_on(world.session.rewrite_entries(|entry| Entry::from_json(&entry.json())));
    assert_eq!(changed.unwrap(), 2);
    block_on(world.session.save_again()).unwrap();
    let all = world.all();
    assert!(all.contains("[redacted:openai-key] x x"));
    assert!(!all.contains(SECRET));
    assert!(world.session.entries()[0].json().as_str().contains(SECRET));
}
