//! `sessionctl verify`

use std::future::poll_fn;
use std::path::Path;
use std::sync::Arc;

use session_context::blobs::BlobStore;
use session_context::{ContextOptions, LeafChoice, SessionError, build_session_context};
use session_model::document::Loaded;
use session_model::json::{ObjectBuilder, RawJson, to_raw_json};
use session_model::migrate::migrate;
use session_model::persisted::{blob_refs, names_blobs};
use session_model::storage::{ListOptions, SessionStorage, StorageKey};
use session_model::{Diagnostic, DiagnosticCode, Entry, EntryKind, Severity};

use crate::Context;
use crate::failure::{Failure, chain};
use crate::findings::beyond;
use crate::output::{Output, count, look};
use crate::store::blobs_of;
use crate::target::{NumberedIds, Target};

/// Read sessions record by record and report all that is odd
///
/// Nothing is changed. A warning is about something odd that could be read, a loss about something
/// that could not.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sessionctl verify session.jsonl
  sessionctl verify ~/.xcsh/agent/sessions
  sessionctl verify --strict --json session.jsonl")]
pub(crate) struct Verify {
    /// A session, or a directory for all .jsonl files below it; with --store it may be left out,
    /// for all sessions of the storage
    session: Option<String>,
    /// Exit with 3 for warnings too
    #[arg(long)]
    strict: bool,
}

/// What was found in one session.
struct Report {
    name: String,
    /// Version and number of entries of what could be read.
    read: Option<(f64, usize)>,
    diagnostics: Vec<Diagnostic>,
}

/// Sums over all sessions.
#[derive(Default)]
struct Summary {
    sessions: usize,
    with_warnings: usize,
    with_losses: usize,
}

impl Verify {
    pub(crate) async fn run(self, context: &mut Context) -> Result<(), Failure> {
        let (json, out) = (context.json, &mut context.out);
        let mut summary = Summary::default();
        let begin = |out: &mut Output| match json {
            true => out.json("{\"sessions\":[").map(|_| ()),
            false => Ok(()),
        };
        match &self.session {
            Some(session) if !Path::new(session).is_dir() => {
                let target = context.store.existing(session).await?;
                begin(out)?;
                summary.take(check(&target).await, json, out)?;
            }
            session => {
                let Some(place) = session.as_deref().or(context.store.url()) else {
                    return Err(Failure::Usage("name a session, a directory, or a --store".into()));
                };
                let storage = context.store.open(place)?;
                begin(out)?;
                all_of(storage, &mut summary, json, out).await?;
            }
        }
        summary.finish(json, out)?;
        self.judge(&summary)
    }

    fn judge(&self, summary: &Summary) -> Result<(), Failure> {
        let Summary { sessions, with_warnings, with_losses } = summary;
        let problem = |what, count| {
            Err(Failure::ProblemsFound(format!("{what} in {count} of {sessions} sessions")))
        };
        match (with_losses, with_warnings) {
            (0, 0) => Ok(()),
            (0, _) if !self.strict => Ok(()),
            (0, count) => problem("there are warnings", count),
            (count, _) => problem("something was lost or cannot be read", count),
        }
    }
}

async fn all_of(
    storage: Arc<dyn SessionStorage>,
    summary: &mut Summary,
    json: bool,
    out: &mut Output,
) -> Result<(), Failure> {
    let mut sessions = storage.list(None, ListOptions::default().suffix(".jsonl"));
    while let Some(found) = poll_fn(|cx| sessions.as_mut().poll_next(cx)).await {
        let report = match found {
            Ok(meta) => {
                let name = meta.key.to_string();
                match blobs_of_all(&storage, &meta.key) {
                    Ok(blobs) => {
                        let storage = storage.clone();
                        check(&Target::new(storage, meta.key, &name, blobs)).await
                    }
                    Err(error) => Report::unreadable(name, &error),
                }
            }
            Err(error) => {
                let name = error.key().map_or_else(|| storage.to_string(), ToString::to_string);
                Report::unreadable(name, &error)
            }
        };
        summary.take(report, json, out)?;
    }
    Ok(())
}

/// Where the blobs of a session of a storage are.
fn blobs_of_all(storage: &Arc<dyn SessionStorage>, key: &StorageKey) -> Result<BlobStore, Failure> {
    match storage.local_path(key) {
        Some(path) => blobs_of(&path, storage),
        None => Ok(BlobStore::new(storage.clone()).map_err(SessionError::from)?),
    }
}

/// Tells which of the blobs that entries refer to are missing or damaged.
async fn without_blobs(entries: &[Entry], blobs: &BlobStore) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for entry in entries.iter().filter(|entry| names_blobs(entry.line())) {
        for blob in blob_refs(&entry.json()) {
            if let Err(error) = blobs.get(blob).await {
                let diagnostic = error.diagnostic();
                found.push(match entry.id() {
                    Some(id) => diagnostic.of_entry(id),
                    None => diagnostic,
                });
            }
        }
    }
    found
}

