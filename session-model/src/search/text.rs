//! What an entry says, as far as it is searched.

use std::borrow::Cow;

use crate::entry::{Entry, EntryKind};
use crate::preview::{Object, decoded_pieces, inside};

/// So much text of an entry is searched.
pub const MAX_TEXT_BYTES: usize = 64 << 10;

/// Longer strings are decoded piece by piece, as far as they are searched.
const DECODED_WHOLE_BYTES: usize = 2 * MAX_TEXT_BYTES;

/// Which text of an entry it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TextKind {
    /// What it says and what its tools were given or gave.
    Said,
    /// What a model thought.
    Thinking,
}

/// A text of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EntryText {
    /// Which text it is.
    pub kind: TextKind,
    /// Who speaks: the role of a message, the `type` of any other entry.
    pub role: String,
    /// The tools it calls or has the result of.
    pub tools: Vec<String>,
    /// The model that wrote it, as `provider/model`.
    pub model: Option<String>,
    /// The text: parts on lines of their own, no JSON.
    pub text: String,
    /// Whether there is more than [`MAX_TEXT_BYTES`] of it.
    pub is_cut: bool,
}

impl EntryText {
    /// The title in a session's header, which is found like an entry.
    pub fn title(title: String) -> Self {
        Self {
            kind: TextKind::Said,
            role: "title".to_owned(),
            tools: Vec::new(),
            model: None,
            text: title,
            is_cut: false,
        }
    }
}

/// Returns when an entry was written, in milliseconds since the epoch.
pub fn written_ms(entry: &Entry) -> Option<i64> {
    entry.timestamp_ms().or_else(|| crate::time::from_json(&entry.message()?.field("timestamp")?))
}

/// Returns the texts of an entry that are searched; none of one that says nothing to people.
///
/// Texts are those of users and assistants, names, arguments and results of tools, thinking (as a
/// text of its own), titles, labels, summaries, and messages of extensions that are shown.
///
/// ```
/// use session_model::search::texts_of;
/// use session_model::{Entry, json::RawJson};
///
/// let line = r#"{"type":"message","id":"a","message":{"role":"toolResult","toolName":"bash",
///     "content":[{"type":"text","text":"no such\nfile"}]}}"#;
/// let texts = texts_of(&Entry::from_json(&RawJson::parse(line)?).unwrap());
/// assert_eq!((&*texts[0].role, &*texts[0].text), ("toolResult", "bash\nno such\nfile"));
/// # Ok::<(), session_model::json::InvalidJson>(())
/// ```
pub fn texts_of(entry: &Entry) -> Vec<EntryText> {
    let json = entry.json();
    let fields = Object::of(json.as_str());
    let (mut said, mut thought) = (Text::default(), Text::default());
    let role = match entry.kind() {
        EntryKind::Message => {
            let message = Object::of(fields.get("message").unwrap_or_default());
            let role = message.text("role").unwrap_or_default().into_owned();
            message_text(&role, &message, &mut said, &mut thought);
            role
        }
        kind => {
            entry_text(kind, &fields, &mut said);
            entry.entry_type().into_owned()
        }
    };
    let texts = [(TextKind::Said, said), (TextKind::Thinking, thought)];
    let texts = texts.into_iter().filter(|(_, text)| !text.out.is_empty());
    texts
        .map(|(kind, text)| EntryText {
            kind,
            role: role.clone(),
            tools: text.tools,
            model: text.model,
            text: text.out,
            is_cut: text.is_cut,
        })
        .collect()
}

#[derive(Debug, Default)]
struct Text {
    out: String,
    tools: Vec<String>,
    model: Option<String>,
    is_cut: bool,
}

impl Text {
    /// Adds a part on a line of its own.
    fn part(&mut self, text: &str) {
        self.line();
        self.piece(text);
    }

