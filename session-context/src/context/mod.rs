//! What holds at one place of a session: its messages and its state.
//!
//! A session is a tree; a context is what one path through it, root to leaf, comes to. It is built
//! anew whenever the leaf moves, costs no more than the entries it is made of, and changes nothing
//! that is stored. See `docs/context.md` for the rules and the wording models are given.

mod built;
mod emit;
mod llm;
mod message;
mod models;
mod options;
mod path;
mod safe;
mod session_context;
mod state;

use session_model::tree::{NodeId, SessionTree};
use session_model::{Diagnostic, DiagnosticCode};

use emit::Emitter;
use path::Path;

pub use llm::to_llm;
pub use message::ContextMessage;
pub use models::ModelRoles;
pub use options::{ContextForm, ContextOptions, PendingCalls, SafetyOptions};
pub use safe::{CHECKPOINT_REMINDER, Repaired, model_safe};
pub use session_context::{ActiveContext, SessionContext};

/// Which entry a context ends with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LeafChoice<'a> {
    /// The tree's own leaf; an empty context if that is before the first entry.
    #[default]
    Current,
    /// No entry: an empty context.
    Root,
    /// The entry with this id, or the last entry of the file if there is none.
    Id(&'a str),
}

impl LeafChoice<'_> {
    fn node(self, tree: &SessionTree) -> Option<NodeId> {
        match self {
            Self::Current => tree.leaf(),
            Self::Root => None,
            Self::Id(id) => tree.find(id).or_else(|| tree.nodes().next_back()),
        }
    }
}

/// Builds the context of one place of a session.
///
/// ```
/// use session_context::context::{ContextOptions, LeafChoice, build_session_context};
/// use session_model::{Entry, SessionTree, json::RawJson};
///
/// let entry = |text: &str| Entry::from_json(&RawJson::parse(text.to_owned()).unwrap()).unwrap();
/// let tree = SessionTree::from_entries(vec![
///     entry(r#"{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"hi"}}"#),
///     entry(r#"{"type":"thinking_level_change","id":"b","parentId":"a","thinkingLevel":"high"}"#),
/// ]);
/// let context = build_session_context(&tree, LeafChoice::Current, &ContextOptions::default());
/// assert_eq!(context.messages[0].role(), "user");
/// assert_eq!(context.thinking_level, "high");
/// let before = build_session_context(&tree, LeafChoice::Id("a"), &ContextOptions::default());
/// assert_eq!(before.thinking_level, "off");
/// ```
pub fn build_session_context(
    tree: &SessionTree,
    leaf: LeafChoice<'_>,
    options: &ContextOptions,
) -> SessionContext {
    let Some(leaf) = leaf.node(tree) else { return SessionContext::default() };
    let (path, gaps) = Path::to(tree, leaf, options.bridge_gaps);
    let mut context = state::along(&path);
    context.diagnostics = gaps;
    let mut emitter = Emitter::new(&path);
    match options.form {
        ContextForm::Transcript => emitter.everything(),
        ContextForm::Plain | ContextForm::ModelSafe => emitter.what_is_in_force(),
    }
    let (messages, diagnostics) = emitter.finish();
    context.messages = messages;
    context.diagnostics.extend(diagnostics);
    if options.form == ContextForm::ModelSafe {
        let repaired = model_safe(&context.messages, &options.safety);
        context.messages = repaired.messages;
        context.diagnostics.extend(repaired.diagnostics);
    }
    context
}

/// A diagnostic about the entry with this id, if it has one.
fn about(id: Option<&str>, code: DiagnosticCode, detail: String) -> Diagnostic {
    let diagnostic = Diagnostic::new(code, detail);
    match id {
        Some(id) => diagnostic.of_entry(id),
        None => diagnostic,
    }
}
