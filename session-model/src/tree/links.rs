//! Who hangs from whom, in arrays of places.

use std::collections::HashSet;

/// No place.
pub(super) const NONE: u32 = u32::MAX;

/// Parents, and lists of children in file order.
#[derive(Clone, Debug, Default)]
pub(super) struct Links {
    parent: Vec<u32>,
    first_child: Vec<u32>,
    last_child: Vec<u32>,
    next_sibling: Vec<u32>,
    roots: Vec<u32>,
    /// The first member of each cycle, in file order.
    cycle_roots: Vec<u32>,
    /// Whether some entry hangs from a later one: without that there is no cycle.
    looks_forward: bool,
}

impl Links {
    /// Adds an entry that is in no list yet.
    pub(super) fn push(&mut self, parent: u32) {
        self.parent.push(parent);
        self.first_child.push(NONE);
        self.last_child.push(NONE);
        self.next_sibling.push(NONE);
    }

    pub(super) fn set_parent(&mut self, node: u32, parent: u32) {
        self.parent[node as usize] = parent;
        self.looks_forward |= parent > node;
    }

    pub(super) fn parent(&self, node: u32) -> u32 {
        self.parent[node as usize]
    }

    /// Puts the last entry into its parent's list.
    pub(super) fn link(&mut self, node: u32) {
        let parent = self.parent[node as usize];
        if parent == NONE {
            self.roots.push(node);
            return;
        }
        let last = std::mem::replace(&mut self.last_child[parent as usize], node);
        match last {
            NONE => self.first_child[parent as usize] = node,
            last => self.next_sibling[last as usize] = node,
        }
    }

    /// Makes all lists anew.
    pub(super) fn relink(&mut self) {
        for list in [&mut self.first_child, &mut self.last_child, &mut self.next_sibling] {
            list.fill(NONE);
        }
        self.roots.clear();
        self.cycle_roots.clear();
        for node in 0..self.parent.len() as u32 {
            self.link(node);
        }
        if self.looks_forward {
            self.find_cycles();
        }
    }

    /// What no root reaches hangs from a cycle; its first member becomes a root of its own.
    fn find_cycles(&mut self) {
        let mut reached = vec![false; self.parent.len()];
        for at in 0..self.roots.len() {
            self.reach(self.roots[at], &mut reached);
        }
        let mut on_walk = vec![false; self.parent.len()];
        for node in 0..self.parent.len() as u32 {
            if reached[node as usize] {
                continue;
            }
            let mut member = node;
            while !std::mem::replace(&mut on_walk[member as usize], true) {
                member = self.parent[member as usize];
            }
            let (mut first, mut next) = (member, self.parent[member as usize]);
            while next != member {
                first = first.min(next);
                next = self.parent[next as usize];
            }
            self.cycle_roots.push(first);
            self.reach(first, &mut reached);
        }
        self.cycle_roots.sort_unstable();
    }

    fn reach(&self, root: u32, reached: &mut [bool]) {
        let mut open = vec![root];
        while let Some(node) = open.pop() {
            if !std::mem::replace(&mut reached[node as usize], true) {
                open.extend(self.children(node));
            }
        }
    }

    pub(super) fn has_cycles(&self) -> bool {
        !self.cycle_roots.is_empty()
    }

    pub(super) fn cycle_roots(&self) -> &[u32] {
        &self.cycle_roots
    }

    pub(super) fn children(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        let step = |next: u32| (next != NONE).then_some(next);
        std::iter::successors(step(self.first_child[node as usize]), move |&child| {
            step(self.next_sibling[child as usize])
        })
    }

    pub(super) fn roots(&self) -> impl Iterator<Item = u32> + '_ {
        let mut roots = self.roots.iter().copied().peekable();
        let mut cycles = self.cycle_roots.iter().copied().peekable();
        std::iter::from_fn(move || match (roots.peek(), cycles.peek()) {
            (Some(root), Some(cycle)) if cycle < root => cycles.next(),
            (Some(_), _) => roots.next(),
            (None, _) => cycles.next(),
        })
    }

    /// This entry and those above it, each once.
    pub(super) fn ancestors(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        let cyclic = self.has_cycles();
        let mut seen = HashSet::new();
        let mut next = node;
        std::iter::from_fn(move || {
            let node = next;
            if node == NONE || (cyclic && !seen.insert(node)) {
                return None;
            }
            next = self.parent[node as usize];
            Some(node)
        })
    }
}