    fn line(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.piece("\n");
        }
    }

    fn piece(&mut self, text: &str) {
        let room = MAX_TEXT_BYTES - self.out.len();
        if text.len() <= room {
            return self.out.push_str(text);
        }
        let fits = (0..=room).rev().find(|&at| text.is_char_boundary(at)).unwrap_or_default();
        self.out.push_str(&text[..fits]);
        self.is_cut = true;
    }

    /// Adds a string of JSON, given as it is spelled; anything else is left out.
    fn string(&mut self, value: &str) {
        let Some(inner) = inside(value).filter(|inner| !inner.is_empty()) else { return };
        if inner.len() <= DECODED_WHOLE_BYTES {
            return self.part(&crate::json::decode_string(inner));
        }
        self.line();
        for piece in decoded_pieces(inner) {
            if self.is_cut {
                return;
            }
            self.piece(&piece);
        }
    }

    fn field(&mut self, object: &Object<'_>, name: &str) {
        object.get(name).into_iter().for_each(|value| self.string(value));
    }

    /// Adds the strings and numbers a value of JSON holds, but no names of fields.
    fn values(&mut self, json: &str) {
        let bytes = json.as_bytes();
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            let end = match byte {
                b'"' => string_end(bytes, at),
                b'-' | b'0'..=b'9' => {
                    let len = bytes[at..].iter().take_while(|b| is_of_number(**b)).count();
                    at + len
                }
                _ => {
                    at += 1;
                    continue;
                }
            };
            let is_name = bytes[end..].iter().find(|b| !b.is_ascii_whitespace()) == Some(&b':');
            match &json[at..end] {
                string if string.starts_with('"') && !is_name => self.string(string),
                number if !number.starts_with('"') => self.part(number),
                _ => {}
            }
            at = end;
        }
    }

    /// Adds a content: a string, or the texts of its blocks.
    fn content(&mut self, object: &Object<'_>) {
        self.field(object, "content");
        for block in object.objects("content") {
            if block.text("type").as_deref() == Some("text") {
                self.field(&block, "text");
            }
        }
    }

    fn tool(&mut self, name: Option<Cow<'_, str>>) {
        let Some(name) = name.filter(|name| !name.is_empty()) else { return };
        self.part(&name);
        if !self.tools.iter().any(|known| *known == *name) {
            self.tools.push(name.into_owned());
        }
    }
}

fn is_of_number(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E')
}

/// Where a string that begins at `start` ends, its quote included.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn message_text(role: &str, message: &Object<'_>, said: &mut Text, thought: &mut Text) {
    match role {
        "assistant" => {
            let model = message.text("model").filter(|model| !model.is_empty());
            let provider = message.text("provider").unwrap_or_default();
            said.model = model.map(|model| format!("{provider}/{model}"));
            thought.model.clone_from(&said.model);
            said.field(message, "content");
            for block in message.objects("content") {
                match block.text("type").as_deref() {
                    Some("text") => said.field(&block, "text"),
                    Some("thinking") => thought.field(&block, "thinking"),
                    Some("toolCall") => {
                        said.tool(block.text("name"));
                        said.values(block.get("arguments").unwrap_or_default());
                    }
                    _ => {}
                }
            }
            said.field(message, "errorMessage");
        }
        "toolResult" => {
            said.tool(message.text("toolName"));
            said.content(message);
        }
        "bashExecution" | "pythonExecution" => {
            said.tools = vec![role.trim_end_matches("Execution").to_owned()];
            said.field(message, "command");
            said.field(message, "code");
            said.field(message, "output");
        }
        "fileMention" => {
            for file in message.objects("files") {
                said.field(&file, "path");
                said.field(&file, "content");
            }
        }
        "custom" | "hookMessage" => custom_text(message, said),
        "branchSummary" | "compactionSummary" => said.field(message, "summary"),
        _ => said.content(message),
    }
}

/// The text of an extension's message, unless it is hidden.
fn custom_text(message: &Object<'_>, said: &mut Text) {
    if message.get("display") != Some("false") {
        said.content(message);
    }
}

