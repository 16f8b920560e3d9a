//! What an import tells.

use session_context::import::{
    ConversionReport, Fate, ImportError, ImportOutcome, Imported, Source,
};
use session_model::json::{ObjectBuilder, RawJson, to_raw_json};
use session_model::preview::one_line;
use session_model::storage::{SessionStorage, StorageErrorKind};

use super::say_failed;
use crate::failure::{Failure, chain};
use crate::output::{Output, TITLE_CHARS, count, look};
use crate::place::path_or_key;

/// What became of all sources together.
pub(super) struct Sums {
    json: bool,
    dry_run: bool,
    created: usize,
    updated: usize,
    unchanged: usize,
    empty: usize,
    /// Sources that failed because their session is in use.
    busy: usize,
    failed: Vec<ImportError>,
    records: ConversionReport,
    documents: Vec<RawJson>,
}

impl Sums {
    pub(super) fn new(json: bool, dry_run: bool) -> Self {
        Self {
            json,
            dry_run,
            created: 0,
            updated: 0,
            unchanged: 0,
            empty: 0,
            busy: 0,
            failed: Vec::new(),
            records: ConversionReport::default(),
            documents: Vec::new(),
        }
    }

    /// Something that could not even be looked at.
    pub(super) fn cannot_look(&mut self, error: ImportError) {
        say_failed(&error);
        self.failed.push(error);
    }

    pub(super) fn take(
        &mut self,
        source: &Source,
        imported: Result<Imported, ImportError>,
        storage: &dyn SessionStorage,
        out: &mut Output,
    ) -> Result<(), Failure> {
        let path = source.path.display().to_string();
        let document = ObjectBuilder::new().string("source", &path);
        let imported = match imported {
            Ok(imported) => imported,
            Err(error) => {
                let document = document.string("outcome", "failed");
                self.documents.push(document.string("error", &chain(&error)).build());
                self.busy += usize::from(is_busy(&error));
                self.cannot_look(error);
                return Ok(());
            }
        };
        self.records.add(&imported.conversion.report);
        let word = self.count(imported.outcome);
        if self.json {
            let title = imported.conversion.title.as_ref().map(|title| &*title.text);
            let key = imported.key.as_ref().map(|key| path_or_key(storage, key));
            let string = |text: &str| RawJson::string(text);
            let mut document = document
                .string("outcome", word)
                .string("sessionId", &imported.conversion.session_id)
                .optional("path", key.as_deref().map(string).as_ref())
                .optional("cwd", imported.conversion.cwd.as_deref().map(string).as_ref())
                .optional("title", title.map(string).as_ref());
            if let ImportOutcome::Updated { added, as_branch } = imported.outcome {
                let added = to_raw_json(&added).unwrap_or_default();
                document = document.raw("added", &added).raw("asBranch", &as_branch.into());
            }
            self.documents.push(document.build());
            return Ok(());
        }
        let more = match imported.outcome {
            ImportOutcome::Updated { added, as_branch } => {
                let added = count(added, "entry", "entries");
                let place = if as_branch { ", on a branch: it was continued here" } else { "" };
                format!("  (+{added}{place})")
            }
            ImportOutcome::Created => String::new(),
            _ => return Ok(()),
        };
        out.text(look::PLAIN, &format!("{word:8} "))?;
        out.text(look::ID, &imported.conversion.session_id)?;
        let title = imported.conversion.title_or_first_words();
        let title = one_line(title.as_deref().unwrap_or("(no title)"), TITLE_CHARS);
        out.line(&format!("  {title}{more}"))?;
        Ok(())
    }

    fn count(&mut self, outcome: ImportOutcome) -> &'static str {
        let (word, count) = match outcome {
            ImportOutcome::Created => ("created", &mut self.created),
            ImportOutcome::Updated { .. } => ("updated", &mut self.updated),
            ImportOutcome::Empty => ("empty", &mut self.empty),
            _ => ("unchanged", &mut self.unchanged),
        };
        *count += 1;
        word
    }

    /// Prints the sums, and fails if a source did.
    pub(super) fn finish(mut self, out: &mut Output) -> Result<(), Failure> {
        if self.json {
            self.print_json(out)?;
        } else {
            self.print(out)?;
        }
        match self.failed.len() {
            0 => Ok(()),
            1 if self.created + self.updated + self.unchanged + self.empty == 0 => {
                // It is said already, and only the exit code is left to give.
                Err(Failure::Imports { text: "nothing was imported".into(), busy: self.busy == 1 })
            }
            failed => {
                let text = format!("{} not imported", count(failed, "source was", "sources were"));
                Err(Failure::Imports { text, busy: self.busy == failed })
            }
        }
    }

    fn print(&mut self, out: &mut Output) -> Result<(), Failure> {
        let table = table(&self.records);
        if !table.is_empty() {
            out.text(look::DIM, "records, by kind: in the session, left out, unknown")?.end()?;
        }
        for line in table {
            out.line(&line)?;
        }
        for (note, count) in self.records.notes() {
            out.line(&format!("  {count:>8}  {}", note.text()))?;
        }
        let Self { created, updated, unchanged, empty, .. } = *self;
        let dry = if self.dry_run { " (dry run: nothing was written)" } else { "" };
        out.line(&format!(
            "{created} created, {updated} updated, {unchanged} unchanged, {empty} without \
             conversation, {} failed{dry}",
            self.failed.len()
        ))?;
        Ok(())
    }

    fn print_json(&mut self, out: &mut Output) -> Result<(), Failure> {
        let number = |n: usize| to_raw_json(&n).unwrap_or_default();
        let records = self.records.to_json();
        let field = |name| records.field(name).unwrap_or_default();
        let document = ObjectBuilder::new()
            .raw("dryRun", &self.dry_run.into())
            .raw("sources", &RawJson::array(&self.documents))
            .raw("created", &number(self.created))
            .raw("updated", &number(self.updated))
            .raw("unchanged", &number(self.unchanged))
            .raw("empty", &number(self.empty))
            .raw("failed", &number(self.failed.len()))
            .raw("kinds", &field("kinds"))
            .raw("notes", &field("notes"))
            .build();
        out.json(document.as_str())?.end()?;
        Ok(())
    }
}

fn is_busy(error: &ImportError) -> bool {
    let ImportError::Session(error) = error else { return false };
    error.storage_error().is_some_and(|error| error.kind() == StorageErrorKind::Busy)
}

/// A line for each kind of record, with the reasons why some are left out.
fn table(report: &ConversionReport) -> Vec<String> {
    let line = |(kind, fates): (&String, &std::collections::BTreeMap<Fate, u64>)| {
        let of = |fate| fates.get(&fate).copied().unwrap_or_default();
        let left_out: Vec<_> = fates
            .iter()
            .filter_map(|(fate, count)| match fate {
                Fate::LeftOut(why) => Some((why.text(), count)),
                _ => None,
            })
            .collect();
        let sum: u64 = left_out.iter().map(|(_, count)| **count).sum();
        let reasons: Vec<_> =
            left_out.iter().map(|(why, count)| format!("{count} {why}")).collect();
        let (converted, unknown) = (of(Fate::Converted), of(Fate::Unknown));
        let line = format!("  {converted:>8} {sum:>8} {unknown:>8}  {kind}");
        if reasons.is_empty() { line } else { format!("{line}: {}", reasons.join(", ")) }
    };
    report.kinds().iter().map(line).collect()
}
