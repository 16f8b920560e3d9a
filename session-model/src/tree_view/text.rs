//! A view as plain text.

use super::{Guide, ViewRow};

/// How [`render_text`] draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TextOptions {
    /// Whether lines and marks are drawn in ASCII; default: no.
    ///
    /// What the entries say keeps its characters.
    pub ascii: bool,
    /// How many columns are drawn before a row at most; default: 24.
    pub max_columns: usize,
}

impl Default for TextOptions {
    fn default() -> Self {
        Self { ascii: false, max_columns: 24 }
    }
}

impl TextOptions {
    /// These options, drawing in ASCII.
    pub fn ascii(self) -> Self {
        Self { ascii: true, ..self }
    }

    /// These options with another number of columns.
    pub fn max_columns(self, max_columns: usize) -> Self {
        Self { max_columns, ..self }
    }

    /// Returns how a guide is drawn, three characters wide.
    pub fn draw(self, guide: Guide) -> &'static str {
        match (guide, self.ascii) {
            (Guide::Blank, _) => "   ",
            (Guide::Line, false) => "│  ",
            (Guide::Line, true) => "|  ",
            (Guide::Branch, false) => "├─ ",
            (Guide::Branch, true) => "|- ",
            (Guide::LastBranch, false) => "└─ ",
            (Guide::LastBranch, true) => "`- ",
            (Guide::Deeper, false) => "…  ",
            (Guide::Deeper, true) => "...",
        }
    }
}

/// Writes rows as text, one a line: the lines of the tree, `•` on the active path, `[label]`, and
/// the preview.
///
/// The text holds no control characters and no colours.
pub fn render_text(rows: &[ViewRow], options: &TextOptions) -> String {
    let mut out = String::new();
    for row in rows {
        let guides = row.guides(options.max_columns);
        guides.for_each(|guide| out.push_str(options.draw(guide)));
        if row.active {
            out.push_str(if options.ascii { "* " } else { "• " });
        }
        if row.archived {
            out.push_str("(archived) ");
        }
        if let Some(label) = &row.label {
            out.push_str(&format!("[{label}] "));
        }
        out.push_str(row.preview.to_string().trim_end());
        out.push('\n');
    }
    out
}
