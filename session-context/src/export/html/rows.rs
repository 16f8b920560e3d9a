//! The tree at the side of the page.

use session_model::preview::one_line;
use session_model::tree_view::{TreeFilter, TreeView, TreeViewOptions, ViewRow};

use super::super::Export;
use super::super::item::Item;
use super::entry::class_of;
use super::write::{push_element, push_text};

/// Rows are not indented further than so many columns.
pub(super) const MAX_INDENT: usize = 24;

/// How long a row is, in characters.
const ROW_CHARS: usize = 90;

/// Appends a row for each entry; each names the filters that show it.
pub(super) fn push_rows(out: &mut String, export: &Export, items: &[Item]) {
    let view = |filter| {
        let options = TreeViewOptions::default().filter(filter).with_archived();
        TreeView::new(export.tree(), &options)
    };
    let mut shown_by = vec![0_u32; export.tree().len()];
    for (bit, filter) in TreeFilter::CYCLE.into_iter().enumerate() {
        view(filter).rows().iter().for_each(|row| shown_by[row.node.index()] |= 1 << bit);
    }
    for row in view(TreeFilter::All).rows() {
        push_row(out, row, shown_by[row.node.index()], &items[row.node.index()]);
    }
}

fn push_row(out: &mut String, row: &ViewRow, shown_by: u32, item: &Item) {
    let mut class = format!("i{} {}", row.indent().min(MAX_INDENT), class_of(item.voice));
    for (is, name) in [(row.active, " on"), (row.leaf, " leaf"), (row.archived, " archived")] {
        class.push_str(if is { name } else { "" });
    }
    let filters = TreeFilter::CYCLE.into_iter().enumerate();
    for (_, filter) in filters.filter(|(bit, _)| shown_by & (1 << bit) != 0) {
        class.push_str(&format!(" f-{filter}"));
    }
    let node = row.node.index();
    out.push_str(&format!("<a href=\"#e{node}\" data-n=\"{node}\" class=\"{class}\">"));
    if let Some(label) = &item.label {
        push_element(out, "span", "label", label);
        out.push(' ');
    }
    push_text(out, &one_line(&row.preview.to_string(), ROW_CHARS));
    out.push_str("</a>\n");
}
