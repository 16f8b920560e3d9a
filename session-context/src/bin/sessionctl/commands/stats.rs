//! `sessionctl stats`

use std::cmp::Reverse;
use std::future::poll_fn;
use std::io;
use std::path::Path;
use std::sync::Arc;

use session_context::statistics::{Spent, Statistics};
use session_context::{OpenStorageError, SessionError};
use session_model::SessionDocument;
use session_model::document::LoadOptions;
use session_model::json::{ObjectBuilder, to_raw_json};
use session_model::layout::{SESSION_SUFFIX, SESSIONS_DIR};
use session_model::storage::{ListOptions, SessionStorage, SessionStorageExt, StorageKey};

use crate::Context;
use crate::failure::{Failure, chain};
use crate::output::{Output, count, look, say};
use crate::store::sessions_key;

/// Columns of the longest bar.
const BAR: u64 = 30;

/// Tell what sessions cost, and what they were spent on
///
/// Counts all branches of the sessions that are named, or of all sessions of the agent directory.
/// Days are those of UTC. Sessions of child agents are not looked at: what they cost is in the
/// results their parents have.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sessionctl stats
  sessionctl stats session.jsonl
  sessionctl stats ~/.omp/agent --rows 0 --json")]
pub(crate) struct Stats {
    /// Sessions, agent directories, or any directories with sessions in them or their folders
    sessions: Vec<String>,
    /// At most so many models, tools, days and directories; 0 for all
    #[arg(long, value_name = "NUMBER", default_value_t = 14)]
    rows: usize,
}

/// What was read so far.
#[derive(Default)]
struct Read {
    statistics: Statistics,
    unreadable: usize,
}

impl Stats {
    pub(crate) async fn run(self, context: &mut Context) -> Result<(), Failure> {
        let mut read = Read::default();
        if self.sessions.is_empty() {
            match context.store.storage() {
                Err(OpenStorageError::Missing { path }) if context.store.url().is_none() => {
                    say("note", &format!("there is no agent directory {}", path.display()));
                }
                storage => read.all_of(storage?, Some(sessions_key()?)).await,
            }
        }
        for session in &self.sessions {
            if !Path::new(session).is_dir() {
                let target = context.store.existing(session).await?;
                read.statistics.add(&target.load().await?.document);
                continue;
            }
            let sessions = Path::new(session).join(SESSIONS_DIR);
            let place = match sessions.to_str() {
                Some(sessions) if Path::new(sessions).is_dir() => sessions,
                _ => session,
            };
            read.all_of(context.store.open(place)?, None).await;
        }
        if context.json {
            let unreadable = to_raw_json(&read.unreadable).unwrap_or_default();
            let fields = read.statistics.to_json().as_object().unwrap_or_default();
            let all = fields.fields().iter().fold(ObjectBuilder::new(), |all, field| {
                all.raw_field(field.raw_name(), field.value())
            });
            context.out.json(all.raw("unreadable", &unreadable).build().as_str())?.end()?;
            return Ok(());
        }
        let rows = if self.rows == 0 { usize::MAX } else { self.rows };
        Ok(print(&read.statistics, rows, &mut context.out)?)
    }
}

impl Read {
    /// Reads all sessions of a place, one at a time; tells which ones cannot be read.
    async fn all_of(&mut self, storage: Arc<dyn SessionStorage>, prefix: Option<StorageKey>) {
        let options = ListOptions::default().suffix(SESSION_SUFFIX).max_depth(2);
        let mut found = storage.list(prefix.as_ref(), options);
        while let Some(found) = poll_fn(|cx| found.as_mut().poll_next(cx)).await {
            let document = match found {
                Ok(meta) if meta.key.file_name().starts_with('.') => continue,
                Ok(meta) => load(&*storage, meta.key).await,
                Err(error) => Err(error.into()),
            };
            match document {
                Ok(document) => self.statistics.add(&document),
                Err(error) => {
                    self.unreadable += 1;
                    say("warning", &format!("not counted: {}", chain(&error)));
                }
            }
        }
    }
}

async fn load(
    storage: &dyn SessionStorage,
    key: StorageKey,
) -> Result<SessionDocument, SessionError> {
    let (_, bytes) = storage.read_all(&key).await?;
    match SessionDocument::load(bytes, &LoadOptions::default()) {
        Ok(loaded) => Ok(loaded.document),
        Err(source) => Err(SessionError::NotASession { key, source }),
    }
}

