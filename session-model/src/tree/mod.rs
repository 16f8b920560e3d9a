//! The tree the entries of a session form.
//!
//! File order is not tree order: an entry hangs from the one its `parentId` names. Nothing here
//! recurses, so a chain of a million entries builds, walks and drops like any other.

mod check;
mod ids;
mod links;
mod marks;
mod rows;

use std::borrow::Cow;
use std::collections::HashMap;

use crate::entry::{Entry, Parent};
use ids::IdIndex;
use links::{Links, NONE};
use marks::Marks;
pub use rows::{TreeOptions, TreeRow, TreeRows};

/// The place of an entry in its session: entries are numbered from 0 in file order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(u32);

impl NodeId {
    /// Returns the place as an index into [`SessionTree::entries`].
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The place of the last of so many entries.
    pub(crate) fn last_of(entries: usize) -> Self {
        Self(entries.saturating_sub(1) as u32)
    }
}

/// The entries of a session with an index over them.
///
/// Looking up an id and asking for the leaf takes constant time, the children of an entry take
/// time for each child, a path for each step, the sorted tree n log n at worst.
///
/// ```
/// use session_model::{Entry, json::RawJson, tree::SessionTree};
///
/// let entry = |text: &str| Entry::from_json(&RawJson::parse(text.to_owned()).unwrap()).unwrap();
/// let mut tree = SessionTree::default();
/// tree.insert(entry(r#"{"type":"custom","id":"a","parentId":null}"#));
/// let b = tree.insert(entry(r#"{"type":"custom","id":"b","parentId":"a"}"#));
/// let c = tree.insert(entry(r#"{"type":"custom","id":"c","parentId":"a"}"#));
/// let a = tree.find("a").unwrap();
/// assert_eq!(tree.leaf(), Some(c));
/// assert_eq!(tree.path_to(b), [a, b]);
/// assert_eq!(tree.children_of(a).collect::<Vec<_>>(), [b, c]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct SessionTree {
    entries: Vec<Entry>,
    ids: IdIndex,
    links: Links,
    marks: Marks,
    /// Who waits for an id that has not come yet.
    pending: HashMap<String, Vec<u32>>,
    /// Entries whose id a later one has too.
    shadowed: Vec<u32>,
    /// Entries without an id.
    nameless: Vec<u32>,
    leaf: Option<NodeId>,
}

impl SessionTree {
    /// Builds the tree of entries in file order; the last becomes the leaf.
    pub fn from_entries(entries: Vec<Entry>) -> Self {
        let mut tree = Self::default();
        tree.entries.reserve_exact(entries.len());
        entries.into_iter().for_each(|entry| tree.push_unlinked(entry));
        tree.link_all();
        tree
    }

    /// Adds an entry of a file being read; [`link_all`](Self::link_all) must follow.
    pub(crate) fn push_unlinked(&mut self, entry: Entry) {
        self.index(entry);
    }

    /// Links all entries and makes the last the leaf.
    pub(crate) fn link_all(&mut self) {
        self.links.relink();
        self.leaf = self.nodes().next_back();
    }

    /// Adds an entry behind all others and makes it the leaf.
    pub fn insert(&mut self, entry: Entry) -> NodeId {
        let awaited = self.index(entry);
        let node = self.entries.len() as u32 - 1;
        if awaited {
            self.links.relink();
        } else {
            self.links.link(node);
        }
        self.leaf = Some(NodeId(node));
        NodeId(node)
    }

    /// Adds an entry without linking it; tells whether earlier ones named it as their parent.
    fn index(&mut self, entry: Entry) -> bool {
        let node = self.entries.len() as u32;
        let parent = self.resolve(&entry, node);
        self.links.push(parent);
        self.marks.note(&entry);
        let mut waiting = Vec::new();
        match entry.id() {
            None => self.nameless.push(node),
            Some(id) => {
                self.shadowed.extend(self.ids.set(&self.entries, node, &id));
                if !self.pending.is_empty() {
                    waiting = self.pending.remove(&*id).unwrap_or_default();
                }
            }
        }
        waiting.iter().for_each(|&child| self.links.set_parent(child, node));
        self.entries.push(entry);
        !waiting.is_empty()
    }

