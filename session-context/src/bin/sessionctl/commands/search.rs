//! `sessionctl search`

use std::path::PathBuf;

use indicatif::ProgressBar;
use session_context::OpenStorageError;
use session_context::env::SystemClock;
use session_context::listing::{CwdFilter, Place, Scope, SessionCatalog};
use session_context::search::{
    SearchCoverage, SearchHit, SearchProgress, SearchRequest, SearchResults, SessionSearch,
    UnreadableSession,
};
use session_model::env::Clock;
use session_model::json::{ObjectBuilder, RawJson, to_raw_json};
use session_model::layout::SESSIONS_DIR;
use session_model::preview::one_line;
use session_model::search::{TextFilter, TextKind};
use session_model::time::{from_iso, to_iso};

use crate::Context;
use crate::failure::Failure;
use crate::output::{Output, TITLE_CHARS, count, look, say};

/// How much of a text is shown around what was found.
const SNIPPET_CHARS: usize = 200;

/// Find entries by their text, the best and latest first
///
/// Searches what users and agents said, names, arguments and results of tools, titles, labels and
/// summaries, in the sessions that work in the present directory or, with --all, in those of all.
/// All words must occur. Three letters or more find what begins with them; "a phrase" stands in
/// this order; -word excludes; a.b finds a, b in a row. Any text will do.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sessionctl search \"login test\"
  sessionctl search --all '\"connection refused\" -redis'
  sessionctl search --all --tool bash --since 7d cargo test
  sessionctl search --role user --cwd ~/project getUserName
  sessionctl search --session 0198c1f2 --json panic")]
pub(crate) struct Search {
    /// What to look for; several words are taken together. Put -- before a word with a dash
    #[arg(required = true, value_name = "QUERY")]
    query: Vec<String>,
    /// Only sessions that work in this directory
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// Sessions of all directories
    #[arg(long, conflicts_with = "cwd")]
    all: bool,
    /// Only this session
    #[arg(long, value_name = "SESSION", conflicts_with_all = ["cwd", "all"])]
    session: Option<String>,
    /// Only what was written since then: a date such as 2026-03-01, or 7d, 12h, 30m ago
    #[arg(long, value_name = "TIME", value_parser = time)]
    since: Option<i64>,
    /// Only what was written before then
    #[arg(long, value_name = "TIME", value_parser = time)]
    until: Option<i64>,
    /// Only entries of this role: user, assistant, tool, title, compaction and so on
    #[arg(long)]
    role: Option<String>,
    /// Only calls and results of this tool
    #[arg(long)]
    tool: Option<String>,
    /// Only what a model wrote whose name, or provider/name, begins so
    #[arg(long)]
    model: Option<String>,
    /// Search what models thought, too
    #[arg(long)]
    thinking: bool,
    /// Read the sessions themselves, whether there is an index of their texts or not
    #[arg(long)]
    #[cfg_attr(not(feature = "indexed"), allow(dead_code))]
    no_index: bool,
    /// At most so many entries
    #[arg(long, value_name = "NUMBER", default_value_t = 20)]
    limit: usize,
}

impl Search {
    pub(crate) async fn run(self, context: &mut Context) -> Result<(), Failure> {
        let mut request = SearchRequest::new(&self.query.join(" ")).limit(self.limit);
        request.snippet_chars = SNIPPET_CHARS;
        request.filter = TextFilter {
            role: self.role.clone(),
            tool: self.tool.clone(),
            model: self.model.clone(),
            since_ms: self.since,
            until_ms: self.until,
            thinking: self.thinking,
        };
        let is_empty = request.query.is_empty();
        if is_empty {
            say("note", "the query has no letters, digits or signs that could be found");
        }
        let place = self.place(context, &mut request).await?;
        let is_narrowed = request.cwd.is_some();
        #[cfg(feature = "indexed")]
        let uses_index = !self.no_index
            && place.as_ref().is_some_and(|place| matches!(place.scope, Scope::All(_)));
        let search = SessionSearch::new(SessionCatalog::new(place.into_iter().collect()));
        #[cfg(feature = "indexed")]
        let search = if uses_index { search.with_index() } else { search };
        // Drawn on a terminal only.
        let bar = ProgressBar::new(0);
        let progress = |SearchProgress { done, total, .. }| {
            bar.set_length(total);
            bar.set_position(done);
        };
        let results = search.search(request, progress).await;
        bar.finish_and_clear();
        let results = results?;
        if self.session.is_some()
            && let Some(session) = results.coverage.unreadable.first()
        {
            return Err(Failure::Refused(not_searched(session)));
        }
        if context.json {
            return print_json(&results, &mut context.out);
        }
        print(&results, &mut context.out)?;
        tell(&results.coverage);
        if results.hits.is_empty() && !is_empty {
            say("note", &self.nothing_found(is_narrowed));
        }
        Ok(())
    }

