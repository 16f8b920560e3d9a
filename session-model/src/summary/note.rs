//! A summary as a line of text, to be kept by whoever would else have to make it again.

use super::{Activity, ActivityOrigin, SessionStatus, SessionSummary, Title, TitleOrigin};
use crate::Diagnostic;

/// All fields, in the order of the type. Without names: a list reads thousands.
type Fields = (
    String,
    f64,
    Option<String>,
    Option<String>,
    Option<(String, TitleOrigin)>,
    Option<i64>,
    Option<(i64, ActivityOrigin)>,
    Option<i64>,
    u64,
    u64,
    bool,
    Option<String>,
    SessionStatus,
    Vec<Diagnostic>,
);

impl SessionSummary {
    /// Returns the summary as text that [`from_note`](Self::from_note) reads.
    ///
    /// The text is for caches that can be made again: a later version may not read it.
    ///
    /// ```
    /// use session_model::summary::{FileParts, SessionSummary};
    ///
    /// let file = "{\"type\":\"session\",\"id\":\"s\",\"title\":\"Mine\"}\n";
    /// let summary = SessionSummary::from_parts(&FileParts::whole(file))?;
    /// assert_eq!(SessionSummary::from_note(&summary.to_note()), Some(summary));
    /// # Ok::<(), session_model::summary::SummaryError>(())
    /// ```
    pub fn to_note(&self) -> String {
        let fields = (
            &self.id,
            self.version,
            &self.cwd,
            &self.parent_session,
            self.title.as_ref().map(|title| (&title.text, title.origin)),
            self.created_ms,
            self.activity.map(|activity| (activity.at_ms, activity.origin)),
            self.modified_ms,
            self.size,
            self.message_count,
            self.message_count_is_exact,
            &self.first_message,
            self.status,
            &self.diagnostics,
        );
        serde_json::to_string(&fields).unwrap_or_default()
    }

    /// Reads what [`to_note`](Self::to_note) wrote; `None` if it is anything else, or of a version
    /// of the file's format that is no finite number.
    pub fn from_note(note: &str) -> Option<Self> {
        let fields: Fields = serde_json::from_str(note).ok()?;
        let (id, version, cwd, parent_session, title, created_ms, activity, ..) = fields;
        let (.., modified_ms, size, message_count, message_count_is_exact, _, _, _) = fields;
        let (.., first_message, status, diagnostics) = fields;
        Some(Self {
            id,
            version,
            cwd,
            parent_session,
            title: title.map(|(text, origin)| Title { text, origin }),
            created_ms,
            activity: activity.map(|(at_ms, origin)| Activity { at_ms, origin }),
            modified_ms,
            size,
            message_count,
            message_count_is_exact,
            first_message,
            status,
            diagnostics,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DiagnosticCode;
    use crate::summary::FileParts;

    #[test]
    fn a_note_holds_everything() {
        let diagnostic = Diagnostic::new(DiagnosticCode::DamagedLine, "no \"JSON\"");
        let full = SessionSummary {
            id: "s\u{2028}\n".to_owned(),
            version: 3.1,
            cwd: Some("/w".to_owned()),
            parent_session: Some("p".to_owned()),
            title: Some(Title { text: "T".to_owned(), origin: TitleOrigin::Compaction }),
            created_ms: Some(-1),
            activity: Some(Activity { at_ms: i64::MAX, origin: ActivityOrigin::Entry }),
            modified_ms: Some(7),
            size: u64::MAX,
            message_count: 8,
            message_count_is_exact: true,
            first_message: Some("\u{1f600}\0".to_owned()),
            status: SessionStatus::Aborted,
            diagnostics: vec![diagnostic.clone(), diagnostic.at(4, 5..6)],
        };
        let empty = "{\"type\":\"session\",\"id\":\"\"}\n";
        let empty = SessionSummary::from_parts(&FileParts::whole(empty)).unwrap();
        for summary in [full, empty] {
            assert_eq!(SessionSummary::from_note(&summary.to_note()), Some(summary));
        }
    }

    #[test]
    fn what_is_no_note_is_none() {
        let endless = "{\"type\":\"session\",\"id\":\"\",\"version\":3}\n";
        let mut endless = SessionSummary::from_parts(&FileParts::whole(endless)).unwrap();
        endless.version = f64::INFINITY;
        for note in ["", "[]", "{}", &endless.to_note(), &format!("{}x", endless.to_note())] {
            assert_eq!(SessionSummary::from_note(note), None, "{note}");
        }
    }
}
