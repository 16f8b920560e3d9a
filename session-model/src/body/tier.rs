//! Service tiers of providers.

use crate::json::RawJson;
use crate::record::{FieldValue, Nullable, record};

record! {
    /// An entry of type `service_tier_change`.
    pub struct ServiceTierChange {
        /// The tiers; `null` clears them.
        service_tier: Nullable<ServiceTierSetting> = "serviceTier",
    }
}

/// Service tiers in one of their two stored forms.
#[derive(Clone, Debug, PartialEq)]
pub enum ServiceTierSetting {
    /// One word, as old files have it.
    Word(String),
    /// A tier for each family of models.
    Families(ServiceTiers),
}

record! {
    value
    /// The tier for each family of models.
    pub struct ServiceTiers {
        /// For OpenAI's models.
        openai: Option<String> = "openai",
        /// For Anthropic's models.
        anthropic: Option<String> = "anthropic",
        /// For Google's models.
        google: Option<String> = "google",
    }
}

impl ServiceTierChange {
    /// Returns the tiers in force from here on.
    ///
    /// The old word `priority` means all families, `openai-only` and `claude-only` one family at
    /// priority; `auto`, `default`, `flex` and `scale` are tiers of OpenAI. Any other word means
    /// no tier.
    pub fn tiers(&self) -> ServiceTiers {
        self.service_tier.value().map(ServiceTierSetting::tiers).unwrap_or_default()
    }
}

impl ServiceTierSetting {
    /// Reads a setting of either form; `None` if the value is neither.
    pub fn from_json(raw: &RawJson) -> Option<Self> {
        Self::read(raw)
    }

    /// Returns the tiers it means, as [`ServiceTierChange::tiers`] says.
    pub fn tiers(&self) -> ServiceTiers {
        match self {
            Self::Families(tiers) => tiers.clone(),
            Self::Word(word) => ServiceTiers::of_word(word),
        }
    }
}

impl ServiceTiers {
    fn of_word(word: &str) -> Self {
        let priority = || Some("priority".to_owned());
        let none = Self::default();
        match word {
            "priority" => {
                Self { openai: priority(), anthropic: priority(), google: priority(), ..none }
            }
            "openai-only" => Self { openai: priority(), ..none },
            "claude-only" => Self { anthropic: priority(), ..none },
            "auto" | "default" | "flex" | "scale" => Self { openai: Some(word.to_owned()), ..none },
            _ => none,
        }
    }
}

impl FieldValue for ServiceTierSetting {
    fn read(raw: &RawJson) -> Option<Self> {
        String::read(raw).map(Self::Word).or_else(|| ServiceTiers::read(raw).map(Self::Families))
    }

    fn push_to(&self, out: &mut String) {
        match self {
            Self::Word(word) => word.push_to(out),
            Self::Families(tiers) => tiers.push_to(out),
        }
    }

    fn is_plain(&self) -> bool {
        match self {
            Self::Word(_) => true,
            Self::Families(tiers) => FieldValue::is_plain(tiers),
        }
    }
}