    /// An id given twice means the latest entry before the one that names it: what comes later
    /// cannot have been meant when the line was written.
    fn resolve(&mut self, entry: &Entry, node: u32) -> u32 {
        if self.entries.last().is_some_and(|previous| entry.spells_parent(previous)) {
            return node - 1;
        }
        let Parent::Id(parent) = entry.parent() else { return NONE };
        match self.ids.get(&self.entries, &parent) {
            Some(found) => found,
            None if entry.id().is_some_and(|id| id == parent) => NONE,
            None => {
                self.pending.entry(parent.into_owned()).or_default().push(node);
                NONE
            }
        }
    }

    /// Returns all entries in file order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Returns how many entries there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Tells whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns every place in file order.
    pub fn nodes(&self) -> impl DoubleEndedIterator<Item = NodeId> + use<> {
        (0..self.entries.len() as u32).map(NodeId)
    }

    /// Returns the entry at a place of this tree.
    ///
    /// # Panics
    ///
    /// If the place is of another tree and beyond this one's end.
    pub fn entry(&self, node: NodeId) -> &Entry {
        &self.entries[node.index()]
    }

    /// Finds an entry by id; of entries that share it, the latest.
    pub fn find(&self, id: &str) -> Option<NodeId> {
        self.ids.get(&self.entries, id).map(NodeId)
    }

    /// Returns the entry new entries hang from, or `None` at the root.
    pub fn leaf(&self) -> Option<NodeId> {
        self.leaf
    }

    /// Moves the leaf; `None` makes the next entry a new root.
    pub fn set_leaf(&mut self, leaf: Option<NodeId>) {
        self.leaf = leaf;
    }

    /// Returns the entry this one hangs from; `None` for a root.
    pub fn parent_of(&self, node: NodeId) -> Option<NodeId> {
        Some(self.links.parent(node.0)).filter(|&parent| parent != NONE).map(NodeId)
    }

    /// Returns the children of an entry in file order.
    pub fn children_of(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        self.links.children(node.0).map(NodeId)
    }

    /// Returns the entries without a parent in file order: those that name none, themselves or
    /// an unknown one, and the first member of each cycle.
    pub fn roots(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.links.roots().map(NodeId)
    }

    /// Returns the entries from a root to this one.
    ///
    /// In a cycle the walk stops before an entry comes a second time.
    pub fn path_to(&self, node: NodeId) -> Vec<NodeId> {
        let mut path: Vec<NodeId> = self.links.ancestors(node.0).map(NodeId).collect();
        path.reverse();
        path
    }

    /// Returns the label of the entry with this id: the last one set, anywhere in the file.
    pub fn label_for(&self, id: &str) -> Option<&str> {
        self.marks.label(id)
    }

    /// Returns all labels in force as (id of the target, label), sorted by id.
    pub fn labels(&self) -> Vec<(&str, &str)> {
        self.marks.labels()
    }

    /// Tells whether the branch below the entry with this id is archived.
    pub fn is_archived(&self, id: &str) -> bool {
        self.marks.is_archived(id)
    }

    /// Returns the last title that a `title_change` or `session_info` entry gave.
    pub fn title(&self) -> Option<&str> {
        self.marks.title()
    }

    /// Puts other entries in the place of all, in file order; the leaf stays in its place, or
    /// where its id is if their number changed.
    pub fn replace_all(&mut self, entries: Vec<Entry>) {
        let leaf = self.leaf.map(|leaf| (leaf, self.entry(leaf).id().map(Cow::into_owned)));
        let same_len = entries.len() == self.len();
        *self = Self::from_entries(entries);
        self.leaf = match leaf {
            None => None,
            Some((node, _)) if same_len => Some(node),
            Some((_, Some(id))) if self.find(&id).is_some() => self.find(&id),
            Some(_) => self.leaf,
        };
    }
}

#[cfg(test)]
mod tests;