fn entry_text(kind: EntryKind, fields: &Object<'_>, said: &mut Text) {
    let names: &[&str] = match kind {
        EntryKind::Compaction => &["shortSummary", "summary"],
        EntryKind::BranchSummary => &["summary"],
        EntryKind::Label => &["label"],
        EntryKind::TitleChange => &["title"],
        EntryKind::SessionInfo => &["name"],
        EntryKind::SessionInit => &["task"],
        EntryKind::CustomMessage => return custom_text(fields, said),
        _ => &[],
    };
    names.iter().for_each(|name| said.field(fields, name));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::RawJson;

    fn texts(line: &str) -> Vec<EntryText> {
        texts_of(&Entry::from_json(&RawJson::parse(line.to_owned()).unwrap()).unwrap())
    }

    fn said(role: &str, text: &str) -> EntryText {
        EntryText {
            kind: TextKind::Said,
            role: role.to_owned(),
            tools: vec![],
            model: None,
            text: text.to_owned(),
            is_cut: false,
        }
    }

    fn message(message: &str) -> Vec<EntryText> {
        texts(&format!(r#"{{"type":"message","id":"a","message":{message}}}"#))
    }

    #[test]
    fn an_assistant_says_calls_and_thinks() {
        let found = message(
            r#"{"role":"assistant","provider":"acme","model":"big","errorMessage":"cut off","content":[
            {"type":"thinking","thinking":"hm\nso","thinkingSignature":"sig"},{"type":"text","text":"I \"look\""},
            {"type":"toolCall","id":"c","name":"read","arguments":{"path":"src/a.rs","lines":[10,-2.5],"deep":{"a":"b\u00e9"},"t":true}},
            {"type":"image","data":"aaaa"},{"type":"toolCall","name":"read","arguments":{}}]}"#,
        );
        let model = Some("acme/big".to_owned());
        assert_eq!(
            found,
            [
                EntryText {
                    tools: vec!["read".to_owned()],
                    model: model.clone(),
                    ..said("assistant", "I \"look\"\nread\nsrc/a.rs\n10\n-2.5\nbé\nread\ncut off")
                },
                EntryText { kind: TextKind::Thinking, model, ..said("assistant", "hm\nso") },
            ]
        );
    }

    #[test]
    fn every_role_says_its_text() {
        let user = r#"{"role":"user","content":"plain"}"#;
        assert_eq!(message(user), [said("user", "plain")]);
        let blocks = r#"{"role":"user","content":[{"type":"text","text":"a"},{"type":"x","text":"b"},{"type":"text","text":"c"}]}"#;
        assert_eq!(message(blocks), [said("user", "a\nc")]);
        let result = r#"{"role":"toolResult","toolName":"bash","details":{"x":"no"},"content":[{"type":"text","text":"ok"}]}"#;
        let bash = || vec!["bash".to_owned()];
        assert_eq!(
            message(result),
            [EntryText { tools: bash(), ..said("toolResult", "bash\nok") }]
        );
        let run = r#"{"role":"bashExecution","command":"ls","output":"a b"}"#;
        assert_eq!(message(run), [EntryText { tools: bash(), ..said("bashExecution", "ls\na b") }]);
        let files = r#"{"role":"fileMention","files":[{"path":"x.rs","content":"fn"}]}"#;
        assert_eq!(message(files), [said("fileMention", "x.rs\nfn")]);
        let hidden = r#"{"role":"custom","display":false,"content":"hidden"}"#;
        assert_eq!(message(hidden), []);
        let shown = r#"{"role":"hookMessage","display":true,"content":"shown"}"#;
        assert_eq!(message(shown), [said("hookMessage", "shown")]);
        assert_eq!(message(r#"{"role":"new","content":"text"}"#), [said("new", "text")]);
        for odd in [
            "null",
            "[]",
            r#"{"role":7}"#,
            r#"{"content":{"a":[]}}"#,
            r#"{"role":"user","content":""}"#,
        ] {
            assert_eq!(message(odd), [], "{odd}");
        }
    }

    #[test]
    fn other_entries_say_what_people_read() {
        for (line, role, text) in [
            (
                r#"{"type":"compaction","summary":"long","shortSummary":"s"}"#,
                "compaction",
                "s\nlong",
            ),
            (r#"{"type":"branch_summary","summary":"was"}"#, "branch_summary", "was"),
            (r#"{"type":"label","targetId":"x","label":"here"}"#, "label", "here"),
            (r#"{"type":"title_change","title":"Mine"}"#, "title_change", "Mine"),
            (r#"{"type":"session_info","name":"Ours"}"#, "session_info", "Ours"),
            (
                r#"{"type":"session_init","task":"do it","systemPrompt":"p"}"#,
                "session_init",
                "do it",
            ),
            (
                r#"{"type":"custom_message","display":true,"content":[{"type":"text","text":"hi"}]}"#,
                "custom_message",
                "hi",
            ),
        ] {
            assert_eq!(texts(line), [said(role, text)], "{line}");
        }
        for silent in [
            r#"{"type":"custom","data":"x"}"#,
            r#"{"type":"zzz","text":"x"}"#,
            r#"{"type":"custom_message","display":false,"content":"x"}"#,
        ] {
            assert_eq!(texts(silent), [], "{silent}");
        }
    }

    #[test]
    fn long_texts_are_cut() {
        for repeats in [MAX_TEXT_BYTES, 10 * MAX_TEXT_BYTES] {
            let found =
                message(&format!(r#"{{"role":"user","content":"a{}"}}"#, "é".repeat(repeats)));
            let text = format!("a{}", "é".repeat(MAX_TEXT_BYTES / 2 - 1));
            assert_eq!(found, [EntryText { is_cut: true, ..said("user", &text) }]);
        }
        let fits = "b".repeat(MAX_TEXT_BYTES);
        assert_eq!(
            message(&format!(r#"{{"role":"user","content":"{fits}"}}"#)),
            [said("user", &fits)]
        );
    }
}
