//! A context as hosts receive it.

use session_model::Diagnostic;
use session_model::body::{ServiceTierSetting, ServiceTiers};
use session_model::json::{ObjectBuilder, RawJson};

use super::{ContextMessage, ModelRoles, to_llm};

/// What holds at one place of a session.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SessionContext {
    /// The messages, oldest first.
    pub messages: Vec<ContextMessage>,
    /// The thinking level; `off` if none was set.
    pub thinking_level: String,
    /// What was asked for when the level was set, if that names more than a level.
    pub configured_thinking: Option<String>,
    /// The service tier as it was last set: an object of families, or a word in old files.
    pub service_tier: Option<RawJson>,
    /// Which model serves which role.
    pub models: ModelRoles,
    /// Names of the rules injected so far, each once, in the order they came.
    pub injected_ttsr_rules: Vec<String>,
    /// The mode; `none` if there is none.
    pub mode: String,
    /// What the mode keeps.
    pub mode_data: Option<RawJson>,
    /// Names of the MCP tools that are selected.
    pub selected_mcp_tool_names: Vec<String>,
    /// Whether a selection was made at all: an empty one is not none.
    pub has_persisted_mcp_tool_selection: bool,
    /// The context that is worked in, if one was chosen.
    pub active_context: Option<ActiveContext>,
    /// What was odd about the path, or had to be mended.
    pub diagnostics: Vec<Diagnostic>,
}

/// The context that is worked in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ActiveContext {
    /// Its name.
    pub name: String,
    /// Its tenant.
    pub tenant: String,
    /// Its namespace.
    pub namespace: String,
}

impl Default for SessionContext {
    /// The context before the first entry.
    fn default() -> Self {
        Self {
            messages: Vec::new(),
            thinking_level: "off".to_owned(),
            configured_thinking: None,
            service_tier: None,
            models: ModelRoles::default(),
            injected_ttsr_rules: Vec::new(),
            mode: "none".to_owned(),
            mode_data: None,
            selected_mcp_tool_names: Vec::new(),
            has_persisted_mcp_tool_selection: false,
            active_context: None,
            diagnostics: Vec::new(),
        }
    }
}

impl SessionContext {
    /// Returns the service tier of each family of models, whichever way it is spelled.
    pub fn service_tiers(&self) -> ServiceTiers {
        let setting = self.service_tier.as_ref().and_then(ServiceTierSetting::from_json);
        setting.map(|setting| setting.tiers()).unwrap_or_default()
    }

    /// Returns the messages in the roles and words models know; see [`to_llm`].
    pub fn to_llm(&self) -> Vec<ContextMessage> {
        to_llm(&self.messages)
    }

    /// Returns messages and state as an object.
    ///
    /// Fields: `messages`, `thinkingLevel`, `configuredThinkingLevel?`, `serviceTier?`, `models`,
    /// `activeContextName?`, `activeContextTenant?`, `injectedTtsrRules`, `selectedMCPToolNames`,
    /// `hasPersistedMCPToolSelection`, `mode`, `modeData?`.
    pub fn to_json(&self) -> RawJson {
        let strings = |list: &[String]| {
            RawJson::array(&list.iter().map(|text| RawJson::string(text)).collect::<Vec<_>>())
        };
        let optional = |text: Option<&String>| text.map(|text| RawJson::string(text));
        let active = self.active_context.as_ref();
        ObjectBuilder::new()
            .raw("messages", &RawJson::array(self.messages.iter().map(ContextMessage::json)))
            .string("thinkingLevel", &self.thinking_level)
            .optional(
                "configuredThinkingLevel",
                optional(self.configured_thinking.as_ref()).as_ref(),
            )
            .optional("serviceTier", self.service_tier.as_ref())
            .raw("models", &self.models.to_json())
            .optional("activeContextName", optional(active.map(|c| &c.name)).as_ref())
            .optional("activeContextTenant", optional(active.map(|c| &c.tenant)).as_ref())
            .raw("injectedTtsrRules", &strings(&self.injected_ttsr_rules))
            .raw("selectedMCPToolNames", &strings(&self.selected_mcp_tool_names))
            .raw("hasPersistedMCPToolSelection", &self.has_persisted_mcp_tool_selection.into())
            .string("mode", &self.mode)
            .optional("modeData", self.mode_data.as_ref())
            .build()
    }
}
