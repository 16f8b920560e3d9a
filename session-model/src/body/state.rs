//! Changes of what holds from an entry on.

use crate::json::RawJson;
use crate::record::{Nullable, record};

record! {
    /// An entry of type `thinking_level_change`.
    pub struct ThinkingLevelChange {
        /// The level; `null` or missing means `off`.
        thinking_level: Nullable<String> = "thinkingLevel",
        /// What was asked for, if that names more than a level.
        configured: Nullable<String> = "configured",
    }
}

impl ThinkingLevelChange {
    /// Returns the level in force; `off` if none is given.
    pub fn level(&self) -> &str {
        self.thinking_level.value().map_or("off", String::as_str)
    }
}

record! {
    /// An entry of type `model_change`.
    pub struct ModelChange {
        /// `provider/modelId`.
        model: Option<String> = "model",
        /// The role the model is for; `default` if missing.
        role: Option<String> = "role",
        /// Whether the model stands in for one that could not be had.
        resolved_model_is_fallback: Option<bool> = "resolvedModelIsFallback",
        /// The provider, where pi wrote the entry; new entries use `model`.
        provider: Option<String> = "provider",
        /// The provider's name of the model, where pi wrote the entry.
        model_id: Option<String> = "modelId",
    }
}

impl ModelChange {
    /// Returns `provider/modelId` from either spelling; `None` if it is missing or empty.
    pub fn model_ref(&self) -> Option<String> {
        if let Some(model) = self.model.as_ref().filter(|model| !model.is_empty()) {
            return Some(model.clone());
        }
        let (provider, id) = (self.provider.as_ref()?, self.model_id.as_ref()?);
        (!provider.is_empty() && !id.is_empty()).then(|| format!("{provider}/{id}"))
    }

    /// Returns the role the model is for.
    pub fn role_or_default(&self) -> &str {
        self.role.as_deref().unwrap_or("default")
    }
}

record! {
    /// An entry of type `mode_change`.
    pub struct ModeChange {
        /// The mode; `none` leaves any.
        mode: String = "mode",
        /// What the mode keeps, an object.
        data: Option<RawJson> = "data",
    }
}

impl ModeChange {
    /// Returns the mode in force; `none` if it is missing or empty.
    pub fn mode_or_none(&self) -> &str {
        if self.mode.is_empty() { "none" } else { &self.mode }
    }
}

record! {
    /// An entry of type `ttsr_injection`.
    pub struct TtsrInjection {
        /// The names of the rules.
        injected_rules: Vec<String> = "injectedRules",
    }
}

record! {
    /// An entry of type `credential_pin`.
    pub struct CredentialPin {
        /// The provider.
        provider: String = "provider",
        /// A hash that tells the credential, not the credential itself.
        hash: String = "hash",
    }
}

record! {
    /// An entry of type `mcp_tool_selection`.
    pub struct McpToolSelection {
        /// The names of the selected tools.
        selected_tool_names: Vec<String> = "selectedToolNames",
    }
}

record! {
    /// An entry of type `context_change`.
    pub struct ContextChange {
        /// The context's name.
        context_name: String = "contextName",
        /// The tenant.
        tenant: String = "tenant",
        /// The namespace.
        namespace: String = "namespace",
    }
}
