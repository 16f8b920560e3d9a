//! Titles of sessions.

use crate::record::{record, string_enum};

string_enum! {
    /// Who chose a title.
    pub enum TitleSource {
        /// A program; a person's title is never replaced by one.
        Auto = "auto",
        /// A person.
        User = "user",
    }
}

record! {
    /// An entry of type `title_change`.
    pub struct TitleChange {
        /// The title.
        title: String = "title",
        /// The title before.
        previous_title: Option<String> = "previousTitle",
        /// Who chose the title.
        source: Option<TitleSource> = "source",
        /// What made a program choose it.
        trigger: Option<String> = "trigger",
    }
}

record! {
    /// An entry of type `session_info`, as pi writes it.
    pub struct SessionInfo {
        /// The title.
        name: String = "name",
    }
}
