//! Sessions whose secrets are not written.

use std::sync::Arc;

use pollster::block_on;
use session_context::redact::HideSecrets;
use session_context::{NameSource, NewSession, SessionManager, SessionOptions};
use session_model::Entry;
use session_model::json::RawJson;
use session_model::persisted::{OversizePolicy, PersistOptions};
use session_model::storage::{SessionStorage, SessionStorageExt, StorageKey};
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
        let options = options.filter(HideSecrets::default());
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
