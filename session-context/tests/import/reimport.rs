//! The same source again, and what it has grown by.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use session_context::import::{ImportError, ImportOptions, ImportOutcome, Importer, Tool};
use session_context::listing::{ListingOptions, Place, SessionCatalog};
use session_context::{SessionManager, SessionOptions, open_storage};
use session_model::SessionDocument;
use session_model::message::Message;
use session_model::storage::{SessionStorage, SessionStorageExt, StorageErrorKind, StorageKey};
use tempfile::TempDir;

use crate::ours;
use crate::support::{fixture, sources};

/// Imports into each backend.
fn on_each_backend(test: impl AsyncFn(&str)) {
    let backends: &[&str] = match cfg!(feature = "indexed") {
        true => &["", "memory:", "indexed://"],
        false => &["", "memory:"],
    };
    for backend in backends {
        pollster::block_on(test(backend));
    }
}

/// A source that grows, and where it is imported to.
struct World {
    dir: TempDir,
    storage: Arc<dyn SessionStorage>,
    lines: Vec<String>,
    tool: Tool,
}

impl World {
    fn new(backend: &str, tool: Tool, name: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let storage = match backend {
            "memory:" => open_storage(backend),
            _ => open_storage(&format!("{backend}{}", dir.path().join("agent").display())),
        };
        let storage = storage.unwrap();
        let lines = fs::read_to_string(fixture(name)).unwrap();
        let lines = lines.split_inclusive('\n').map(str::to_owned).collect();
        Self { dir, storage, lines, tool }
    }

    fn source(&self) -> PathBuf {
        self.dir.path().join("source.jsonl")
    }

    /// Imports so many lines of the source.
    async fn import(&self, lines: usize) -> (StorageKey, ImportOutcome) {
        fs::write(self.source(), self.lines[..lines].concat()).unwrap();
        let (key, outcome) = self.again().await.unwrap();
        (key.unwrap(), outcome)
    }

    async fn again(&self) -> Result<(Option<StorageKey>, ImportOutcome), ImportError> {
        let mut importer = Importer::new(self.storage.clone(), ImportOptions::default());
        let imported = importer.import(self.tool, &self.source()).await?;
        Ok((imported.key, imported.outcome))
    }

    async fn open(&self, key: &StorageKey) -> SessionManager {
        let options = SessionOptions::default();
        SessionManager::open(self.storage.clone(), key.clone(), "/", options).await.unwrap()
    }

    async fn document(&self, key: &StorageKey) -> SessionDocument {
        let (storage, options) = (self.storage.clone(), SessionOptions::default());
        let session = SessionManager::open_read_only(storage, key.clone(), options).await.unwrap();
        assert_eq!(session.diagnostics(), []);
        session.document().clone()
    }

    async fn text(&self, key: &StorageKey) -> String {
        let bytes = self.storage.read_all(key).await.unwrap().1;
        String::from_utf8(bytes.to_vec()).unwrap()
    }

    async fn sessions(&self) -> usize {
        let place = Place::agent_dir(self.storage.clone()).unwrap();
        let catalog = SessionCatalog::new(vec![place]);
        catalog.list_all(ListingOptions::default()).await.unwrap().len()
    }
}

fn lines_of(document: &SessionDocument) -> Vec<Vec<u8>> {
    document.tree().entries().iter().map(|entry| entry.line().to_vec()).collect()
}

#[test]
fn a_source_becomes_a_session_once() {
    on_each_backend(async |backend| {
        let world = World::new(backend, Tool::Claude, "claude/everything.jsonl");
        let (key, outcome) = world.import(world.lines.len()).await;
        assert_eq!(outcome, ImportOutcome::Created);
        let before = world.text(&key).await;
        let (again, outcome) = world.import(world.lines.len()).await;
        assert_eq!((&again, outcome), (&key, ImportOutcome::Unchanged));
        assert_eq!(world.text(&key).await, before);
        assert_eq!(world.sessions().await, 1);
        let document = world.document(&key).await;
        let header = document.header();
        assert_eq!(
            header.parent_session().as_deref(),
            Some("5f0c1c52-6f5d-4a8e-9c4d-0f3b8a2c7e11")
        );
        assert_eq!(header.provider_prompt_cache_key(), None);
        assert_eq!(header.cwd().as_deref(), Some("/work/app"));
        assert_eq!(document.title().as_deref(), Some("Build with cargo"));
    });
}

