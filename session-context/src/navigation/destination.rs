//! Where a navigation leads, and what it hands back.

use session_model::body::EntryBody;
use session_model::message::{Content, ContentBlock, Message, ToolResultMessage};
use session_model::tree::{NodeId, SessionTree};

use super::{AskAnswer, EditorPrefill};
use crate::{Result, SessionError};

/// The type of the messages that put a skill's instructions before a model.
pub const SKILL_PROMPT: &str = "skill-prompt";

/// The tool that puts questions to people.
const ASK: &str = "ask";

/// Where a navigation leads.
#[derive(Debug)]
pub(super) struct Destination {
    /// The leaf to go to; `None` is above all entries.
    pub(super) leaf: Option<NodeId>,
    pub(super) editor: Option<EditorPrefill>,
    /// What is appended there first.
    pub(super) answer: Option<ToolResultMessage>,
}

impl Destination {
    /// Finds where a target leads; `None` if that is where the session is.
    pub(super) fn of(
        tree: &SessionTree,
        target: NodeId,
        answer: Option<AskAnswer>,
    ) -> Result<Option<Self>> {
        let entry = tree.entry(target);
        let above = |editor, answer| Self { leaf: tree.parent_of(target), editor, answer };
        let body = entry.body();
        if let Some(answer) = answer {
            return match body.message() {
                Some(Message::ToolResult(asked)) if asked.tool_name == ASK => {
                    Ok(Some(above(None, Some(answer.in_place_of(asked)))))
                }
                _ => Err(SessionError::NotAnAnswer {
                    id: entry.id().unwrap_or_default().into_owned(),
                }),
            };
        }
        Ok(match &body {
            EntryBody::Message(message) if let Message::User(said) = &message.message => {
                Some(above(Some(EditorPrefill::of(&said.content)), None))
            }
            _ if tree.leaf() == Some(target) => None,
            EntryBody::CustomMessage(message) if message.custom_type != SKILL_PROMPT => {
                Some(above(Some(EditorPrefill::of(&message.content)), None))
            }
            _ => Some(Self { leaf: Some(target), editor: None, answer: None }),
        })
    }
}

impl EditorPrefill {
    fn of(content: &Content) -> Self {
        if let Content::Text(text) = content {
            return Self { text: text.clone(), images: Vec::new() };
        }
        let text = content.blocks().iter().filter_map(ContentBlock::as_text).collect();
        let images = content.blocks().iter().filter_map(|block| match block {
            ContentBlock::Image(image) => Some(image.clone()),
            _ => None,
        });
        Self { text, images: images.collect() }
    }
}