    /// Says that nothing was found, and what kept more from being searched.
    fn nothing_found(&self, is_narrowed: bool) -> String {
        let filters = [
            ("--role", self.role.is_some()),
            ("--tool", self.tool.is_some()),
            ("--model", self.model.is_some()),
            ("--since", self.since.is_some()),
            ("--until", self.until.is_some()),
        ];
        let used: Vec<_> = filters.into_iter().filter(|(_, is_used)| *is_used).collect();
        let mut told = "nothing found".to_owned();
        if is_narrowed {
            told.push_str(" in sessions of this directory; --all searches those of all");
        }
        if !used.is_empty() {
            let names: Vec<_> = used.iter().map(|(name, _)| *name).collect();
            told.push_str(&format!("; more is searched without {}", names.join(", ")));
        }
        told
    }

    /// Where to search; nowhere if there is no agent directory.
    async fn place(
        &self,
        context: &Context,
        request: &mut SearchRequest,
    ) -> Result<Option<Place>, Failure> {
        if let Some(session) = &self.session {
            let target = context.store.existing(session).await?.in_agent_dir(&context.store)?;
            let sessions = format!("{SESSIONS_DIR}/");
            let scope = match target.key.as_str().starts_with(&sessions) {
                true => Scope::All(SESSIONS_DIR.parse()?),
                false => Scope::Root,
            };
            request.session = Some(target.key);
            return Ok(Some(Place { storage: target.storage, scope }));
        }
        let cwd = match &self.cwd {
            Some(cwd) => Some(std::path::absolute(cwd)),
            None if self.all => None,
            None => Some(std::env::current_dir()),
        };
        let input = |source| Failure::Input { what: "the directory".into(), source };
        request.cwd =
            cwd.transpose().map_err(input)?.map(|cwd| CwdFilter::local(&cwd.to_string_lossy()));
        match context.store.storage() {
            Err(OpenStorageError::Missing { path }) if context.store.url().is_none() => {
                say("note", &format!("there is no agent directory {}", path.display()));
                Ok(None)
            }
            opened => Ok(Some(Place::agent_dir(opened?)?)),
        }
    }
}

/// Reads a date, or how long ago a moment was.
fn time(text: &str) -> Result<i64, String> {
    if let Some(at) = from_iso(text) {
        return Ok(at);
    }
    let unit = match text.chars().last() {
        Some('w') => 7 * 24 * 3_600_000,
        Some('d') => 24 * 3_600_000,
        Some('h') => 3_600_000,
        Some('m') => 60_000,
        _ => 0,
    };
    let number = text.get(..text.len().saturating_sub(1)).and_then(|n| n.parse::<i64>().ok());
    match number.filter(|_| unit > 0) {
        Some(number) => Ok(SystemClock.now_ms().saturating_sub(number.saturating_mul(unit))),
        None => Err("write a date such as 2026-03-01, or 7d, 12h or 30m".to_owned()),
    }
}