#[test]
fn what_a_source_grows_by_is_added_wherever_it_was_cut() {
    on_each_backend(async |backend| {
        for (tool, name) in
            [(Tool::Claude, "claude/everything.jsonl"), (Tool::Codex, "codex/everything.jsonl")]
        {
            let whole = World::new(backend, tool, name);
            let (key, _) = whole.import(whole.lines.len()).await;
            let want = whole.document(&key).await;
            let grown = World::new(backend, tool, name);
            let mut before: Vec<Vec<u8>> = Vec::new();
            let mut there = None;
            for lines in 8..=grown.lines.len() {
                let (key, _) = grown.import(lines).await;
                let after = lines_of(&grown.document(&key).await);
                assert_eq!(after[..before.len()], before, "{name} at {lines}");
                before = after;
                there = Some(key);
            }
            assert_eq!(grown.sessions().await, 1, "{name}");
            let document = grown.document(&there.unwrap()).await;
            assert_eq!(ours::path(&document), ours::path(&want), "{name}");
            if tool == Tool::Claude {
                // Of Codex, what only an event told yet stands beside the item that came later.
                assert_eq!(ours::walk(&document), ours::walk(&want));
            }
            assert_eq!(document.title(), want.title());
        }
    });
}

#[test]
fn a_session_that_was_continued_gets_a_branch_and_stays_where_it_is() {
    on_each_backend(async |backend| {
        let world = World::new(backend, Tool::Claude, "claude/everything.jsonl");
        let (key, _) = world.import(11).await;
        let mut session = world.open(&key).await;
        let ours = session.append_message(Message::user("on my own", 1)).await.unwrap();
        session.close().await.unwrap();
        let (_, outcome) = world.import(16).await;
        assert_eq!(outcome, ImportOutcome::Updated { added: 4, as_branch: true });
        let mut session = world.open(&key).await;
        let path = session.branch_ids();
        assert_eq!(path[path.len() - 2], ours);
        let next = session.append_message(Message::user("and on", 2)).await.unwrap();
        assert_eq!(session.branch_ids().last(), Some(&next));
        session.close().await.unwrap();
        let (_, outcome) = world.import(16).await;
        assert_eq!(outcome, ImportOutcome::Unchanged);
    });
}

#[test]
fn a_label_or_title_given_here_is_no_continuation() {
    on_each_backend(async |backend| {
        let world = World::new(backend, Tool::Claude, "claude/everything.jsonl");
        let (key, _) = world.import(11).await;
        let mut session = world.open(&key).await;
        let leaf = session.leaf_id().unwrap();
        let label = session.append_label_change(&leaf, Some("here")).await.unwrap();
        let named = session_context::NameSource::User;
        session.set_session_name("Mine", named).await.unwrap();
        session.close().await.unwrap();
        let (_, outcome) = world.import(world.lines.len()).await;
        assert!(matches!(outcome, ImportOutcome::Updated { as_branch: false, .. }), "{outcome:?}");
        let document = world.document(&key).await;
        let tree = document.tree();
        let path = tree.path_to(tree.leaf().unwrap());
        let ids: Vec<_> = path.iter().filter_map(|node| tree.entry(*node).id()).collect();
        assert!(ids.contains(&label.as_str().into()));
        assert_eq!(document.title().as_deref(), Some("Mine"));
    });
}

