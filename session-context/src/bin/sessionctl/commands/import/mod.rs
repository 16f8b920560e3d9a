//! `sessionctl import`

mod picker;
mod report;

use std::path::PathBuf;

use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use session_context::OpenStorageError;
use session_context::import::{
    ImportError, ImportOptions, Importer, Source, Tool, find_sources, glimpse, home_of,
};
use session_context::listing::CwdFilter;
use session_context::open_storage;

use crate::Context;
use crate::failure::{Failure, chain};
use crate::output::{count, say};
use crate::place::canonical_dir;
use report::Sums;

/// Bring sessions of Claude Code or Codex into the agent directory
///
/// A file, all sessions in a directory, or, without a path, all of the tool; on a terminal you are
/// asked which. The same source always becomes the same session: if that is there, it gets what the
/// source has grown by. Sources are only read. Exit code 1 if one of them could not be imported.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sessionctl import claude
  sessionctl import codex --all --cwd .
  sessionctl import claude ~/backup/.claude --dry-run
  sessionctl import codex rollout-2026-03-01T09-00-00-019ca0c0.jsonl --json")]
pub(crate) struct Import {
    /// Whose sessions they are
    #[arg(value_enum)]
    tool: ToolName,
    /// Files, directories, or homes of the tool; default: $CLAUDE_CONFIG_DIR or ~/.claude,
    /// $CODEX_HOME or ~/.codex
    #[arg(value_name = "PATH")]
    places: Vec<PathBuf>,
    /// Take only sessions that worked in this directory
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// Take all without asking
    #[arg(long)]
    all: bool,
    /// Only tell what would be done
    #[arg(long)]
    dry_run: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ToolName {
    Claude,
    Codex,
}

impl From<ToolName> for Tool {
    fn from(name: ToolName) -> Self {
        match name {
            ToolName::Claude => Self::Claude,
            ToolName::Codex => Self::Codex,
        }
    }
}

impl Import {
    pub(crate) async fn run(self, context: &mut Context) -> Result<(), Failure> {
        let tool = Tool::from(self.tool);
        let mut sums = Sums::new(context.json, self.dry_run);
        let mut sources = self.sources(tool, &mut sums)?;
        if self.places.is_empty() && !self.all && !context.json && picker::can_ask() {
            sources = picker::pick(tool, sources, &mut context.out)?;
        }
        if sources.is_empty() {
            say("note", &format!("there is no session of {tool} to import"));
        }
        let storage = match context.store.storage() {
            Err(OpenStorageError::Missing { .. }) if self.dry_run || sources.is_empty() => {
                open_storage("memory:")?
            }
            Err(OpenStorageError::Missing { .. }) => context.store.storage_or_new()?,
            opened => opened?,
        };
        let mut options = ImportOptions::default();
        options.dry_run = self.dry_run;
        options.owner = "sessionctl import".to_owned();
        let mut importer = Importer::new(storage.clone(), options);
        let bar = bar(context.json || sources.len() < 2, sources.len());
        for source in &sources {
            let imported = importer.import(tool, &source.path).await;
            bar.inc(1);
            bar.suspend(|| sums.take(source, imported, &*storage, &mut context.out))?;
        }
        bar.finish_and_clear();
        sums.finish(&mut context.out)
    }

    /// The sources that are meant.
    fn sources(&self, tool: Tool, sums: &mut Sums) -> Result<Vec<Source>, Failure> {
        let home = [home_of(tool)];
        if self.places.is_empty() && !home[0].exists() {
            let home = home[0].display();
            return Err(Failure::Refused(format!(
                "there is no {home}; name a file or a directory with sessions of {tool}"
            )));
        }
        let places = if self.places.is_empty() { &home[..] } else { &self.places };
        let mut sources = Vec::new();
        for place in places {
            let found = find_sources(tool, place)?;
            if found.agents > 0 {
                let agents = count(found.agents, "file", "files");
                say("note", &format!("passed over: {agents} of agents that worked for others"));
            }
            found.unreadable.into_iter().for_each(|error| sums.cannot_look(error));
            sources.extend(found.sources);
        }
        if let Some(directory) = &self.cwd {
            let mut filter = CwdFilter::local(&wanted_dir(directory)?);
            sources.retain(|source| match glimpse(tool, &source.path) {
                Ok(glimpse) => glimpse.cwd.is_some_and(|cwd| filter.admits(&cwd)),
                // It is told when it is to be imported.
                Err(_) => true,
            });
        }
        Ok(sources)
    }
}

/// A directory that need not exist any more.
fn wanted_dir(directory: &std::path::Path) -> Result<String, Failure> {
    if directory.is_dir() {
        return canonical_dir(directory);
    }
    let what = || directory.display().to_string();
    let absolute =
        std::path::absolute(directory).map_err(|source| Failure::Input { what: what(), source })?;
    Ok(absolute.to_string_lossy().into_owned())
}

/// A bar on the terminal, if standard error is one.
fn bar(hidden: bool, total: usize) -> ProgressBar {
    let target = if hidden { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    let bar = ProgressBar::with_draw_target(Some(total as u64), target);
    match ProgressStyle::with_template("{bar:30} {pos} of {len} sessions, {eta} left") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// Says why a source is not imported.
fn say_failed(error: &ImportError) {
    say("error", &chain(error));
}
