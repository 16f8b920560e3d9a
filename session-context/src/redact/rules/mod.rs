//! The kinds of secrets: what they look like, and who publishes that.
//!
//! A rule is data: the tables of a family are in a file of their own. What a pattern cannot tell is
//! found by code, which [`CODED`] names.

mod ai;
mod cloud;
mod code;
mod data;
mod forms;
mod money;
mod places;
mod services;
mod sources;

use super::rule::Rule;
use super::{assignment, mnemonic, private_keys, runs, urls};

/// All rules by family. Of those that fit the same text, the first names the kind.
pub(super) const FAMILIES: &[(&str, &[Rule])] = &[
    ("models and agents", ai::RULES),
    ("clouds and keepers of secrets", cloud::RULES),
    ("forges, registries and builds", code::RULES),
    ("databases and monitoring", data::RULES),
    ("payments and wallets", money::RULES),
    ("other services", services::RULES),
    ("formats and commands", forms::RULES),
    ("places of passwords", places::RULES),
];

/// What the kinds of [`CODED`] have in common.
pub(super) const CODED_FAMILY: &str = "what code finds";

/// Kinds that are found by more than a pattern, and where their shape is published.
pub(super) const CODED: &[(&str, &str)] = &[
    (private_keys::KIND, "RFC 7468: textual encodings of PKIX structures"),
    (urls::KIND, "RFC 3986: user information"),
    (mnemonic::KIND, "BIP 39: mnemonic code"),
    (assignment::KIND, "names that announce a secret"),
    (runs::KIND, "letters and digits that change as chance does"),
];

/// Returns all rules in their order.
pub(super) fn all() -> impl Iterator<Item = &'static Rule> {
    FAMILIES.iter().flat_map(|(_, rules)| *rules)
}

/// Tells whether secrets of a kind are known by what stands around them, and may be any word.
pub(super) fn is_told(kind: &str) -> bool {
    kind == assignment::KIND
        || kind == urls::KIND
        || all().any(|rule| rule.told && rule.kind == kind)
}
