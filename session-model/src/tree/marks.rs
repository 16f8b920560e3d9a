//! What entries say of other entries and of the session: labels, archived branches, titles.

use std::collections::HashMap;

use crate::entry::{Entry, EntryKind};
use crate::json::RawJson;

/// Marks in force; the last record for a target wins, wherever it stands.
#[derive(Clone, Debug, Default)]
pub(super) struct Marks {
    labels: HashMap<String, String>,
    archived: HashMap<String, bool>,
    title: Option<String>,
}

impl Marks {
    pub(super) fn note(&mut self, entry: &Entry) {
        let text = |name: &str| entry.fields().text(name).map(|t| t.into_owned());
        match entry.kind() {
            EntryKind::Label => {
                let Some(target) = text("targetId") else { return };
                match text("label").filter(|label| !label.is_empty()) {
                    Some(label) => self.labels.insert(target, label),
                    None => self.labels.remove(&target),
                };
            }
            EntryKind::Archive => {
                let archived = entry.fields().get("archived").and_then(RawJson::as_bool);
                if let (Some(target), Some(archived)) = (text("targetId"), archived) {
                    self.archived.insert(target, archived);
                }
            }
            EntryKind::TitleChange => self.title = text("title").or(self.title.take()),
            EntryKind::SessionInfo => self.title = text("name").or(self.title.take()),
            _ => {}
        }
    }

    pub(super) fn label(&self, id: &str) -> Option<&str> {
        self.labels.get(id).map(String::as_str)
    }

    pub(super) fn labels(&self) -> Vec<(&str, &str)> {
        let mut labels: Vec<_> =
            self.labels.iter().map(|(id, label)| (id.as_str(), label.as_str())).collect();
        labels.sort_unstable();
        labels
    }

    pub(super) fn is_archived(&self, id: &str) -> bool {
        self.archived.get(id).copied().unwrap_or(false)
    }

    pub(super) fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }
}
