//! What holds for any bytes; fuzz targets and the replay of the committed inputs share it.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;

use flate2::Compression;
use flate2::write::GzEncoder;
use session_context::bundle::{Bundle, BundleLimits};
use session_context::export::foreign::{ForeignSession, Handed, to_claude, to_codex};
use session_context::import::{Conversion, Fate, ImportLimits, Tool, convert};
use session_context::{ContextOptions, LeafChoice, build_session_context};
use session_model::Severity;
use session_model::TitleSlot;
use session_model::body::EntryBody;
use session_model::document::{LoadOptions, SessionDocument};
use session_model::env::IdSource;
use session_model::json::RawJson;
use session_model::layout::Breadcrumb;
use session_model::migrate::migrate;
use session_model::persisted::{
    OversizePolicy, PersistOptions, blob_refs, persisted_form, restored,
};
use session_model::search::{Query, Snippet};
use session_model::storage::SessionStorage;
use session_model::tree_view::{TreeView, TreeViewOptions};
use session_model::{BlobRef, Entry};
use session_store_memory::MemoryStorage;

const HEADER: &[u8] = b"{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n";

#[derive(Debug)]
struct Counted(u32);

impl IdSource for Counted {
    fn entry_id(&mut self) -> String {
        self.0 += 1;
        format!("{:08x}", self.0)
    }

    fn session_id(&mut self) -> String {
        self.entry_id()
    }
}

fn load(file: &[u8]) -> Option<SessionDocument> {
    let loaded = SessionDocument::load(file.to_vec().into(), &LoadOptions::default());
    loaded.ok().map(|loaded| loaded.document)
}

fn written(document: &SessionDocument) -> Vec<u8> {
    document.to_payload().to_bytes().to_vec()
}

fn lines(document: &SessionDocument) -> Vec<&[u8]> {
    document.tree().entries().iter().map(|entry| &entry.line()[..]).collect()
}

/// An entry read from a line keeps its text, and its typed body can be read and written.
pub fn line(bytes: &[u8]) {
    let Ok(json) = RawJson::parse(bytes.to_vec()) else { return };
    let Some(entry) = Entry::from_json(&json) else { return };
    assert_eq!(RawJson::parse(entry.line().clone()).ok(), Some(entry.json()));
    let body: EntryBody = entry.body();
    let again = Entry::from_json(&body.to_entry_json("id", None, "2026-01-01T00:00:00.000Z"));
    assert_eq!(
        again.map(|again| again.entry_type().into_owned()),
        Some(entry.entry_type().into_owned())
    );
    let stored = |json: &RawJson| {
        let entry = Entry::with_persisted_form(json, &PersistOptions::default())?;
        RawJson::parse(entry.line().clone()).ok()
    };
    let once = stored(&json);
    assert_eq!(once.as_ref().and_then(stored), once);
}

/// What is written names its blobs, and with them it becomes what would be written again.
pub fn persisted(bytes: &[u8]) {
    let Ok(json) = RawJson::parse(bytes.to_vec()) else { return };
    blob_refs(&json);
    let options = PersistOptions::default().oversize(OversizePolicy::Blob);
    let Some(written) = persisted_form(&json, &options) else { return };
    for blob in &written.blobs {
        assert!(written.json.as_str().contains(&blob.id().to_hex()));
    }
    let content = |id| written.blobs.iter().find(|blob| blob.id() == id).map(|b| b.bytes().clone());
    let whole = restored(&written.json, content).unwrap_or_else(|| written.json.clone());
    let again = persisted_form(&whole, &options).map_or(whole, |again| again.json);
    assert_eq!(again, written.json);
}

/// A breadcrumb that is read is written so that it reads the same.
pub fn breadcrumb(bytes: &[u8]) {
    let Some(crumb) = Breadcrumb::parse(&String::from_utf8_lossy(bytes)) else { return };
    let text = crumb.to_text();
    if let Some(text) = text {
        assert_eq!(Breadcrumb::parse(&text), Some(crumb));
    }
}

