//! What was found in sessions, told to people.

use session_context::SessionContext;
use session_model::{Diagnostic, Severity};

use crate::output::say;

/// How many are told beside other output; `verify` tells all.
const TOLD: usize = 20;

/// Tells people what was found, on standard error; beyond the first ones only how many.
pub(crate) fn report(diagnostics: &[Diagnostic]) {
    for diagnostic in diagnostics.iter().take(TOLD) {
        let word = if diagnostic.severity() == Severity::Info { "note" } else { "warning" };
        say(word, &diagnostic.to_string());
    }
    let more = diagnostics.len().saturating_sub(TOLD);
    if more > 0 {
        say("warning", &format!("{more} more like these; `sessionctl verify` lists them all"));
    }
}

/// Takes from a context what it found beyond what was found on loading.
pub(crate) fn beyond(known: &[Diagnostic], context: &mut SessionContext) -> Vec<Diagnostic> {
    let mut found = std::mem::take(&mut context.diagnostics);
    let is_known = |new: &Diagnostic| {
        known.iter().any(|known| known.code == new.code && known.entry == new.entry)
    };
    found.retain(|new| !is_known(new));
    found
}
