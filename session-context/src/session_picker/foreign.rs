//! Sessions of other tools, which can be imported.

use std::cmp::Reverse;
use std::path::PathBuf;

use nucleo_matcher::Matcher;
use session_model::preview::one_line;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::order::score_of;
use super::{TEXT_CHARS, moved};
use crate::error::with_sources;
use crate::import::{
    FoundSources, Glimpse, ImportError, Source, Tool, find_sources, glimpse, home_of,
};

/// What became of looking for sessions of a tool.
#[derive(Debug)]
#[non_exhaustive]
pub enum ForeignFound {
    /// The files there are, the latest first.
    Sources(Vec<Source>),
    /// What the beginning of a file tells.
    Glimpse(PathBuf, Glimpse),
    /// They cannot be looked for, or one cannot be read.
    Failed(String),
}

/// A thread that looks for the sessions of a tool, where that keeps them.
#[derive(Debug)]
pub struct ForeignLoader(UnboundedReceiver<ForeignFound>);

impl ForeignLoader {
    /// Begins to look.
    pub fn start(tool: Tool) -> Self {
        let (sender, found) = unbounded_channel();
        std::thread::spawn(move || look(tool, &sender));
        Self(found)
    }

    /// Waits for what comes next; `None` if all has come.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: nothing that came is lost.
    pub async fn next(&mut self) -> Option<ForeignFound> {
        self.0.recv().await
    }
}

fn look(tool: Tool, sender: &UnboundedSender<ForeignFound>) {
    let sources = match find_sources(tool, &home_of(tool)) {
        Ok(FoundSources { mut sources, .. }) => {
            sources.sort_by_key(|source| Reverse(source.modified));
            sources
        }
        // Whoever never used a tool has no folder of it.
        Err(ImportError::Read { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
            Vec::new()
        }
        Err(error) => {
            // Nobody is left to tell if sending fails.
            drop(sender.send(ForeignFound::Failed(with_sources(&error))));
            Vec::new()
        }
    };
    if sender.send(ForeignFound::Sources(sources.clone())).is_err() {
        return;
    }
    for source in sources {
        let found = match glimpse(tool, &source.path) {
            Ok(glimpse) => ForeignFound::Glimpse(source.path, glimpse),
            Err(error) => ForeignFound::Failed(with_sources(&error)),
        };
        if sender.send(found).is_err() {
            return;
        }
    }
}

/// Sessions of a tool to choose from, and the place among them.
#[derive(Debug)]
pub struct ForeignState {
    tool: Tool,
    sources: Vec<(Source, Option<Glimpse>)>,
    query: String,
    rows: Vec<usize>,
    cursor: usize,
    matcher: Matcher,
}

impl ForeignState {
    /// Begins with no sessions of a tool.
    pub fn new(tool: Tool) -> Self {
        Self {
            tool,
            sources: Vec::new(),
            query: String::new(),
            rows: Vec::new(),
            cursor: 0,
            matcher: Matcher::default(),
        }
    }

    /// Returns the tool.
    pub fn tool(&self) -> Tool {
        self.tool
    }

    /// Takes the files there are.
    pub fn set_sources(&mut self, sources: Vec<Source>) {
        self.sources = sources.into_iter().map(|source| (source, None)).collect();
        self.update();
    }

    /// Takes what the beginning of a file tells.
    pub fn set_glimpse(&mut self, path: PathBuf, glimpse: Glimpse) {
        if let Some(known) = self.sources.iter_mut().find(|(source, _)| source.path == path) {
            known.1 = Some(glimpse);
        }
        if !self.query.is_empty() {
            self.update();
        }
    }

    /// Returns how many files there are.
    pub fn len(&self) -> usize {
        self.sources.len()
    }

    /// Tells whether there are no files.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// Returns the sessions that are shown, with what is known of each.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &(Source, Option<Glimpse>)> {
        self.rows.iter().map(|&at| &self.sources[at])
    }

    /// Returns the number of the row somebody is at; `None` if no row is shown.
    pub fn cursor(&self) -> Option<usize> {
        (!self.rows.is_empty()).then_some(self.cursor)
    }

    /// Returns the file somebody is at.
    pub fn selected(&self) -> Option<&Source> {
        self.rows.get(self.cursor).map(|&at| &self.sources[at].0)
    }

    /// Returns the words that are searched for.
    pub fn query(&self) -> &str {
        &self.query
    }

    /// Shows only sessions with all these words in title and directory.
    pub fn set_query(&mut self, query: &str) {
        query.clone_into(&mut self.query);
        self.update();
    }

    /// Moves as [`SessionPickerState::move_by`](super::SessionPickerState::move_by) does.
    pub fn move_by(&mut self, rows: isize) {
        self.cursor = moved(self.cursor, self.rows.len(), rows);
    }

    fn update(&mut self) {
        let words: Vec<_> = self.query.split_whitespace().map(super::order::atom).collect();
        let matcher = &mut self.matcher;
        let finds = |&at: &usize| {
            let text = foreign_text(&self.sources[at]);
            words.is_empty() || score_of(&words, &text, matcher).is_some()
        };
        self.rows = (0..self.sources.len()).filter(finds).collect();
        self.cursor = 0;
    }
}

/// Returns what a session of another tool is called: its title, else its file.
pub fn foreign_title((source, glimpse): &(Source, Option<Glimpse>)) -> String {
    let title = glimpse.as_ref().and_then(|glimpse| glimpse.title.as_deref());
    let file = source.path.file_stem().map(|stem| stem.to_string_lossy());
    one_line(title.unwrap_or(&file.unwrap_or_default()), TEXT_CHARS)
}

fn foreign_text(known: &(Source, Option<Glimpse>)) -> String {
    let cwd = known.1.as_ref().and_then(|glimpse| glimpse.cwd.as_deref()).unwrap_or_default();
    format!("{} {}", foreign_title(known), one_line(cwd, TEXT_CHARS))
}