/// A file is written back as it was, and takes another entry.
pub fn file(bytes: &[u8]) {
    let Some(mut document) = load(bytes) else { return };
    assert_eq!(written(&document), bytes);
    let before = document.tree().len();
    document.forget_torn_tail();
    let new = RawJson::parse(br#"{"type":"custom","id":"new","parentId":null}"#.to_vec());
    let Some(new) = new.ok().and_then(|json| Entry::from_json(&json)) else { return };
    document.push(new.clone());
    let reloaded = load(&written(&document)).map(|again| again.tree().entries().to_vec());
    let reloaded = reloaded.unwrap_or_default();
    assert_eq!(reloaded.len(), before + 1);
    assert_eq!(reloaded.last().map(Entry::json), Some(new.json()));
}

/// A slot that is read is written with the same meaning, in exactly its size.
pub fn title_slot(bytes: &[u8]) {
    if let Some(slot) = TitleSlot::read(bytes) {
        assert_eq!(TitleSlot::read(&slot.to_line()), Some(slot));
    }
    let text = String::from_utf8_lossy(bytes).into_owned();
    let slot = TitleSlot { title: text, source: None, updated_at: String::new() };
    let read = TitleSlot::read(&slot.to_line());
    assert!(read.is_some_and(|read| slot.title.starts_with(&read.title)));
}

/// Migrating twice is migrating once, and what was migrated reads the same again.
pub fn migration(bytes: &[u8]) {
    let Some(mut document) = load(bytes) else { return };
    let entries = document.tree().len();
    if migrate(&mut document, &mut Counted(0)).is_none() {
        return;
    }
    assert_eq!(document.tree().len(), entries);
    let once = written(&document);
    assert_eq!(migrate(&mut document, &mut Counted(0)).map(|m| m.diagnostic()), None);
    let again = load(&once);
    assert_eq!(again.as_ref().map(lines), Some(lines(&document)));
    let mut again = again.unwrap_or_else(|| SessionDocument::new(document.header().clone()));
    assert_eq!(migrate(&mut again, &mut Counted(0)).map(|m| m.diagnostic()), None);
    assert_eq!(written(&again), once);
}

/// Whatever ids and parents say, every entry is shown once and every walk ends.
pub fn tree(bytes: &[u8]) {
    let Some(document) = load(&[HEADER, bytes].concat()) else { return };
    let tree = document.tree();
    for node in tree.nodes() {
        let path = tree.path_to(node);
        assert_eq!(path.last(), Some(&node));
        assert!(path.len() <= tree.len());
    }
    let mut shown: Vec<_> = tree.rows(Default::default()).iter().map(|row| row.node).collect();
    shown.sort();
    let archived = |id: Option<&str>| id.is_some_and(|id| tree.is_archived(id));
    if !tree.entries().iter().any(|entry| archived(entry.id().as_deref())) {
        assert_eq!(shown, tree.nodes().collect::<Vec<_>>());
    }
    let view = TreeView::new(tree, &TreeViewOptions::default().with_archived());
    assert!(view.rows().len() <= tree.len() + 1);
}

/// The context of any leaf can be built, in every form, and is JSON.
pub fn context(bytes: &[u8]) {
    let Some(document) = load(&[HEADER, bytes].concat()) else { return };
    let tree = document.tree();
    for options in
        [ContextOptions::default(), ContextOptions::plain(), ContextOptions::transcript()]
    {
        let context = build_session_context(tree, LeafChoice::Current, &options);
        assert!(RawJson::parse(context.to_json().as_bytes().clone()).is_ok());
        for message in context.to_llm() {
            assert!(!message.role().is_empty());
        }
    }
}

/// Whatever Claude Code's files hold, they become a session, and that goes back and forth.
pub fn import_claude(bytes: &[u8]) {
    let document = imported(Tool::Claude, bytes);
    handed_on(&document);
}

/// The same for files of Codex.
pub fn import_codex(bytes: &[u8]) {
    let document = imported(Tool::Codex, bytes);
    handed_on(&document);
}

fn imported(tool: Tool, bytes: &[u8]) -> SessionDocument {
    let limits = ImportLimits::default();
    let conversion = convert(tool, bytes.to_vec().into(), "s.jsonl", &limits);
    assert_eq!(convert(tool, bytes.to_vec().into(), "s.jsonl", &limits), conversion);
    let is_filling = |byte: &u8| *byte == 0 || byte.is_ascii_whitespace();
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.iter().all(is_filling));
    assert!(conversion.report.records() >= lines.count() as u64);
    let document = session_of(&conversion);
    // Every entry has an id of its own and is on a way that begins with the import.
    let tree = document.tree();
    assert_eq!(tree.len(), conversion.entries.len());
    assert_eq!(tree.roots().count(), 1);
    for node in tree.nodes() {
        assert_eq!(tree.path_to(node).first(), tree.nodes().next().as_ref());
        assert_eq!(tree.entry(node).id().and_then(|id| tree.find(&id)), Some(node));
    }
    document
}

fn session_of(conversion: &Conversion) -> SessionDocument {
    let entries = conversion.entries.iter().map(|entry| entry.as_str());
    let lines: Vec<&str> = entries.collect();
    let file = [HEADER, lines.join("\n").as_bytes(), b"\n"].concat();
    let loaded = SessionDocument::load(file.into(), &LoadOptions::default());
    let Ok(loaded) = loaded else { unreachable!("the header is valid") };
    let lost = loaded.diagnostics.iter().filter(|found| found.code.severity() == Severity::Loss);
    assert_eq!(lost.count(), 0, "{:?}", loaded.diagnostics);
    loaded.document
}

/// What is written for another tool is read back without a record that is not understood.
fn handed_on(document: &SessionDocument) {
    let handed = Handed::of(document);
    for (tool, session) in [(Tool::Claude, to_claude(&handed)), (Tool::Codex, to_codex(&handed))] {
        let ForeignSession { records, .. } = &session;
        let limits = ImportLimits::default();
        let again = convert(tool, session.to_text().into(), "s.jsonl", &limits);
        assert_eq!(again.report.records(), records.len() as u64);
        assert_eq!(again.report.with_fate(|fate| fate == Fate::Unknown), 0);
    }
}