fn print(results: &SearchResults, out: &mut Output) -> Result<(), Failure> {
    for hit in &results.hits {
        print_hit(hit, out)?;
    }
    let Some(first) = results.hits.first() else { return Ok(()) };
    let shown = results.hits.len();
    let about = if results.total_is_exact { "" } else { "at most " };
    let found = count(usize::try_from(results.total).unwrap_or(usize::MAX), "entry", "entries");
    out.text(look::DIM, &format!("{shown} of {about}{found}"))?.end()?;
    let location = quoted(&first.session.location());
    let open = match &first.entry {
        Some(id) => format!(
            "sessionctl show {location} --entry {0}; sessionctl context {location} --leaf {0}",
            quoted(id)
        ),
        None => format!("sessionctl show {location}"),
    };
    out.text(look::DIM, &format!("open the first with: {open}"))?.end()?;
    Ok(())
}

fn print_hit(hit: &SearchHit, out: &mut Output) -> Result<(), Failure> {
    let time = hit.written_ms.map(to_iso).unwrap_or_default();
    let entry = hit.entry.as_deref().unwrap_or("-");
    out.text(look::ID, entry)?;
    out.text(look::DIM, &format!("  {}", time.get(..16).unwrap_or(&time).replace('T', " ")))?;
    let role = match hit.kind {
        TextKind::Thinking => format!("{} (thinking)", hit.role),
        _ => hit.role.clone(),
    };
    out.text(look::PLAIN, &format!("  {role}"))?;
    if let Some(title) = &hit.session.title {
        out.text(look::STRONG, &format!("  {}", one_line(title, TITLE_CHARS)))?;
    }
    out.end()?;
    out.text(look::DIM, &format!("  {}:{}", hit.session.location(), hit.line))?.end()?;
    out.text(look::PLAIN, "  ")?;
    let (mut at, text) = (0, &hit.snippet.text);
    for range in &hit.snippet.highlights {
        out.text(look::PLAIN, &text[at..range.start])?;
        out.text(look::LABEL, &text[range.clone()])?;
        at = range.end;
    }
    out.text(look::PLAIN, &text[at..])?.end()?;
    Ok(())
}

/// Tells what was not searched.
fn tell(coverage: &SearchCoverage) {
    let number = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    for session in coverage.unreadable.iter().take(MAX_TOLD) {
        say("warning", &not_searched(session));
    }
    if let Some(more) = coverage.unreadable.len().checked_sub(MAX_TOLD).filter(|more| *more > 0) {
        say("warning", &format!("not searched: {}", count(more, "more file", "more files")));
    }
    if coverage.not_reached > 0 {
        let left = count(number(coverage.not_reached), "session", "sessions");
        say("warning", &format!("{left} were not searched in the time there was"));
    }
    if let Some(reason) = &coverage.index_unusable {
        say("note", &format!("sessions were read without an index: {reason}"));
    }
    for diagnostic in &coverage.index_notes {
        say("warning", diagnostic);
    }
    if coverage.candidates_left {
        say("warning", "there may be more; narrow the search to see them");
    }
    if coverage.query_is_cut {
        say("warning", "the query is too long; only its first 64 words were looked for");
    }
    if coverage.cut_entries > 0 {
        let entries = count(number(coverage.cut_entries), "long entry", "long entries");
        say("note", &format!("of {entries} only the first 64 KiB of text were searched"));
    }
}

fn not_searched(session: &UnreadableSession) -> String {
    format!("not searched: {}: {}", session.location, session.reason)
}

/// How many files that were not searched are named.
const MAX_TOLD: usize = 20;

fn print_json(results: &SearchResults, out: &mut Output) -> Result<(), Failure> {
    let hits: Vec<_> = results.hits.iter().map(SearchHit::to_json).collect();
    let document = ObjectBuilder::new()
        .raw("hits", &RawJson::array(&hits))
        .raw("total", &to_raw_json(&results.total).unwrap_or_default())
        .raw("totalIsExact", &to_raw_json(&results.total_is_exact).unwrap_or_default())
        .raw("coverage", &results.coverage.to_json())
        .build();
    Ok(out.json(document.as_str())?.end()?)
}

/// A text as a shell takes it for one word.
fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%".contains(c);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}
