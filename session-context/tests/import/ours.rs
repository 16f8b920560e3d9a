//! A session of ours in the words in which sources are compared with it.

use session_model::json::RawJson;
use session_model::tree::NodeId;
use session_model::{EntryKind, SessionDocument};

use crate::support::{is, items, text};

/// Something said: by whom, and its blocks, each spelled as in the source.
pub type Said = (String, Vec<String>);

/// What is said in a session, in file order, each with the place of what it is said after.
pub fn walk(document: &SessionDocument) -> Vec<(Said, Option<usize>)> {
    let tree = document.tree();
    let places: Vec<Option<usize>> = {
        let mut count = 0;
        let said = tree.entries().iter().map(|entry| {
            is_said(entry.kind()).then(|| {
                count += 1;
                count - 1
            })
        });
        said.collect()
    };
    let after = |node: NodeId| {
        let mut at = tree.parent_of(node);
        while let Some(node) = at {
            if let Some(place) = places[node.index()] {
                return Some(place);
            }
            at = tree.parent_of(node);
        }
        None
    };
    let said = tree.nodes().filter(|node| places[node.index()].is_some());
    said.map(|node| (said_in(&tree.entry(node).json()), after(node))).collect()
}

/// What is said from the beginning to the leaf.
pub fn path(document: &SessionDocument) -> Vec<Said> {
    let tree = document.tree();
    let path = tree.path_to(tree.leaf().unwrap());
    let said = path.into_iter().map(|node| tree.entry(node)).filter(|e| is_said(e.kind()));
    said.map(|entry| said_in(&entry.json())).collect()
}

fn is_said(kind: EntryKind) -> bool {
    matches!(kind, EntryKind::Message | EntryKind::Compaction | EntryKind::CustomMessage)
}

fn said_in(entry: &RawJson) -> Said {
    match &*text(entry, "type").unwrap() {
        "compaction" => ("summary".into(), vec![entry.field("summary").unwrap().to_string()]),
        "custom_message" => ("custom".into(), blocks(entry.field("content"))),
        _ => said_by(&entry.field("message").unwrap()),
    }
}

fn said_by(message: &RawJson) -> Said {
    let role = text(message, "role").unwrap();
    let who = match &*role {
        "toolResult" => format!(
            "result {} of {}{}",
            text(message, "toolCallId").unwrap(),
            text(message, "toolName").unwrap(),
            if is(message, "isError") { ", failed" } else { "" }
        ),
        _ => role,
    };
    (who, blocks(message.field("content")))
}

fn blocks(content: Option<RawJson>) -> Vec<String> {
    let content = content.unwrap();
    if content.as_text().is_some() {
        return vec![format!("text {content}")];
    }
    let block = |block: &RawJson| {
        let field = |name| block.field(name).unwrap_or_default();
        match text(block, "type").as_deref() {
            Some("text") => format!("text {}", field("text")),
            Some("thinking") => format!("thinking {}", field("thinking")),
            Some("redactedThinking") => format!("redacted {}", field("data")),
            Some("image") => format!("image {} {}", field("mimeType"), field("data")),
            Some("toolCall") => {
                format!("call {} {} {}", field("id"), field("name"), field("arguments"))
            }
            _ => format!("other {block}"),
        }
    };
    items(Some(content)).iter().map(block).collect()
}
