//! Finding entries by id without a copy of the ids.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::entry::Entry;

/// Maps an id to the latest entry that has it.
#[derive(Clone, Debug, Default)]
pub(super) struct IdIndex {
    table: HashTable<Slot>,
    // Ids come from files: the hasher is seeded anew in every process, so that a hostile file
    // cannot be made to pile up collisions.
    hasher: DefaultHashBuilder,
}

/// Keeps half of the hash, so that growing the table need not look at the entries.
#[derive(Clone, Copy, Debug)]
struct Slot {
    hash: u32,
    node: u32,
}

impl IdIndex {
    pub(super) fn get(&self, entries: &[Entry], id: &str) -> Option<u32> {
        let hash = self.hash(id);
        self.table.find(spread(hash), |slot| slot.is(entries, hash, id)).map(|slot| slot.node)
    }

    /// Makes the entry at `node` the one `id` finds, and returns the one it found before.
    pub(super) fn set(&mut self, entries: &[Entry], node: u32, id: &str) -> Option<u32> {
        let hash = self.hash(id);
        match self.table.find_mut(spread(hash), |slot| slot.is(entries, hash, id)) {
            Some(slot) => Some(std::mem::replace(&mut slot.node, node)),
            None => {
                self.table
                    .insert_unique(spread(hash), Slot { hash, node }, |slot| spread(slot.hash));
                None
            }
        }
    }

    fn hash(&self, id: &str) -> u32 {
        self.hasher.hash_one(id) as u32
    }
}

impl Slot {
    fn is(&self, entries: &[Entry], hash: u32, id: &str) -> bool {
        self.hash == hash && entries[self.node as usize].id().is_some_and(|own| own == id)
    }
}

/// The table takes its buckets from the low bits and its tags from the high ones.
fn spread(hash: u32) -> u64 {
    u64::from(hash).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
