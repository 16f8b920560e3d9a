//! The lines a tree is drawn with.

use super::outline::OutlineRow;

/// The most columns that are drawn before a row.
pub const MAX_GUIDES: usize = 64;

/// What to draw in one column before a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Guide {
    /// Nothing.
    Blank,
    /// A line that passes by: `│`.
    Line,
    /// The row begins a branch, and others follow: `├─`.
    Branch,
    /// The row begins the last branch: `└─`.
    LastBranch,
    /// Stands for the columns that are left out.
    Deeper,
}

/// Where a row is and what lines lead to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    indent: u32,
    /// Whether the row begins a branch.
    branch: bool,
    /// One bit a column, the innermost lowest: whether a line goes on below the row.
    lines: u64,
}

impl Layout {
    /// Returns how far the row is indented, in columns of the tree's drawing.
    ///
    /// Entries that follow each other without a branch are not indented further. If there are
    /// several roots, they are the branches of a root that is not shown.
    pub fn indent(self) -> usize {
        self.indent as usize
    }

    /// Returns what to draw before the row, one guide for each column from left to right.
    ///
    /// At most `max` columns (and [`MAX_GUIDES`]) are drawn; of a row that is indented further
    /// the outer ones are left out and [`Guide::Deeper`] stands for them.
    pub fn guides(self, max: usize) -> impl Iterator<Item = Guide> + use<> {
        let drawn = self.indent().min(max).min(MAX_GUIDES);
        let deeper = (self.indent() > drawn).then_some(Guide::Deeper);
        let columns = (0..drawn).rev().map(move |column| {
            let line = self.lines >> column & 1 == 1;
            match (self.branch && column == 0, line) {
                (true, true) => Guide::Branch,
                (true, false) => Guide::LastBranch,
                (false, true) => Guide::Line,
                (false, false) => Guide::Blank,
            }
        });
        deeper.into_iter().chain(columns)
    }
}

/// A shown row while its place is being found.
struct Place {
    /// The nearest shown row above; the virtual root is 0, the first row 1.
    parent: usize,
    /// How many shown rows hang from it.
    children: u32,
    /// How many of them have been laid out.
    laid_out: u32,
    layout: Layout,
}

/// Lays out the shown rows, in order.
pub(super) fn lay_out(rows: &[OutlineRow], shown: &[bool]) -> Vec<Layout> {
    let place = |parent| Place { parent, children: 0, laid_out: 0, layout: Layout::default() };
    let mut places = vec![place(0)];
    // For each depth of the path to the present row, the nearest shown row at or above it.
    let mut nearest: Vec<usize> = Vec::new();
    for (row, &shown) in rows.iter().zip(shown) {
        nearest.truncate(row.depth as usize);
        let parent = nearest.last().copied().unwrap_or(0);
        if shown {
            places[parent].children += 1;
            nearest.push(places.len());
            places.push(place(parent));
        } else {
            nearest.push(parent);
        }
    }
    for at in 1..places.len() {
        let parent = places[at].parent;
        let parent = &mut places[parent];
        parent.laid_out += 1;
        let mut layout = Layout { branch: parent.children > 1, ..parent.layout };
        if layout.branch {
            layout.indent += 1;
            layout.lines = layout.lines << 1 | u64::from(parent.laid_out < parent.children);
        }
        places[at].layout = layout;
    }
    places.into_iter().skip(1).map(|place| place.layout).collect()
}
