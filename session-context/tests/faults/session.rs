//! One session in a directory, written and looked at.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use session_context::{NameSource, SessionError, SessionManager, SessionOptions};
use session_model::document::LoadError;
use session_model::message::{AssistantMessage, ContentBlock, Message};
use session_model::storage::StorageKey;
use session_model::{DiagnosticCode, Entry};
use session_store_file::FileStorage;

pub const FILE: &str = "s.jsonl";
pub const HEADER: &str =
    r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}"#;
pub const A: &str = r#"{"type":"message","id":"a","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user", "content":"one","n":1.0}}"#;
pub const B: &str = r#"{"type":"custom","customType":"x","id":"b","parentId":"a","timestamp":"2026-01-01T00:00:02.000Z"}"#;

/// How many MiB of entries each session has besides; none unless set.
const MIB: &str = "SESSION_TEST_FAULTS_MIB";

/// Entries between [`A`] and [`B`], children of the first, so many MiB as the environment asks for.
pub static BULK: LazyLock<String> = LazyLock::new(|| {
    let mib: usize = std::env::var(MIB).map_or(0, |mib| mib.parse().unwrap());
    let mut bulk = String::with_capacity((mib << 20) + (1 << 20));
    for n in 0.. {
        if bulk.len() >= mib << 20 {
            break;
        }
        // Mostly lines as sessions have them, and a few that are longer than any block.
        let fill = if n % 1024 == 1023 { 600_000 } else { n * 7919 % 4000 };
        bulk += &format!(
            r#"{{"type":"message","id":"x{n}","parentId":"a","timestamp":"2026-01-01T00:00:01.000Z","message":{{"role":"user","content":"{}"}}}}"#,
            "x".repeat(fill)
        );
        bulk.push('\n');
    }
    bulk
});

/// A whole session: [`HEADER`], [`A`], [`BULK`] and [`B`].
pub fn whole() -> String {
    format!("{HEADER}\n{A}\n{}{B}\n", *BULK)
}

pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    pollster::block_on(future)
}

fn parts(dir: &Path, name: &str) -> (Arc<FileStorage>, StorageKey) {
    (Arc::new(FileStorage::open(dir).unwrap()), StorageKey::new(name).unwrap())
}

pub fn open(dir: &Path) -> Result<SessionManager, SessionError> {
    open_as(dir, FILE, SessionOptions::default().eager())
}

pub fn open_as(
    dir: &Path,
    name: &str,
    options: SessionOptions,
) -> Result<SessionManager, SessionError> {
    let (storage, key) = parts(dir, name);
    block_on(SessionManager::open(storage, key, "/w", options))
}

/// Opens the session for reading; `None` if there is none yet, or an empty file.
pub fn look(dir: &Path) -> Option<SessionManager> {
    look_at(dir, FILE)
}

pub fn look_at(dir: &Path, name: &str) -> Option<SessionManager> {
    let (storage, key) = parts(dir, name);
    match block_on(SessionManager::open_read_only(storage, key, SessionOptions::default())) {
        Ok(session) => Some(session),
        Err(SessionError::NotFound { .. })
        | Err(SessionError::NotASession { source: LoadError::Empty, .. }) => None,
        Err(error) => panic!("the session does not load: {error:?}"),
    }
}

/// What an entry says, whatever its envelope is.
pub fn says(entry: &Entry) -> String {
    entry.message().map_or_else(|| entry.json().to_string(), |message| message.to_string())
}

pub fn id(entry: &Entry) -> String {
    entry.id().unwrap_or_default().into_owned()
}

pub fn append(session: &mut SessionManager, text: &str) -> Result<String, SessionError> {
    block_on(session.append_message(Message::user(text, 1)))
}

/// Writes a private file.
pub fn write(dir: &Path, name: &str, content: impl AsRef<[u8]>) {
    fs::write(dir.join(name), content).unwrap();
    fs::set_permissions(dir.join(name), fs::Permissions::from_mode(0o600)).unwrap();
}

/// Makes sure that the session takes images and rewrites, keeps all it had undamaged, and that nothing but
/// private files, and no temporary one, is left.
pub fn goes_on(dir: &Path, what: &str) {
    let before: Vec<_> = look(dir).iter().flat_map(|s| s.entries().iter().map(says)).collect();
    let mut session = open(dir).unwrap_or_else(|error| panic!("{what}: {error:?}"));
    let image = ContentBlock::image("aW1h".repeat(300), "image/png");
    let next = block_on(session.append_message(AssistantMessage::new("p", "m", vec![image], 1)));
    let next = next.unwrap_or_else(|error| panic!("{what}: {error:?}"));
    assert!(block_on(session.set_session_name("name", NameSource::User)).unwrap());
    block_on(session.close()).unwrap_or_else(|error| panic!("{what}: {error:?}"));
    let after = look(dir).unwrap();
    let kept: Vec<_> = after.entries().iter().map(says).collect();
    assert_eq!(kept.len(), before.len() + 2, "{what}: {kept:?}");
    assert_eq!(kept[..before.len()], before, "{what}");
    assert_eq!(id(&after.entries()[before.len()]), next, "{what}");
    assert_eq!(after.diagnostics(), [], "{what}");
    only_private_files(dir, what);
}

/// Makes sure that everything below is private, and that no temporary file is left.
pub fn only_private_files(dir: &Path, what: &str) {
    for entry in fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        let (name, meta) = (entry.file_name(), entry.metadata().unwrap());
        let name = name.to_string_lossy();
        let mode = if meta.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(meta.permissions().mode() & 0o7777, mode, "{what}: {name}");
        assert!(!name.ends_with(".tmp"), "{what}: {name} was left behind");
        if meta.is_dir() {
            only_private_files(&entry.path(), what);
        }
    }
}

/// Makes sure that a reader met no damage but, at most, an unfinished end.
pub fn whole_records(session: &SessionManager, what: &str) {
    let codes: Vec<_> = session.diagnostics().iter().map(|d| d.code).collect();
    assert!(codes.iter().all(|code| *code == DiagnosticCode::TornTail), "{what}: {codes:?}");
}
