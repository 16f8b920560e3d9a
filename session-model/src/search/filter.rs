//! Which entries a search looks at.

use super::fold::push_folded;
use super::text::{EntryText, TextKind};

/// Which texts are searched; by default all but what models thought.
///
/// Names are compared without case and accents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextFilter {
    /// Only those of this role: that of a message, or the `type` of another entry; `tool` means
    /// `toolResult`, and `title` titles of whatever origin.
    pub role: Option<String>,
    /// Only calls and results of this tool.
    pub tool: Option<String>,
    /// Only what was written by a model whose name, or `provider/name`, begins so.
    pub model: Option<String>,
    /// Only what was written at this time or later, in milliseconds since the epoch.
    pub since_ms: Option<i64>,
    /// Only what was written before this time, in milliseconds since the epoch.
    pub until_ms: Option<i64>,
    /// Whether what models thought is searched too.
    pub thinking: bool,
}

/// A term that an admitted text is marked with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag {
    /// The term.
    pub term: String,
    /// Whether terms that begin so will do.
    pub is_beginning: bool,
}

impl TextFilter {
    /// Tells whether a text that was written at this time is searched.
    pub fn admits(&self, text: &EntryText, written_ms: Option<i64>) -> bool {
        if text.kind == TextKind::Thinking && !self.thinking {
            return false;
        }
        let tags = tags_of(text);
        let has = |wanted: &Tag| {
            let fits = |tag: &String| match wanted.is_beginning {
                true => tag.starts_with(&*wanted.term),
                false => *tag == wanted.term,
            };
            tags.iter().any(fits)
        };
        self.tags().iter().all(has) && self.admits_time(written_ms)
    }

    /// Tells whether what was written at this time is searched; what has no time never is if times
    /// are asked for.
    pub fn admits_time(&self, written_ms: Option<i64>) -> bool {
        let since = self.since_ms.is_none_or(|since| written_ms.is_some_and(|at| at >= since));
        let until = self.until_ms.is_none_or(|until| written_ms.is_some_and(|at| at < until));
        since && until
    }

    /// Returns the terms a text must be marked with; see [`tags_of`].
    pub fn tags(&self) -> Vec<Tag> {
        let role = self.role.as_deref().map(|role| match &*role.to_lowercase() {
            "tool" => "toolResult".to_owned(),
            "title_change" | "session_info" => "title".to_owned(),
            _ => role.to_owned(),
        });
        let exact = [("role", role.as_deref()), ("tool", self.tool.as_deref())];
        let exact = exact.into_iter().filter_map(|(name, value)| Some((tag(name, value?), false)));
        let model = self.model.as_deref().map(|model| (tag("model", model), true));
        exact.chain(model).map(|(term, is_beginning)| Tag { term, is_beginning }).collect()
    }
}

/// Returns the terms that stand for what a filter asks of a text; no word of a text is equal to one.
pub fn tags_of(text: &EntryText) -> Vec<String> {
    let role = match &*text.role {
        "title_change" | "session_info" => "title",
        role => role,
    };
    let mut tags = vec![tag("role", role)];
    tags.extend(text.tools.iter().map(|tool| tag("tool", tool)));
    if let Some(model) = &text.model {
        tags.push(tag("model", model));
        tags.extend(model.split_once('/').map(|(_, name)| tag("model", name)));
    }
    tags
}

fn tag(name: &str, value: &str) -> String {
    let mut tag = format!("\u{1}{name}:");
    value.chars().for_each(|c| push_folded(&mut tag, c));
    tag
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(role: &str, kind: TextKind) -> EntryText {
        EntryText {
            kind,
            role: role.to_owned(),
            tools: vec!["Bash".to_owned(), "read".to_owned()],
            model: Some("acme/Big-2".to_owned()),
            text: String::new(),
            is_cut: false,
        }
    }

    #[test]
    fn each_part_of_a_filter_narrows() {
        let all = TextFilter::default;
        let some = |value: &str| Some(value.to_owned());
        for (filter, admitted) in [
            (all(), true),
            (TextFilter { role: some("Assistant"), ..all() }, true),
            (TextFilter { role: some("assist"), ..all() }, false),
            (TextFilter { tool: some("bash"), ..all() }, true),
            (TextFilter { tool: some("bas"), ..all() }, false),
            (TextFilter { model: some("big"), ..all() }, true),
            (TextFilter { model: some("ACME/b"), ..all() }, true),
            (TextFilter { model: some("2"), ..all() }, false),
            (TextFilter { since_ms: Some(5), until_ms: Some(6), ..all() }, true),
            (TextFilter { since_ms: Some(6), ..all() }, false),
            (TextFilter { until_ms: Some(5), ..all() }, false),
        ] {
            let text = text("assistant", TextKind::Said);
            assert_eq!(filter.admits(&text, Some(5)), admitted, "{filter:?}");
        }
        let since = TextFilter { since_ms: Some(0), ..all() };
        assert!(!since.admits(&text("user", TextKind::Said), None));
    }

    #[test]
    fn thinking_is_asked_for() {
        let thought = text("assistant", TextKind::Thinking);
        assert!(!TextFilter::default().admits(&thought, None));
        assert!(TextFilter { thinking: true, ..Default::default() }.admits(&thought, None));
    }

    #[test]
    fn roles_have_other_names() {
        let admits = |role: &str, of: &str| {
            let filter = TextFilter { role: Some(role.to_owned()), ..Default::default() };
            filter.admits(&text(of, TextKind::Said), None)
        };
        assert!(admits("tool", "toolResult") && admits("toolresult", "toolResult"));
        assert!(admits("title", "title_change") && admits("title_change", "session_info"));
        assert!(!admits("tool", "user"));
    }
}
