//! What is said about other entries.

use crate::record::record;

record! {
    /// An entry of type `label`; the last one for a target holds.
    pub struct Label {
        /// The id of the labelled entry.
        target_id: String = "targetId",
        /// The label; a missing or empty one clears.
        label: Option<String> = "label",
    }
}

impl Label {
    /// Returns the label, unless this entry clears it.
    pub fn label(&self) -> Option<&str> {
        self.label.as_deref().filter(|label| !label.is_empty())
    }
}

record! {
    /// An entry of type `archive`; the last one for a target holds.
    pub struct Archive {
        /// The id of the entry whose subtree is meant.
        target_id: String = "targetId",
        /// Whether the subtree is hidden.
        archived: bool = "archived",
    }
}