fn print(statistics: &Statistics, rows: usize, out: &mut Output) -> io::Result<()> {
    let Statistics { sessions, entries, total, .. } = statistics;
    let many = |number: u64, one, many| count(number.try_into().unwrap_or(usize::MAX), one, many);
    out.line(&format!(
        "{}, {}, {}",
        many(*sessions, "session", "sessions"),
        many(*entries, "entry", "entries"),
        many(total.requests, "request", "requests")
    ))?;
    let usage = &total.usage;
    out.line(&format!(
        "{} tokens in, {} out, {} read from caches, {} written to caches, ${:.4}",
        usage.input, usage.output, usage.cache_read, usage.cache_write, usage.cost
    ))?;

    // The last days, in their order.
    let skipped = statistics.days.len().saturating_sub(rows);
    let most = statistics.days.values().map(Spent::tokens).max().unwrap_or_default();
    heading(out, "days")?;
    if skipped > 0 {
        out.text(look::DIM, &format!("  {skipped} before"))?.end()?;
    }
    for (day, spent) in statistics.days.iter().skip(skipped) {
        out.text(look::PLAIN, &format!("  {day:<10}  "))?;
        out.text(look::ASSISTANT, &bar(spent.tokens(), most))?;
        out.text(look::PLAIN, &format!("  {}", sums(spent)))?.end()?;
    }

    let models = statistics.models.iter().map(|(name, spent)| (name, spent.tokens(), sums(spent)));
    table(out, "models", models.collect(), rows)?;
    let tools = statistics.tools.iter().map(|(name, used)| {
        let failed =
            if used.errors > 0 { format!(", {} failed", used.errors) } else { String::new() };
        (name, used.calls, many(used.calls, "call", "calls") + &failed)
    });
    table(out, "tools", tools.collect(), rows)?;
    let projects = statistics.projects.iter().map(|(name, used)| {
        let sessions = many(used.sessions, "session", "sessions");
        (name, used.spent.tokens(), format!("{sessions}, {}", sums(&used.spent)))
    });
    table(out, "directories", projects.collect(), rows)
}

fn heading(out: &mut Output, text: &str) -> io::Result<()> {
    out.end()?;
    out.text(look::STRONG, text)?.end()
}

fn sums(spent: &Spent) -> String {
    format!("{} tokens, ${:.4}", spent.tokens(), spent.usage.cost)
}

/// Prints names with what is told of them, the greatest first.
fn table(
    out: &mut Output,
    title: &str,
    mut named: Vec<(&String, u64, String)>,
    rows: usize,
) -> io::Result<()> {
    if named.is_empty() {
        return Ok(());
    }
    named.sort_by_key(|&(_, size, _)| Reverse(size));
    heading(out, title)?;
    let shown = named.iter().take(rows);
    let width = shown.clone().map(|(name, ..)| name.chars().count()).max().unwrap_or_default();
    for (name, _, told) in shown {
        out.text(look::PLAIN, &format!("  {name:<width$}  {told}"))?.end()?;
    }
    match named.len().saturating_sub(rows) {
        0 => Ok(()),
        more => out.text(look::DIM, &format!("  {more} more"))?.end(),
    }
}

/// A bar in eighths of a column, as long as a share of the most.
fn bar(value: u64, most: u64) -> String {
    const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = u128::from(value) * u128::from(BAR) * 8;
    let eighths = eighths.div_ceil(u128::from(most.max(1)));
    let full = usize::try_from(eighths / 8).unwrap_or_default();
    let part = PARTS[usize::try_from(eighths % 8).unwrap_or_default()];
    let used = full + usize::from(!part.is_empty());
    let room = usize::try_from(BAR).unwrap_or_default().saturating_sub(used);
    format!("{}{part}{}", "█".repeat(full), " ".repeat(room))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_long_as_their_share() {
        let bars =
            [(0, 0), (0, 5), (1, u64::MAX), (u64::MAX, u64::MAX), (1, 2), (1, 240), (7, 240)];
        let bars = bars.map(|(value, most)| bar(value, most));
        let full = "█".repeat(30);
        let half = format!("{:<30}", "█".repeat(15));
        let [none, part, seven] = ["", "▏", "▉"].map(|bar| format!("{bar:<30}"));
        assert_eq!(bars, [none.clone(), none, part.clone(), full, half, part, seven]);
    }
}
