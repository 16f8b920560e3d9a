//! `sessionctl history`

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use session_model::json::{ObjectBuilder, RawJson, to_raw_json};
use session_model::time::to_iso;
use session_store_indexed::history::{
    HistoryEntry, HistoryError, HistoryOptions, HistoryScope, HistoryStorage,
};

use crate::Context;
use crate::failure::{Failure, chain};
use crate::output::{look, say};
use crate::store::{agent_dir, text_of};

/// The name of the database in an agent directory.
const DATABASE: &str = "history.db";

/// Add to the history of prompts, or look into it
///
/// The history is the database `history.db` of the agent directory, which xcsh and omp keep there
/// too. What an older tool left out of it is added when it is opened; no prompt is changed.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sessionctl history recent --limit 5
  sessionctl history search \"login test\" --cwd .
  sessionctl history search main.rs --agent-dir ~/.omp/agent --json
  sessionctl history add \"fix the login test\" --session 0198c1f2
  echo \"fix the login test\" | sessionctl history add -")]
pub(crate) struct History {
    #[command(subcommand)]
    what: What,
    /// The database; default: history.db in the agent directory
    #[arg(long, global = true, value_name = "PATH")]
    db: Option<PathBuf>,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Add a prompt, as typed in the present directory
    Add {
        /// The prompt, or `-` for standard input
        prompt: String,
        /// The directory it was typed in; default: the present one
        #[arg(long, value_name = "DIR")]
        cwd: Option<PathBuf>,
        /// The id of the session it was typed in
        #[arg(long, value_name = "ID")]
        session: Option<String>,
    },
    /// Show the newest prompts, the newest first
    Recent {
        /// At most so many, and never more than 1000
        #[arg(long, value_name = "NUMBER", default_value_t = 20)]
        limit: usize,
    },
    /// Find prompts that hold all words of a text, the newest first
    ///
    /// Any text will do; nothing in it has a special meaning. A word is found where a word of the
    /// prompt begins so.
    Search {
        /// What to look for; several words are taken together. Put -- before a word with a dash
        #[arg(required = true)]
        query: Vec<String>,
        /// At most so many, and never more than 1000
        #[arg(long, value_name = "NUMBER", default_value_t = 20)]
        limit: usize,
        /// Only prompts typed in this directory
        #[arg(long, value_name = "DIR", conflicts_with = "session")]
        cwd: Option<PathBuf>,
        /// Only prompts typed in the session of this id
        #[arg(long, value_name = "ID")]
        session: Option<String>,
    },
}

impl History {
    pub(crate) fn run(self, context: &mut Context) -> Result<(), Failure> {
        let path = match self.db {
            Some(path) => path,
            None => directory(context)?.join(DATABASE),
        };
        match self.what {
            What::Add { prompt, cwd, session } => {
                let prompt = if prompt == "-" { from_input()? } else { prompt };
                if prompt.trim().is_empty() {
                    say("note", "a blank prompt is not kept");
                    return Ok(());
                }
                let cwd = absolute(cwd.as_deref().unwrap_or(Path::new(".")))?;
                let history = open(&path)?;
                history.add(&prompt, Some(&cwd), session.as_deref())?;
                history.close().map_err(|error| match &error {
                    HistoryError::NotSaved { source, .. } => {
                        Failure::Refused(format!("the prompt is not saved: {}", chain(source)))
                    }
                    _ => error.into(),
                })
            }
            What::Recent { limit } => {
                let found = found(&path, |history| history.recent(limit))?;
                print(found, "the history is empty", context)
            }
            What::Search { query, limit, cwd, session } => {
                let cwd = cwd.as_deref().map(absolute).transpose()?;
                let scope = match (&cwd, &session) {
                    (Some(cwd), _) => HistoryScope::Cwd(cwd),
                    (None, Some(session)) => HistoryScope::Session(session),
                    (None, None) => HistoryScope::Global,
                };
                let query = query.join(" ");
                let found = found(&path, |history| history.search(&query, limit, scope))?;
                let none = match scope {
                    HistoryScope::Global => "nothing found",
                    _ => "nothing found; without --cwd and --session all prompts are searched",
                };
                print(found, none, context)
            }
        }
    }
}

/// The agent directory as a path.
fn directory(context: &Context) -> Result<PathBuf, Failure> {
    match context.store.url() {
        None => Ok(agent_dir()),
        Some(url) if url.contains("://") || url == "memory:" => Err(Failure::Usage(
            "name the agent directory as a path, or the database with --db".to_owned(),
        )),
        Some(path) => Ok(path.into()),
    }
}

fn open(path: &Path) -> Result<HistoryStorage, Failure> {
    let history = HistoryStorage::open(path, HistoryOptions::default())?;
    for diagnostic in history.diagnostics() {
        say("warning", &diagnostic.to_string());
    }
    Ok(history)
}

/// Asks the history; without one there is nothing, which is told, and none is made.
fn found(
    path: &Path,
    ask: impl FnOnce(&HistoryStorage) -> Result<Vec<HistoryEntry>, HistoryError>,
) -> Result<Option<Vec<HistoryEntry>>, Failure> {
    if matches!(path.try_exists(), Ok(false)) {
        say("note", &format!("there is no history {}", path.display()));
        return Ok(None);
    }
    Ok(Some(ask(&open(path)?)?))
}

fn from_input() -> Result<String, Failure> {
    let mut text = String::new();
    let read = io::stdin().lock().read_to_string(&mut text);
    read.map_err(|source| Failure::Input { what: "standard input".to_owned(), source })?;
    Ok(text)
}

/// A directory as the history spells it.
fn absolute(directory: &Path) -> Result<String, Failure> {
    let what = directory.display().to_string();
    let path = match directory.canonicalize() {
        // It may be gone, and its prompts are still there.
        Err(error) if error.kind() == io::ErrorKind::NotFound => std::path::absolute(directory),
        found => found,
    };
    let path = path.map_err(|source| Failure::Input { what, source })?;
    Ok(text_of(&path)?.to_owned())
}

/// Prints what was found; `none` tells on a terminal's behalf that there is nothing.
fn print(
    found: Option<Vec<HistoryEntry>>,
    none: &str,
    context: &mut Context,
) -> Result<(), Failure> {
    if found.as_ref().is_some_and(Vec::is_empty) && !context.json {
        say("note", none);
    }
    let found = found.unwrap_or_default();
    let out = &mut context.out;
    if context.json {
        out.json("[")?.json_list(found.iter().map(json))?;
        return Ok(out.json("]")?.end()?);
    }
    for entry in &found {
        let time = to_iso(entry.created_at.saturating_mul(1000));
        out.text(look::DIM, &time.get(..16).unwrap_or(&time).replace('T', " "))?;
        if let Some(cwd) = &entry.cwd {
            out.text(look::DIM, &format!("  {cwd}"))?;
        }
        out.end()?;
        out.block(&entry.prompt)?;
    }
    Ok(())
}

fn json(entry: &HistoryEntry) -> RawJson {
    let number = |n: i64| to_raw_json(&n).unwrap_or_default();
    let text = |text: &Option<String>| text.as_deref().map(RawJson::string);
    ObjectBuilder::new()
        .raw("id", &number(entry.id))
        .string("prompt", &entry.prompt)
        .raw("createdAt", &number(entry.created_at))
        .optional("cwd", text(&entry.cwd).as_ref())
        .optional("sessionId", text(&entry.session_id).as_ref())
        .build()
}
