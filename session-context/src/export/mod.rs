//! Sessions as documents for people and other programs: Markdown, text, HTML, JSON.
//!
//! [`Export`] takes a session or a part of it and, unless told otherwise, hides secrets in it;
//! [`Export::render`] writes it in a [`Format`]. Every format is made of the same hidden form, so
//! none leaks what another hides.

mod details;
mod file;
pub mod foreign;
mod format;
mod html;
mod item;
mod json;
mod markdown;
mod part;
mod scope;
#[cfg(test)]
mod tests;
mod text;
pub(crate) mod visible;

use std::collections::BTreeMap;

use session_model::json::RawJson;
use session_model::tree::{NodeId, SessionTree, TreeOptions};
use session_model::{Entry, SessionDocument};

use crate::error::Result;
use crate::redact::{RedactionReport, Redactor};

pub use file::{WriteFileError, write_file};
use foreign::{Handed, to_claude, to_codex};
pub use format::{Format, UnknownFormat};
pub use scope::Scope;

/// What an export holds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExportOptions {
    /// Which entries; default: the path to the leaf.
    pub scope: Scope,
    /// Whether secrets are hidden; default: yes.
    pub redact: bool,
}

impl Default for ExportOptions {
    fn default() -> Self {
        Self { scope: Scope::default(), redact: true }
    }
}

impl ExportOptions {
    /// These options with other entries.
    pub fn scope(self, scope: Scope) -> Self {
        Self { scope, ..self }
    }

    /// These options, leaving secrets in.
    pub fn without_redaction(self) -> Self {
        Self { redact: false, ..self }
    }
}

/// A session, or a part of it, as it is to be handed on.
///
/// ```
/// use session_context::export::{Export, ExportOptions, Format};
/// use session_model::document::{LoadOptions, SessionDocument};
///
/// let file = concat!(
///     r#"{"type":"session","version":3,"id":"s","cwd":"/w"}"#, "\n",
///     r#"{"type":"message","id":"a","message":{"role":"user","content":"TOKEN=abcd1234"}}"#, "\n",
/// );
/// let document = SessionDocument::load(file.into(), &LoadOptions::default())?.document;
/// let export = Export::new(&document, &ExportOptions::default())?;
/// assert!(export.render(Format::Text).contains("TOKEN=[redacted:named-secret]"));
/// assert_eq!(export.hidden().unwrap().total(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Export {
    header: RawJson,
    title: Option<String>,
    tree: SessionTree,
    labels: BTreeMap<String, String>,
    scope: Scope,
    hidden: Option<RedactionReport>,
}

impl Export {
    /// Takes what is wanted of a session.
    ///
    /// # Errors
    ///
    /// [`SessionError::UnknownEntry`](crate::SessionError::UnknownEntry) if the scope names one;
    /// [`SessionError::Redact`](crate::SessionError::Redact) if secrets are to be hidden and this
    /// build cannot look for every kind of them.
    pub fn new(document: &SessionDocument, options: &ExportOptions) -> Result<Self> {
        Self::with_progress(document, options, |_, _| {})
    }

