//! Which files a branch was about.

use std::collections::BTreeSet;

use session_model::Entry;
use session_model::body::EntryBody;
use session_model::json::{ObjectBuilder, RawJson};
use session_model::message::Message;

/// The files that the tools `read`, `write` and `edit` were called with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BranchSummaryDetails {
    /// Files that were read and not modified, sorted.
    pub read_files: Vec<String>,
    /// Files that were written or edited, sorted.
    pub modified_files: Vec<String>,
}

impl BranchSummaryDetails {
    /// Collects the files of some entries.
    ///
    /// Summaries among them count with the files they name, unless an extension made them.
    pub fn collect<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Self {
        let (mut read, mut modified) = (BTreeSet::new(), BTreeSet::new());
        for entry in entries {
            match entry.body() {
                EntryBody::Message(entry) => {
                    let Message::Assistant(message) = &entry.message else { continue };
                    for call in message.tool_calls() {
                        let files = match call.name.as_str() {
                            "read" => &mut read,
                            "write" | "edit" => &mut modified,
                            _ => continue,
                        };
                        let path = call.arguments.field("path");
                        let path = path.and_then(|path| path.as_text().map(|p| p.into_owned()));
                        files.extend(path.filter(|path| !path.is_empty()));
                    }
                }
                EntryBody::BranchSummary(summary) if !summary.is_from_extension() => {
                    let Some(details) = summary.details else { continue };
                    read.extend(texts(&details, "readFiles"));
                    modified.extend(texts(&details, "modifiedFiles"));
                }
                _ => {}
            }
        }
        Self {
            read_files: read.difference(&modified).cloned().collect(),
            modified_files: modified.into_iter().collect(),
        }
    }

    /// Returns the lists as they are stored: `readFiles` and `modifiedFiles`.
    pub fn to_json(&self) -> RawJson {
        let list = |files: &[String]| {
            RawJson::array(&files.iter().map(|file| RawJson::string(file)).collect::<Vec<_>>())
        };
        ObjectBuilder::new()
            .raw("readFiles", &list(&self.read_files))
            .raw("modifiedFiles", &list(&self.modified_files))
            .build()
    }
}

fn texts(details: &RawJson, name: &str) -> Vec<String> {
    let list = details.field(name).and_then(|list| list.as_array()).unwrap_or_default();
    list.items().iter().filter_map(RawJson::as_text).map(|text| text.into_owned()).collect()
}
