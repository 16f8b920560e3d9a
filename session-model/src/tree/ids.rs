//! Finding entries by id without a copy of the ids.

use std::hash::{BuildHasher, RandomState};

use hashbrown::HashTable;

use crate::entry::Entry;

/// Maps an id to the latest entry that has it.
#[derive(Clone, Debug, Default)]
pub(super) struct IdIndex {
    table: HashTable<u32>,
    // Ids come from files: a seed of this process keeps a hostile file from piling up collisions.
    hasher: RandomState,
}

impl IdIndex {
    pub(super) fn with_capacity(entries: usize) -> Self {
        Self { table: HashTable::with_capacity(entries), hasher: RandomState::new() }
    }

    pub(super) fn get(&self, entries: &[Entry], id: &str) -> Option<u32> {
        let hash = self.hasher.hash_one(id);
        self.table.find(hash, |&node| has_id(&entries[node as usize], id)).copied()
    }

    /// Makes the entry at `node` the one its id finds; an entry without an id is not findable.
    pub(super) fn set(&mut self, entries: &[Entry], node: u32) {
        let Some(id) = entries[node as usize].id() else { return };
        let hash = self.hasher.hash_one(&*id);
        match self.table.find_mut(hash, |&other| has_id(&entries[other as usize], &id)) {
            Some(other) => *other = node,
            None => {
                let rehash = |&other: &u32| {
                    self.hasher.hash_one(&*entries[other as usize].id().unwrap_or_default())
                };
                self.table.insert_unique(hash, node, rehash);
            }
        }
    }
}

fn has_id(entry: &Entry, id: &str) -> bool {
    entry.id().is_some_and(|own| own == id)
}
