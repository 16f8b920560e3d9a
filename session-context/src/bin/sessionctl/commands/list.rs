//! `sessionctl list`

use std::env;
use std::path::PathBuf;

use indicatif::ProgressBar;
use session_context::listing::{
    CwdFilter, Kinship, LineageNode, ListingOptions, ListingProgress, SessionCatalog, SessionRow,
    lineage,
};
use session_model::Severity;
use session_model::json::{ObjectBuilder, RawJson, to_raw_json};
use session_model::preview::one_line;
use session_model::summary::SessionSummary;
use session_model::time::to_iso;

use crate::Context;
use crate::failure::{Failure, chain};
use crate::output::{Output, TITLE_CHARS, look, say};
use crate::store::tell_of_index;

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
  sessionctl list ~/.omp/agent ~/.pi/agent --cwd ~/project
  sessionctl list --all-agents --all --forks")]
pub(crate) struct List {
    /// Agent directories, or any directories with sessions in them or their folders
    directories: Vec<PathBuf>,
    /// Sessions of the agent directory, ~/.xcsh/agent, ~/.omp/agent and ~/.pi/agent
    #[arg(long, conflicts_with_all = ["directories", "store"])]
    all_agents: bool,
    /// Only sessions that work in this directory
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// Sessions of all directories
    #[arg(long, conflicts_with = "cwd")]
    all: bool,
    /// At most so many sessions
    #[arg(long, value_name = "NUMBER")]
    limit: Option<usize>,
    /// Show which session comes from which, with those of child agents
    #[arg(long)]
    forks: bool,
}

impl List {
    pub(crate) async fn run(self, context: &mut Context) -> Result<(), Failure> {
        // Drawn on a terminal only.
        let bar = ProgressBar::new(0);
        let mut progress = |ListingProgress { done, total }| {
            bar.set_length(total as u64);
            bar.set_position(done as u64);
        };
        let mut options = ListingOptions::default().progress(&mut progress);
        options.cwd = self.cwd_filter()?;
        options.limit = self.limit;
        options.children = self.forks;
        let filtered = options.cwd.is_some();
        let places = context.store.places(&self.directories, self.all_agents)?;
        let is_nowhere = places.is_empty();
        let catalog = SessionCatalog::new(places);
        let listed = catalog.list_all(options).await;
        bar.finish_and_clear();
        tell_of_index(&catalog);
        let rows = listed?;
        let nodes = match self.forks {
            true => lineage(&rows),
            false => {
                (0..rows.len()).map(|row| LineageNode { row, depth: 0, parent: None }).collect()
            }
        };
        if context.json {
            let json = nodes.iter().map(|node| match self.forks {
                true => with_lineage(node, &rows),
                false => rows[node.row].to_json(),
            });
            context.out.json("[")?.json_list(json)?;
            context.out.json("]")?.end()?;
            return Ok(());
        }
        match rows.is_empty() {
            true if filtered => {
                say("note", "no session works in this directory; --all lists those of all");
            }
            true if !is_nowhere => say("note", "there is no session"),
            _ => {}
        }
        nodes.iter().try_for_each(|node| print(node, &rows, &mut context.out))
    }

    /// Whose sessions are listed; all if there is no filter.
    fn cwd_filter(&self) -> Result<Option<CwdFilter>, Failure> {
        let cwd = match &self.cwd {
            Some(cwd) => std::path::absolute(cwd),
            None if self.all || !self.directories.is_empty() => return Ok(None),
            None => env::current_dir(),
        };
        let cwd = cwd.map_err(|source| Failure::Input { what: "the directory".into(), source })?;
        Ok(Some(CwdFilter::local(&cwd.to_string_lossy())))
    }
}

/// A row for programs, with its place in the tree of sessions.
fn with_lineage(node: &LineageNode, rows: &[SessionRow]) -> RawJson {
    let row = rows[node.row].to_json().as_object().unwrap_or_default();
    let all = row.fields().iter().fold(ObjectBuilder::new(), |object, field| {
        object.raw_field(field.raw_name(), field.value())
    });
    let all = all.raw("depth", &to_raw_json(&node.depth).unwrap_or_default());
    match node.parent {
        Some((parent, kinship)) => all
            .string("kinship", kinship.as_str())
            .string("parentPath", &rows[parent].location())
            .build(),
        None => all.build(),
    }
}

/// How deep a session stands in the tree at most, so that the rest of its line has room.
const MAX_INDENT: usize = 12;

fn print(node: &LineageNode, rows: &[SessionRow], out: &mut Output) -> Result<(), Failure> {
    if let Some((_, kinship)) = node.parent {
        let indent = "  ".repeat(node.depth.min(MAX_INDENT) - 1);
        out.text(look::DIM, &format!("{indent}└ {}: ", kinship_word(kinship)))?;
    }
    print_row(&rows[node.row], out)
}

fn print_row(row: &SessionRow, out: &mut Output) -> Result<(), Failure> {
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

fn kinship_word(kinship: Kinship) -> &'static str {
    match kinship {
        Kinship::ChildAgent => "agent",
        _ => "fork",
    }
}

fn title_of(summary: &SessionSummary) -> String {
    let title = summary.title.as_ref().map(|title| &*title.text);
    let title = title.or(summary.first_message.as_deref()).unwrap_or("(no title)");
    one_line(title, TITLE_CHARS)
}