#[test]
fn a_session_is_found_wherever_it_was_moved_to() {
    on_each_backend(async |backend| {
        let world = World::new(backend, Tool::Codex, "codex/everything.jsonl");
        let (key, _) = world.import(20).await;
        let elsewhere = StorageKey::new("sessions/elsewhere/renamed.jsonl").unwrap();
        world.storage.rename(&key, &elsewhere, Default::default()).await.unwrap();
        let (found, outcome) = world.import(22).await;
        assert_eq!(found, elsewhere);
        assert!(matches!(outcome, ImportOutcome::Updated { .. }), "{outcome:?}");
    });
}

#[test]
fn a_session_in_use_is_left_alone_and_said_so() {
    on_each_backend(async |backend| {
        let world = World::new(backend, Tool::Codex, "codex/everything.jsonl");
        let (key, _) = world.import(20).await;
        let session = world.open(&key).await;
        let before = lines_of(session.document());
        fs::write(world.source(), world.lines.concat()).unwrap();
        let error = match world.again().await {
            Err(ImportError::Session(error)) => error,
            other => panic!("{other:?}"),
        };
        assert_eq!(error.storage_error().unwrap().kind(), StorageErrorKind::Busy);
        session.close().await.unwrap();
        assert_eq!(lines_of(&world.document(&key).await), before);
    });
}

#[test]
fn a_source_over_the_limit_is_refused_whole() {
    on_each_backend(async |backend| {
        let world = World::new(backend, Tool::Codex, "codex/everything.jsonl");
        fs::write(world.source(), world.lines.concat()).unwrap();
        let mut options = ImportOptions::default();
        options.limits.source_bytes = 100;
        let mut importer = Importer::new(world.storage.clone(), options);
        let error = importer.import(Tool::Codex, &world.source()).await.unwrap_err().to_string();
        assert!(error.ends_with("bytes, and at most 100 are imported"), "{error}");
        assert_eq!(world.sessions().await, 0);
    });
}

#[test]
fn images_become_blobs_and_long_texts_are_kept_whole() {
    on_each_backend(async |backend| {
        let world = World::new(backend, Tool::Claude, "claude/small.jsonl");
        let long = "x".repeat(600_000);
        let image = "QUJD".repeat(1000);
        let record = format!(
            r#"{{"type":"user","uuid":"u","parentUuid":null,"message":{{"role":"user","content":[{{"type":"text","text":"{long}"}},{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{image}"}}}}]}}}}"#
        );
        fs::write(world.source(), record).unwrap();
        let key = world.again().await.unwrap().0.unwrap();
        assert!(!world.text(&key).await.contains(&image));
        let session = world.open(&key).await;
        let entry = session.leaf_entry().unwrap();
        let (whole, missing) = session.resolved(entry).await;
        assert_eq!(missing, []);
        assert!(whole.json().as_str().contains(&image) && whole.json().as_str().contains(&long));
        if world.storage.local_path(&key).is_some() {
            assert_private(world.dir.path().join("agent").as_path());
        }
    });
}

#[track_caller]
fn assert_private(path: &Path) {
    use std::os::unix::fs::PermissionsExt;

    let meta = fs::symlink_metadata(path).unwrap();
    assert_eq!(meta.permissions().mode() & 0o077, 0, "{}", path.display());
    if meta.is_dir() {
        fs::read_dir(path).unwrap().for_each(|item| assert_private(&item.unwrap().path()));
    }
}

#[test]
fn every_source_imports_and_has_nothing_new_then() {
    on_each_backend(async |backend| {
        for tool in [Tool::Claude, Tool::Codex] {
            let world = World::new(backend, tool, "claude/small.jsonl");
            let mut importer = Importer::new(world.storage.clone(), ImportOptions::default());
            for path in sources(tool) {
                let first = importer.import(tool, &path).await.unwrap();
                let again = importer.import(tool, &path).await.unwrap();
                let want = match first.outcome {
                    ImportOutcome::Empty => ImportOutcome::Empty,
                    _ => ImportOutcome::Unchanged,
                };
                assert_eq!(again.outcome, want, "{}", path.display());
                if let Some(key) = first.key {
                    world.document(&key).await;
                }
            }
        }
    });
}
