//! `sessionctl export`

use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use session_context::export::foreign::{ForeignSession, to_claude, to_codex};
use session_context::export::{Export, ExportOptions, Format, Scope};
use session_model::json::{ObjectBuilder, RawJson, to_raw_json};

use crate::Context;
use crate::bar::Bar;
use crate::failure::Failure;
use crate::new_file::{Inputs, STDOUT, write_file};
use crate::output::{Output, count, say};
use crate::target::Shown;

/// Write a session as Markdown, a page, JSON or text, or for Claude Code or Codex to go on with,
/// without the secrets in it
///
/// Keys, tokens, passwords and what looks like them become `[redacted:kind]`, wherever they stand;
/// what was hidden is told. Look through what you hand on all the same: what is a secret only you
/// may know. The session is left as it is.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sessionctl export session.jsonl
  sessionctl export session.jsonl -o session.html
  sessionctl export 0195d3c4 --format json -o - | jq .title
  sessionctl export session.jsonl --leaf 3c6ef362 --format text -o -
  sessionctl export session.jsonl --format claude")]
pub(crate) struct ExportArgs {
    /// The session
    session: String,
    /// How it is written; default: as the name of FILE ends, and md if that has no ending
    #[arg(long, short, value_name = "NAME", value_parser = format())]
    format: Option<Format>,
    /// Where to; `-` is standard output. Default: a file named as the session, in the present
    /// directory
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace FILE if it is there and a regular file, or a link to one
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    scope: ScopeArgs,
    /// Leave secrets in
    #[arg(long)]
    no_redact: bool,
}

/// Which entries are meant.
#[derive(Debug, clap::Args)]
#[group(multiple = false)]
struct ScopeArgs {
    /// The path to this entry
    #[arg(long, value_name = "ID")]
    leaf: Option<String>,
    /// The path to this entry, and all that hangs from it
    #[arg(long, value_name = "ID")]
    branch: Option<String>,
    /// The path in use; the default for md, text and codex
    #[arg(long)]
    path: bool,
    /// All branches; the default for html, json and claude
    #[arg(long)]
    all: bool,
}

impl ScopeArgs {
    fn scope(self, format: Format) -> Scope {
        match (self.leaf, self.branch) {
            (Some(id), _) => Scope::Path(Some(id)),
            (None, Some(id)) => Scope::Branch(id),
            _ if self.all || (format.shows_trees() && !self.path) => Scope::All,
            _ => Scope::Path(None),
        }
    }
}

impl ExportArgs {
    pub(crate) async fn run(self, context: &mut Context) -> Result<(), Failure> {
        let to_stdout = self.output.as_deref() == Some(Path::new(STDOUT));
        if to_stdout && context.json {
            let text = "--json tells about the file; with -o - the export itself is printed";
            return Err(Failure::Usage(format!("{text}: leave one of them out")));
        }
        let format = self.format.map_or_else(|| implied(self.output.as_deref()), Ok)?;
        let target = context.store.existing(&self.session).await?;
        let mut inputs = Inputs::default();
        inputs.add(&*target.storage, &target.key, &target.blobs)?;
        let manager = context.store.read_target(target, Shown::Whole).await?;
        let mut options = ExportOptions::default().scope(self.scope.scope(format));
        options.redact = !self.no_redact;
        let bar = Bar::new();
        let progress = |done, all| bar.tell(done, all);
        let export = Export::with_progress(manager.document(), &options, progress)?;
        drop(bar);
        let name = manager.key().file_name();
        tell(&export);
        let handed = match format {
            Format::Claude => Some(to_claude(&export.handed())),
            Format::Codex => Some(to_codex(&export.handed())),
            _ => None,
        };
        if let Some(unreadable) = handed.as_ref().map(ForeignSession::unreadable).filter(|n| *n > 0)
        {
            let number = usize::try_from(unreadable).unwrap_or(usize::MAX);
            let records = count(number, "record does", "records do");
            say(
                "warning",
                &format!("{records} not read back as expected; keep the session itself"),
            );
        }
        let text = match &handed {
            Some(session) => session.to_text(),
            None => export.render(format),
        };
        if to_stdout && matches!(format, Format::Json | Format::Claude | Format::Codex) {
            context.out.json(&text)?;
            return Ok(());
        }
        if to_stdout {
            return Ok(context.out.bytes(text.as_bytes())?);
        }
        let stem = name.strip_suffix(".jsonl").unwrap_or(name);
        // The tools find a session by the name of its file.
        let own_name = handed.as_ref().and_then(|session| session.path.rsplit('/').next());
        let path = self.output.unwrap_or_else(|| match own_name {
            Some(name) => name.into(),
            None => format!("{stem}.{}", format.extension()).into(),
        });
        write_file(&path, text.as_bytes(), self.force, &inputs)?;
        let (bytes, handed) = (text.len(), handed.as_ref());
        let written = Written { path: &path, format, bytes, export: &export, handed };
        if context.json {
            context.out.json(written.json().as_str())?.end()?;
            return Ok(());
        }
        written.print(&mut context.out)
    }
}

/// Tells what was hidden, or that nothing was.
fn tell(export: &Export) {
    match export.hidden() {
        None => say("warning", "secrets were not looked for and may be in it (--no-redact)"),
        Some(hidden) => hidden.to_string().lines().for_each(|line| say("hidden", line)),
    }
}

/// The format that the name of a file stands for.
fn implied(path: Option<&Path>) -> Result<Format, Failure> {
    let Some(extension) = path.and_then(Path::extension) else { return Ok(Format::Markdown) };
    let is_document = |format: &Format| !matches!(format, Format::Claude | Format::Codex);
    let is =
        |format: &Format| is_document(format) && extension.eq_ignore_ascii_case(format.extension());
    Format::ALL.into_iter().find(is).ok_or_else(|| {
        let extension = extension.display();
        Failure::Usage(format!("no format goes with .{extension}; choose one with --format"))
    })
}

fn format() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(Format::ALL.map(Format::as_str))
        .try_map(|name| name.parse::<Format>())
}

struct Written<'a> {
    path: &'a Path,
    format: Format,
    bytes: usize,
    export: &'a Export,
    handed: Option<&'a ForeignSession>,
}

impl Written<'_> {
    fn print(&self, out: &mut Output) -> Result<(), Failure> {
        let entries = count(self.export.tree().len(), "entry", "entries");
        let path = self.path.display();
        out.line(&format!("wrote {path}: {entries}, {} bytes", self.bytes))?;
        let Some(handed) = self.handed else { return Ok(()) };
        out.line(&format!("the tool finds it as {} in its home", handed.path))?;
        for (loss, count) in handed.loss.counts() {
            out.line(&format!("left out: {} ({count})", loss.text()))?;
        }
        Ok(())
    }

    fn json(&self) -> RawJson {
        let number = |n: usize| to_raw_json(&n).unwrap_or_default();
        let hidden = self.export.hidden().map(|hidden| hidden.to_json());
        let place = self.handed.map(|handed| RawJson::string(&handed.path));
        let lost = self.handed.map(|handed| handed.loss.to_json());
        ObjectBuilder::new()
            .string("file", &self.path.to_string_lossy())
            .string("format", self.format.as_str())
            .raw("entries", &number(self.export.tree().len()))
            .raw("bytes", &number(self.bytes))
            .raw("redacted", &hidden.unwrap_or_default())
            .optional("place", place.as_ref())
            .optional("lost", lost.as_ref())
            .build()
    }
}