/// Reads one session and looks at every record.
async fn check(target: &Target) -> Report {
    let Loaded { mut document, mut diagnostics, .. } = match target.load().await {
        Ok(loaded) => loaded,
        Err(error) => return Report::unreadable(target.name.clone(), &error),
    };
    let read = Some((document.header().version(), document.tree().len()));
    diagnostics.extend(document.tree().entries().iter().filter_map(without_message));
    diagnostics.extend(without_blobs(document.tree().entries(), &target.blobs).await);
    migrate(&mut document, &mut NumberedIds::default());
    let leaf = LeafChoice::Current;
    let mut context = build_session_context(document.tree(), leaf, &ContextOptions::plain());
    let more = beyond(&diagnostics, &mut context);
    diagnostics.extend(more);
    diagnostics.extend(too_open(target));
    Report { name: target.name.clone(), read, diagnostics }
}

fn without_message(entry: &Entry) -> Option<Diagnostic> {
    if entry.kind() != EntryKind::Message || entry.message().is_some() {
        return None;
    }
    let detail = "the entry has no `message` object";
    let found = Diagnostic::new(DiagnosticCode::UnreadableMessage, detail);
    Some(match entry.id() {
        Some(id) => found.of_entry(id),
        None => found,
    })
}

#[cfg(unix)]
fn too_open(target: &Target) -> Option<Diagnostic> {
    use std::os::unix::fs::PermissionsExt;

    let path = target.storage.local_path(&target.key)?;
    let mode = path.metadata().ok()?.permissions().mode() & 0o777;
    let detail = format!("mode {mode:o} lets other users at the file; chmod 600 keeps it private");
    (mode & 0o077 != 0).then(|| Diagnostic::new(DiagnosticCode::TooOpen, detail))
}

#[cfg(not(unix))]
fn too_open(_: &Target) -> Option<Diagnostic> {
    None
}

impl Report {
    fn unreadable(name: String, error: &dyn std::error::Error) -> Self {
        let diagnostics = vec![Diagnostic::new(DiagnosticCode::Unreadable, chain(error))];
        Self { name, read: None, diagnostics }
    }

    fn worst(&self) -> Severity {
        self.diagnostics.iter().map(Diagnostic::severity).max().unwrap_or(Severity::Info)
    }

    fn print(&self, out: &mut Output) -> Result<(), Failure> {
        out.text(look::STRONG, &self.name)?;
        if let Some((version, entries)) = self.read {
            out.text(
                look::PLAIN,
                &format!(": version {version}, {}", count(entries, "entry", "entries")),
            )?;
        }
        out.end()?;
        for diagnostic in &self.diagnostics {
            let (style, word) = match diagnostic.severity() {
                Severity::Info => (look::DIM, "note"),
                Severity::Warning => (look::WARNING, "warning"),
                Severity::Loss => (look::BAD, "loss"),
            };
            out.text(look::PLAIN, "  ")?.text(style, word)?;
            out.text(look::PLAIN, &format!(": {diagnostic}"))?.end()?;
        }
        Ok(())
    }

    fn to_json(&self) -> RawJson {
        let mut json = ObjectBuilder::new().string("session", &self.name);
        if let Some((version, entries)) = self.read {
            json = json.raw("version", &to_raw_json(&version).unwrap_or_default());
            json = json.raw("entries", &to_raw_json(&entries).unwrap_or_default());
        }
        let found: Vec<_> = self.diagnostics.iter().map(Diagnostic::to_json).collect();
        json.raw("diagnostics", &RawJson::array(&found)).build()
    }
}

impl Summary {
    fn take(&mut self, report: Report, json: bool, out: &mut Output) -> Result<(), Failure> {
        if json {
            out.json(if self.sessions > 0 { "," } else { "" })?;
            out.json(report.to_json().as_str())?;
        } else {
            report.print(out)?;
        }
        self.sessions += 1;
        match report.worst() {
            Severity::Info => {}
            Severity::Warning => self.with_warnings += 1,
            Severity::Loss => self.with_losses += 1,
        }
        Ok(())
    }

    fn finish(&self, json: bool, out: &mut Output) -> Result<(), Failure> {
        let Self { sessions, with_warnings, with_losses } = self;
        if json {
            let counts = ObjectBuilder::new()
                .raw("withWarnings", &to_raw_json(with_warnings).unwrap_or_default())
                .raw("withLosses", &to_raw_json(with_losses).unwrap_or_default())
                .build();
            let counts = counts.as_str().strip_prefix('{').unwrap_or_default();
            out.json("],")?.json(counts)?.end()?;
        } else {
            let good = sessions - with_warnings - with_losses;
            let sessions = count(*sessions, "session", "sessions");
            let bad = format!("{with_warnings} with warnings, {with_losses} with losses");
            out.line(&format!("{sessions}: {good} good, {bad}"))?;
        }
        Ok(())
    }
}
