//! An agent directory, and findings as lines of text.

use std::fs;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use session_context::doctor::{DoctorOptions, Finding, Need, Outcome, examine};
use session_model::env::Clock;
use session_model::storage::SessionStorage;
use session_store_file::FileStorage;
use tempfile::TempDir;

pub(crate) const HEADER: &str = r#"{"type":"session","version":3,"id":"s-0001","timestamp":"2026-03-01T09:00:00Z","cwd":"/w/app"}"#;
pub(crate) const SESSION: &str = "sessions/--w-app--/2026-03-01T09-00-00-000Z_s-0001.jsonl";

/// 2026-03-02, in milliseconds of Unix time.
pub(crate) const NOW_MS: u64 = 1_772_409_600_000;

/// A clock that stands at [`NOW_MS`].
#[derive(Debug)]
struct Standing;

impl Clock for Standing {
    fn now_ms(&self) -> i64 {
        NOW_MS as i64
    }
}

pub(crate) struct Agent(TempDir);

/// Path, content, mode and time of change of everything there is.
pub(crate) type Snapshot = Vec<(PathBuf, Option<Vec<u8>>, u32, (i64, i64))>;

impl Agent {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn with(name: &str, content: impl AsRef<[u8]>) -> Self {
        let agent = Self::new();
        agent.write(name, content);
        agent
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        use std::io::Write;
        let path = self.path().join(name);
        let folder = path.parent().unwrap();
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).unwrap();
        let mut file = fs::File::options()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&path)
            .unwrap();
        file.write_all(content.as_ref()).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path().join(name)).unwrap()
    }

    pub(crate) fn storage(&self) -> Arc<dyn SessionStorage> {
        Arc::new(FileStorage::open(self.path()).unwrap())
    }

    pub(crate) fn examine(&self, options: DoctorOptions) -> Vec<Finding> {
        let (storage, options) = (self.storage(), options.clock(Standing));
        pollster::block_on(examine(&storage, &options, &mut |_, _| {})).unwrap()
    }

    /// What is found without a repair; nothing on disk may change.
    pub(crate) fn look(&self) -> Vec<String> {
        let before = self.snapshot();
        let found = self.examine(DoctorOptions::default());
        assert_eq!(self.snapshot(), before, "looking changed something");
        found.iter().map(told).collect()
    }

    pub(crate) fn fix(&self) -> Vec<String> {
        self.examine(DoctorOptions::default().fix()).iter().map(told).collect()
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        let (mut found, mut open) = (Vec::new(), vec![self.path().to_owned()]);
        while let Some(path) = open.pop() {
            let meta = path.symlink_metadata().unwrap();
            if meta.is_dir() {
                open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            }
            let content = meta.is_file().then(|| fs::read(&path).unwrap());
            found.push((path, content, meta.mode(), (meta.mtime(), meta.mtime_nsec())));
        }
        found.sort();
        found
    }
}

/// A finding as `code path: detail => what is to be done or was done`.
pub(crate) fn told(finding: &Finding) -> String {
    let end = match (&finding.need, &finding.outcome) {
        (_, Outcome::Repaired(done)) => format!(" => done: {done}"),
        (_, Outcome::Failed(why)) => format!(" => failed: {why}"),
        (Need::Nothing, _) => String::new(),
        (Need::Repair(remedy), _) => format!(" => can: {}", remedy.as_str()),
        (Need::User(advice), _) => format!(" => you: {advice}"),
    };
    let path = finding.path.replace(SESSION, "S");
    format!("{} {path}: {}{}", finding.code.as_str(), finding.detail, end.replace(SESSION, "S"))
}

pub(crate) fn entry(id: &str, parent: &str, text: &str) -> String {
    let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
    format!(
        r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2026-03-01T09:00:01Z","message":{{"role":"user","content":"{text}"}}}}"#
    )
}
