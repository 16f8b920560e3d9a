//! `sessionctl list`

use std::env;
use std::path::PathBuf;
use std::sync::Arc;

use session_context::listing::{CwdFilter, ListingOptions, Scope, SessionRow, list_sessions};
use session_context::{OpenStorageError, open_existing_storage};
use session_model::Severity;
use session_model::layout::SESSIONS_DIR;
use session_model::preview::one_line;
use session_model::storage::SessionStorage;
use session_model::summary::SessionSummary;
use session_model::time::to_iso;

use crate::Context;
use crate::failure::{Failure, chain};
use crate::output::{Output, look, say};
use crate::store::{sessions_key, split};

/// How much of a title is shown.
const TITLE_CHARS: usize = 60;

/// List sessions, the latest activity first
///
/// Without a directory, the sessions of the agent directory that work in the present directory are
/// listed. The columns are id, last activity, state, number of messages (with a plus if not all
/// were counted) and title.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sessionctl list
  sessionctl list --all --limit 10
  sessionctl list ~/.omp/agent --cwd ~/project")]
pub(crate) struct List {
    /// An agent directory, or any directory with sessions in it or its folders
    directory: Option<PathBuf>,
    /// Only sessions that work in this directory
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// Sessions of all directories
    #[arg(long, conflicts_with = "cwd")]
    all: bool,
    /// At most so many sessions
    #[arg(long, value_name = "NUMBER")]
    limit: Option<usize>,
}

impl List {
    pub(crate) async fn run(self, context: &mut Context) -> Result<(), Failure> {
        let mut options = ListingOptions::default();
        options.cwd = self.cwd_filter()?;
        options.limit = self.limit;
        let filtered = options.cwd.is_some();
        let rows = match self.place(context)? {
            Some((storage, scope)) => list_sessions(&*storage, &scope, options).await?,
            None => Vec::new(),
        };
        if context.json {
            context.out.json("[")?.json_list(rows.iter().map(SessionRow::to_json))?;
            context.out.json("]")?.end()?;
            return Ok(());
        }
        if rows.is_empty() && filtered {
            say("note", "no session works in this directory; --all lists those of all");
        }
        rows.iter().try_for_each(|row| print(row, &mut context.out))
    }

    /// Whose sessions are listed; all if there is no filter.
    fn cwd_filter(&self) -> Result<Option<CwdFilter>, Failure> {
        let cwd = match &self.cwd {
            Some(cwd) => std::path::absolute(cwd),
            None if self.all || self.directory.is_some() => return Ok(None),
            None => env::current_dir(),
        };
        let cwd = cwd.map_err(|source| Failure::Input { what: "the directory".into(), source })?;
        Ok(Some(CwdFilter::local(&cwd.to_string_lossy())))
    }

    /// Where the sessions are; `None` if there is no agent directory.
    fn place(&self, context: &Context) -> Result<Option<Place>, Failure> {
        if self.directory.is_some() && context.store.url().is_some() {
            return Err(Failure::Usage("name a directory or a --store, not both".to_owned()));
        }
        let Some(directory) = &self.directory else {
            return match context.store.storage() {
                Err(OpenStorageError::Missing { path }) if context.store.url().is_none() => {
                    say("note", &format!("there is no agent directory {}", path.display()));
                    Ok(None)
                }
                opened => Ok(Some((opened?, Scope::All(sessions_key()?)))),
            };
        };
        let what = directory.display().to_string();
        let directory =
            directory.canonicalize().map_err(|source| Failure::Input { what, source })?;
        let sessions = directory.join(SESSIONS_DIR);
        let listed = if sessions.is_dir() { &sessions } else { &directory };
        let (parent, key) = split(listed)?;
        Ok(Some((open_existing_storage(parent)?, Scope::All(key))))
    }
}

type Place = (Arc<dyn SessionStorage>, Scope);

fn print(row: &SessionRow, out: &mut Output) -> Result<(), Failure> {
    let summary = match &row.summary {
        Ok(summary) => summary,
        Err(error) => {
            out.text(look::BAD, "unreadable")?
                .text(look::PLAIN, &format!("  {}", row.location()))?;
            out.text(look::PLAIN, &format!(": {}", chain(error)))?.end()?;
            return Ok(());
        }
    };
    let time = summary.activity.map(|activity| to_iso(activity.at_ms)).unwrap_or_default();
    let more = if summary.message_count_is_exact { "" } else { "+" };
    let count = format!("{}{more}", summary.message_count);
    let state = summary.status.as_str();
    out.text(look::ID, &format!("{:<36}", summary.id))?;
    out.text(look::DIM, &format!("  {:<16}", time.get(..16).unwrap_or(&time).replace('T', " ")))?;
    out.text(look::PLAIN, &format!("  {state:<11}  {count:>6}  {}", title_of(summary)))?;
    if row.id_is_shared {
        out.text(look::WARNING, "  (another file has this id)")?;
    }
    if summary.diagnostics.iter().any(|found| found.severity() == Severity::Loss) {
        out.text(look::WARNING, "  (damaged; `sessionctl verify` tells more)")?;
    }
    out.end()?;
    Ok(())
}

fn title_of(summary: &SessionSummary) -> String {
    let title = summary.title.as_ref().map(|title| &*title.text);
    let title = title.or(summary.first_message.as_deref()).unwrap_or("(no title)");
    one_line(title, TITLE_CHARS)
}
