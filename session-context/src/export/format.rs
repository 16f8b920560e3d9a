//! The formats of an export.

use std::fmt;
use std::str::FromStr;

/// How an export is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// Markdown.
    Markdown,
    /// One page that needs nothing else.
    Html,
    /// One JSON document; `docs/export.md` describes it.
    Json,
    /// Plain text.
    Text,
}

/// A text that names no [`Format`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown format {0:?}; use md, html, json or text")]
pub struct UnknownFormat(String);

impl Format {
    /// All formats.
    pub const ALL: [Self; 4] = [Self::Markdown, Self::Html, Self::Json, Self::Text];

    /// Returns the format's name: `md`, `html`, `json`, `text`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Markdown => "md",
            Self::Html => "html",
            Self::Json => "json",
            Self::Text => "text",
        }
    }

    /// Returns what names of its files end in, without the dot.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Text => "txt",
            _ => self.as_str(),
        }
    }

    /// Tells whether readers of it can find their way in a tree, so that it holds all branches
    /// unless asked otherwise.
    pub fn shows_trees(self) -> bool {
        matches!(self, Self::Html | Self::Json)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(text: &str) -> Result<Self, UnknownFormat> {
        let named = Self::ALL.into_iter().find(|format| format.as_str() == text);
        named.ok_or_else(|| UnknownFormat(text.to_owned()))
    }
}
