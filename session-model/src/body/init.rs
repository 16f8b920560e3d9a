//! What an agent was started with.

use crate::json::RawJson;
use crate::record::{FieldValue, record};

record! {
    /// An entry of type `session_init`.
    pub struct SessionInit {
        /// The system prompt.
        system_prompt: SystemPrompt = "systemPrompt",
        /// The task.
        task: String = "task",
        /// The names of the tools.
        tools: Vec<String> = "tools",
        /// The schema the result must fit.
        output_schema: Option<RawJson> = "outputSchema",
        /// The agent's name.
        agent: Option<String> = "agent",
    }
}

impl SessionInit {
    /// Returns the system prompts; a single text is a list of one.
    pub fn system_prompts(&self) -> &[String] {
        match &self.system_prompt {
            SystemPrompt::One(text) => std::slice::from_ref(text),
            SystemPrompt::Many(texts) => texts,
        }
    }
}

/// A system prompt in one of its two stored forms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SystemPrompt {
    /// One text.
    One(String),
    /// A list of texts.
    Many(Vec<String>),
}

impl Default for SystemPrompt {
    /// No prompt.
    fn default() -> Self {
        Self::Many(Vec::new())
    }
}

impl FieldValue for SystemPrompt {
    fn read(raw: &RawJson) -> Option<Self> {
        String::read(raw).map(Self::One).or_else(|| Vec::read(raw).map(Self::Many))
    }

    fn push_to(&self, out: &mut String) {
        match self {
            Self::One(text) => text.push_to(out),
            Self::Many(texts) => texts.push_to(out),
        }
    }

    fn is_plain(&self) -> bool {
        true
    }
}