/// Whatever a file holds, it is refused, or it is a bundle that is packed to the same again, lies
/// where sessions lie, and is unpacked once.
///
/// Behind a `g` stands an archive that is not compressed yet; behind an `f` stand files, each a line
/// of name, tab and content, with what makes a bundle of them.
pub fn unpack(bytes: &[u8]) {
    let packed = match bytes.split_first() {
        Some((b'g', archive)) => gzip(archive),
        Some((b'f', files)) => packed(&String::from_utf8_lossy(files)),
        _ => bytes.to_vec(),
    };
    let limits = BundleLimits::default().max_bytes(1 << 20);
    let Ok(bundle) = Bundle::from_bytes(&packed, &limits) else { return };
    let read = |bundle: &Bundle| {
        bundle.to_bytes().ok().and_then(|bytes| Bundle::from_bytes(&bytes, &limits).ok())
    };
    assert_eq!(read(&bundle).as_ref(), Some(&bundle));
    for key in bundle.members().keys() {
        let first = key.segments().next();
        assert!(matches!(first, Some("sessions" | "blobs")), "{key}");
    }
    let storage: Arc<dyn SessionStorage> = Arc::new(MemoryStorage::new());
    let install = || pollster::block_on(bundle.install(&storage, |_, _| {})).ok();
    let (first, second) = (install(), install());
    assert_eq!(first.map(|done| done.new), Some(bundle.sessions().to_vec()));
    assert_eq!(second.map(|done| done.equal), Some(bundle.sessions().to_vec()));
    // A name may become too long.
    if let Ok((hidden, _)) = bundle.redacted(|_, _| {}) {
        assert_eq!(read(&hidden).map(|read| read.digest()), Some(hidden.digest()));
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    let written = gzip.write_all(bytes).and_then(|()| gzip.finish());
    written.unwrap_or_default()
}

/// Files as a bundle, whatever they are called.
fn packed(lines: &str) -> Vec<u8> {
    let mut files = BTreeMap::new();
    for line in lines.lines() {
        let (name, content) = line.split_once('\t').unwrap_or((line, ""));
        let content = format!("{content}\n");
        let digest = BlobRef::of(content.as_bytes()).to_hex();
        // Nobody guesses what a blob is called.
        files.insert(name.replace('#', &digest), (content, digest));
    }
    let text = |text: &str| RawJson::string(text).to_string();
    let is_session = |name: &&String| name.ends_with(".jsonl") && name.matches('/').count() == 2;
    let sessions = files.keys().filter(is_session);
    let sessions: Vec<_> =
        sessions.map(|name| format!("{{\"key\":{},\"id\":\"s\"}}", text(name))).collect();
    let members = files.iter().map(|(name, (content, digest))| {
        let (name, bytes) = (text(name), content.len());
        format!("{{\"key\":{name},\"bytes\":{bytes},\"sha256\":\"{digest}\"}}")
    });
    let members: Vec<_> = members.collect();
    let manifest = format!(
        "{{\"format\":\"session-bundle\",\"version\":1,\"redacted\":false,\"sessions\":[{}],\"members\":[{}]}}\n",
        sessions.join(","),
        members.join(",")
    );
    let digest = format!("{}\n", BlobRef::of(manifest.as_bytes()).to_hex());
    let mut tar = tar::Builder::new(Vec::new());
    let mut add = |name: &str, content: &str| {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(tar::EntryType::Regular);
        header.set_size(content.len() as u64);
        header.set_mode(0o600);
        if name.len() > 100 {
            return tar.append_data(&mut header, name, content.as_bytes()).is_ok();
        }
        // The library takes no name that leads elsewhere.
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.set_cksum();
        tar.append(&header, content.as_bytes()).is_ok()
    };
    add("manifest.json", &manifest);
    for (name, (content, _)) in &files {
        add(name, content);
    }
    add("manifest.sha256", &digest);
    gzip(&tar.into_inner().unwrap_or_default())
}

/// Any text is a query, whatever it is compared with; the first line is the query, the rest the
/// text. What is found lies in the text.
pub fn query(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (query, text) = text.split_once('\n').unwrap_or((&text, ""));
    let parsed = Query::parse(query);
    let clauses = parsed.wanted().iter().chain(parsed.excluded());
    assert!(clauses.map(|clause| clause.pieces.len()).sum::<usize>() <= 64);
    let found = parsed.find(text);
    assert_eq!(found.is_some(), !parsed.is_empty() && parsed.examine(text).is_match);
    let Some(found) = found else { return };
    let mut end = 0;
    for range in &found.ranges {
        assert!(range.start >= end && text.get(range.clone()).is_some_and(|part| !part.is_empty()));
        end = range.end;
    }
    let snippet = Snippet::new(text, &found.ranges, 40);
    for range in &snippet.highlights {
        assert!(snippet.text.get(range.clone()).is_some());
    }
}
