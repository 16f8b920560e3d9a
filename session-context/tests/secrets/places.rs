//! Sessions that hold every kind of secret, one place of a session each.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};

use crate::kinds::{Kind, Made};
use crate::rng::Rng;

/// Where a secret stands: the entry it is put into.
pub struct Place {
    pub name: &'static str,
    entry: fn(&Made) -> Option<Value>,
}

impl Place {
    pub fn file_name(&self) -> String {
        self.name.replace(|c: char| !c.is_ascii_alphanumeric(), "-")
    }

    /// Whether a write filter is asked: it leaves images, and a label needs the entry it is for.
    pub fn is_filtered(&self) -> bool {
        !matches!(self.name, "bytes of an image" | "label")
    }

    /// Bytes of images are as random as tokens that have no form.
    fn tells_apart(&self, kind: &Kind) -> bool {
        self.name != "bytes of an image" || !kind.name.starts_with("token-")
    }
}

#[rustfmt::skip]
pub const PLACES: &[Place] = &[
    Place { name: "user text", entry: |made| Some(user(json!(made.text))) },
    Place { name: "user text in words", entry: |made| Some(user(json!([{"type": "text", "text": format!("I ran it and saw:\n\n{}\n\nWhat is wrong with that?", made.text)}]))) },
    Place { name: "assistant text", entry: |made| Some(assistant(json!({"type": "text", "text": format!("The file holds:\n\n```\n{}\n```\n\nThat is all.", made.text)}))) },
    Place { name: "thinking", entry: |made| Some(assistant(json!({"type": "thinking", "thinking": format!("I see this:\n{}\nNow what?", made.text)}))) },
    Place { name: "arguments, deep", entry: |made| Some(call(json!({"edits": [[{"deep": {"er": [{"est": [1, null, made.text]}]}}]], "path": "a.txt"}))) },
    Place { name: "command", entry: |made| Some(call(json!({"command": made.text}))) },
    Place { name: "field of its name", entry: |made| made.setting().map(|(name, value)| call(json!({"env": {name: value}}))) },
    Place { name: "field of its name in snake case", entry: |made| made.setting().map(|(name, value)| call(json!({name.to_lowercase(): value}))) },
    Place { name: "name and value", entry: |made| made.setting().map(|(name, value)| call(json!({"env": [{"name": name, "value": value}]}))) },
    Place { name: "bash output", entry: |made| Some(message(json!({"role": "bashExecution", "command": "cat notes", "output": format!("$ cat notes\n{}\n$ echo done\ndone", made.text), "exitCode": 0, "cancelled": false, "truncated": false}))) },
    Place { name: "bash command", entry: |made| Some(message(json!({"role": "bashExecution", "command": made.text, "output": "ok", "exitCode": 0, "cancelled": false, "truncated": false}))) },
    Place { name: "bash output, a patch", entry: |made| Some(message(json!({"role": "bashExecution", "command": "git diff", "output": format!("@@ -0,0 +1 @@\n{}", each_line(made, |_, line| format!("+{line}"))), "exitCode": 0, "cancelled": false, "truncated": false}))) },
    Place { name: "tool result", entry: |made| Some(result(json!([{"type": "text", "text": made.text}]), json!(null))) },
    Place { name: "tool result, numbered lines", entry: |made| Some(result(json!([{"type": "text", "text": each_line(made, |at, line| format!("{at:>6}\t{line}"))}]), json!(null))) },
    Place { name: "details of a tool result", entry: |made| Some(result(json!([{"type": "text", "text": "ok"}]), json!({"runs": [{"stdout": made.text}]}))) },
    Place { name: "title", entry: |made| Some(json!({"type": "title_change", "title": made.text, "previousTitle": "x", "source": "user"})) },
    Place { name: "former title", entry: |made| Some(json!({"type": "title_change", "title": "x", "previousTitle": made.text, "source": "user"})) },
    Place { name: "name", entry: |made| Some(json!({"type": "session_info", "name": made.text})) },
    Place { name: "label", entry: |made| Some(json!({"type": "label", "targetId": "first", "label": made.text})) },
    Place { name: "custom data", entry: |made| Some(json!({"type": "custom", "customType": "acme.state", "data": {"list": [{"it": made.text}]}})) },
    Place { name: "custom message", entry: |made| Some(json!({"type": "custom_message", "customType": "acme.note", "content": made.text, "display": true, "details": {"it": made.text}})) },
    Place { name: "mentioned file's name", entry: |made| Some(message(json!({"role": "fileMention", "files": [{"path": format!("/work/{}", made.text), "content": "x", "lineCount": 1}]}))) },
    Place { name: "mentioned file's content", entry: |made| Some(message(json!({"role": "fileMention", "files": [{"path": "/work/a", "content": made.text, "lineCount": 1}]}))) },
    Place { name: "unknown field of a message", entry: |made| Some(message(json!({"role": "user", "content": "x", "acmeExtra": {"it": made.text}}))) },
    Place { name: "unknown field of an entry", entry: |made| Some(json!({"type": "message", "message": {"role": "user", "content": "x"}, "acmeExtra": [made.text]})) },
    Place { name: "unknown block", entry: |made| Some(assistant(json!({"type": "acmeBlock", "it": made.text}))) },
    Place { name: "unknown role", entry: |made| Some(message(json!({"role": "acmeRole", "content": made.text}))) },
    Place { name: "unknown entry", entry: |made| Some(json!({"type": "acme_entry", "it": {"it": [made.text]}})) },
    Place { name: "key of arguments", entry: |made| Some(call(json!({made.text.clone(): 1}))) },
    Place { name: "key of custom data", entry: |made| Some(json!({"type": "custom", "customType": "acme.state", "data": {"map": [{made.text.clone(): "on"}]}})) },
    Place { name: "key of an unknown entry", entry: |made| Some(json!({"type": "acme_entry", made.text.clone(): true})) },
    Place { name: "base64", entry: |made| Some(user(json!(STANDARD.encode(&made.text)))) },
    Place { name: "base64 in a field", entry: |made| Some(call(json!({"content": STANDARD.encode(format!("# notes\n{}\n", made.text))}))) },
    Place { name: "base64 of URLs", entry: |made| Some(user(json!(format!("It was {} before.", URL_SAFE_NO_PAD.encode(&made.text))))) },
    Place { name: "base64, wrapped", entry: |made| Some(user(json!(wrapped(&STANDARD.encode(format!("# notes of ada\n{}\n", made.text)))))) },
    Place { name: "URL-encoded", entry: |made| Some(user(json!(format!("https://example.com/?q={}&n=1", percent(&made.text))))) },
    Place { name: "JSON in JSON", entry: |made| Some(call(json!({"body": json!({"it": [made.text]}).to_string()}))) },
    Place { name: "JSON in JSON in JSON", entry: |made| Some(call(json!({"body": json!({"it": json!([made.text]).to_string()}).to_string()}))) },
    Place { name: "escapes", entry: |made| Some(user(json!(made.text.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect::<String>()))) },
    Place { name: "entities", entry: |made| Some(user(json!(made.text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;").replace('\'', "&#39;")))) },
    Place { name: "bytes of an image", entry: |made| Some(user(json!([{"type": "image", "mimeType": "image/png", "data": image(&made.text)}]))) },
    Place { name: "summary", entry: |made| Some(json!({"type": "compaction", "summary": made.text, "shortSummary": made.text, "firstKeptEntryId": "first", "tokensBefore": 9, "details": {"it": made.text}, "preserveData": {"it": [made.text]}})) },
    Place { name: "summary of a branch", entry: |made| Some(json!({"type": "branch_summary", "fromId": "first", "summary": made.text, "details": {"it": made.text}})) },
    Place { name: "system prompt", entry: |made| Some(json!({"type": "session_init", "systemPrompt": made.text, "task": made.text, "tools": [], "agent": "a"})) },
    Place { name: "error", entry: |made| Some(message(json!({"role": "assistant", "content": [], "api": "a", "provider": "p", "model": "m", "stopReason": "error", "errorMessage": made.text}))) },
    Place { name: "mode", entry: |made| Some(json!({"type": "mode_change", "mode": "plan", "data": {"it": made.text}})) },
];

/// What was put where, and what of it must not be seen.
pub struct Planted {
    pub kind: &'static str,
    pub place: String,
    pub parts: Vec<String>,
}

/// The session of a place; its entries hang from each other.
pub fn session(place: &Place, kinds: &[Kind], rng: &mut Rng, planted: &mut Vec<Planted>) -> String {
    let mut lines = Lines::new(&place.file_name(), json!({"cwd": "/work/shop", "title": "Shop"}));
    for kind in kinds.iter().filter(|kind| place.tells_apart(kind)) {
        let made = kind.make(rng);
        if let Some(entry) = (place.entry)(&made) {
            lines.push(entry);
            planted.push(Planted {
                kind: kind.name,
                place: place.name.to_owned(),
                parts: made.parts,
            });
        }
    }
    lines.text
}

/// The lines of a session.
pub struct Lines {
    pub text: String,
    count: usize,
    leaf: String,
}

impl Lines {
    pub fn new(id: &str, fields: Value) -> Self {
        let mut header = json!({"type": "session", "version": 3, "id": id, "timestamp": "2026-01-15T09:30:00.000Z"});
        header.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let first = json!({"type": "message", "id": "first", "parentId": null, "timestamp": "2026-01-15T09:30:00.000Z",
            "message": {"role": "user", "content": "Look around."}});
        Self { text: format!("{header}\n{first}\n"), count: 0, leaf: "first".to_owned() }
    }

    pub fn push(&mut self, mut entry: Value) {
        self.count += 1;
        let id = format!("e{}", self.count);
        let fields = entry.as_object_mut().unwrap();
        fields.insert("id".to_owned(), json!(id));
        fields.insert("parentId".to_owned(), json!(self.leaf));
        fields.insert("timestamp".to_owned(), json!("2026-01-15T09:30:01.000Z"));
        self.text.push_str(&format!("{entry}\n"));
        self.leaf = id;
    }
}

fn message(message: Value) -> Value {
    json!({"type": "message", "message": message})
}

pub fn user(content: Value) -> Value {
    message(json!({"role": "user", "content": content, "timestamp": 1_768_469_420_000_u64}))
}

fn assistant(block: Value) -> Value {
    message(
        json!({"role": "assistant", "content": [block], "api": "a", "provider": "p", "model": "m", "stopReason": "stop"}),
    )
}

fn call(arguments: Value) -> Value {
    assistant(json!({"type": "toolCall", "id": "call_1", "name": "run", "arguments": arguments}))
}

fn result(content: Value, details: Value) -> Value {
    message(
        json!({"role": "toolResult", "toolCallId": "call_1", "toolName": "run", "content": content, "details": details, "isError": false}),
    )
}

fn each_line(made: &Made, change: impl Fn(usize, &str) -> String) -> String {
    let lines = made.text.lines().enumerate().map(|(at, line)| change(at + 1, line) + "\n");
    lines.collect()
}

fn wrapped(text: &str) -> String {
    let lines = text.as_bytes().chunks(76).map(|line| std::str::from_utf8(line).unwrap());
    lines.collect::<Vec<_>>().join("\n")
}

pub fn percent(text: &str) -> String {
    let encode = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(encode).collect()
}

/// The beginning of a PNG, and a text chunk.
fn image(text: &str) -> String {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0".to_vec();
    bytes.extend(b"\0\0\x01\0tEXtComment\0");
    bytes.extend(text.as_bytes());
    bytes.extend(b"\0\x01\x02\x03");
    STANDARD.encode(bytes)
}