    /// Takes what is wanted of a session; `progress` is told how many bytes were looked through for
    /// secrets, and how many there are.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn with_progress(
        document: &SessionDocument,
        options: &ExportOptions,
        progress: impl FnMut(u64, u64),
    ) -> Result<Self> {
        let tree = document.tree();
        let (nodes, leaf) = options.scope.nodes(tree)?;
        let mut parts = Parts {
            header: document.header().folded_json(),
            title: document.title().map(|title| RawJson::string(&title)),
            entries: nodes.iter().map(|node| tree.entry(*node).json()).collect(),
            labels: labels(tree, &nodes),
        };
        let hidden = match options.redact {
            true => Some(parts.hide(Redactor::new()?, progress)),
            false => None,
        };
        let taken = parts.entries.iter().filter_map(Entry::from_json);
        let mut entries = SessionTree::from_entries(taken.collect());
        let leaf = leaf.and_then(|leaf| nodes.iter().position(|node| *node == leaf));
        entries.set_leaf(leaf.and_then(|at| entries.nodes().nth(at)));
        let text = |json: RawJson| json.as_text().map(|text| text.into_owned());
        Ok(Self {
            header: parts.header,
            title: parts.title.and_then(text),
            tree: entries,
            labels: parts
                .labels
                .into_iter()
                .filter_map(|(id, label)| Some((text(id)?, text(label)?)))
                .collect(),
            scope: options.scope.clone(),
            hidden,
        })
    }

    /// Returns the session's header, the title in force included.
    pub fn header(&self) -> &RawJson {
        &self.header
    }

    /// Returns the session's title.
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// Returns the entries, in file order or in that of the path, with the leaf among them.
    pub fn tree(&self) -> &SessionTree {
        &self.tree
    }

    /// Returns what was hidden; `None` if secrets were left in.
    pub fn hidden(&self) -> Option<&RedactionReport> {
        self.hidden.as_ref()
    }

    /// Writes the export.
    pub fn render(&self, format: Format) -> String {
        match format {
            Format::Markdown => markdown::render(self),
            Format::Text => text::render(self),
            Format::Html => html::render(self),
            Format::Json => json::render(self),
            Format::Claude => to_claude(&self.handed()).to_text(),
            Format::Codex => to_codex(&self.handed()).to_text(),
        }
    }

    /// Returns what there is to hand to another tool.
    pub fn handed(&self) -> Handed<'_> {
        Handed::new(&self.header, self.title.clone(), &self.tree)
    }

    /// The label of an entry.
    fn label(&self, entry: &Entry) -> Option<&str> {
        self.labels.get(&*entry.id()?).map(String::as_str)
    }

    /// A field of the header that is text.
    fn header_text(&self, name: &str) -> Option<String> {
        Some(self.header.field(name)?.as_text()?.into_owned()).filter(|text| !text.is_empty())
    }
}

/// What an export is made of, all as JSON so that one way of hiding fits.
struct Parts {
    header: RawJson,
    title: Option<RawJson>,
    entries: Vec<RawJson>,
    /// Ids and labels.
    labels: Vec<(RawJson, RawJson)>,
}

impl Parts {
    fn hide(
        &mut self,
        mut redactor: Redactor,
        mut progress: impl FnMut(u64, u64),
    ) -> RedactionReport {
        let bytes = self.entries.iter().map(|entry| entry.as_bytes().len() as u64).sum::<u64>() * 2;
        let mut done = 0;
        let mut tell = |value: &RawJson| {
            done += value.as_bytes().len() as u64;
            progress(done.min(bytes), bytes);
        };
        self.each(|place, value| {
            tell(value);
            redactor.hide(place, value)
        });
        self.each(|place, value| {
            tell(value);
            redactor.hide_known(place, value)
        });
        redactor.into_report()
    }

    fn each(&mut self, mut hide: impl FnMut(&str, &RawJson) -> RawJson) {
        self.header = hide("header", &self.header);
        self.title = self.title.as_ref().map(|title| hide("title", title));
        for entry in &mut self.entries {
            let id = entry.field("id").and_then(|id| id.as_text().map(|id| id.into_owned()));
            *entry = hide(&format!("entry {}", id.unwrap_or_default()), entry);
        }
        for (id, label) in &mut self.labels {
            *id = hide("label", id);
            *label = hide("label", label);
        }
    }
}

/// The labels of entries, from wherever in the session they were given.
fn labels(tree: &SessionTree, nodes: &[NodeId]) -> Vec<(RawJson, RawJson)> {
    let ids = nodes.iter().filter_map(|node| tree.entry(*node).id());
    let labels =
        ids.filter_map(|id| Some((RawJson::string(&id), RawJson::string(tree.label_for(&id)?))));
    labels.collect()
}

/// The entries as they are read: each before those that hang from it.
fn reading_order(export: &Export) -> Vec<NodeId> {
    let rows = export.tree.rows(TreeOptions::with_archived());
    rows.iter().map(|row| row.node).collect()
}

/// Where an entry hangs that does not hang from the one before it.
fn branch_point(export: &Export, node: NodeId, before: Option<NodeId>) -> Option<String> {
    let before = before?;
    match export.tree.parent_of(node) {
        Some(parent) if parent == before => None,
        Some(parent) => Some(export.tree.entry(parent).id().unwrap_or_default().into_owned()),
        None => Some("the root".to_owned()),
    }
}
