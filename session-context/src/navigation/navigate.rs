//! Carrying a navigation out.

use std::borrow::Cow;

use session_model::Entry;
use session_model::json::RawJson;
use session_model::tree::NodeId;

use super::destination::Destination;
use super::{
    BeforeNavigate, BranchSummaryDetails, BranchSummaryRequest, NavigateOptions, NavigateOutcome,
    Navigation, NavigationPlan, SessionHooks, Summarized, SummarySource, abandoned_entries,
};
use crate::manager::Writes;
use crate::{Result, SessionError, SessionManager};

/// A summary that is to be written.
struct Summary {
    text: String,
    details: RawJson,
    from_extension: Option<bool>,
}

impl SessionManager {
    /// Goes to another place of the tree.
    ///
    /// | target | new leaf | handed back for the editor |
    /// |---|---|---|
    /// | what the user said | its parent | its text and images |
    /// | the leaf | the same; nothing happens and no hook is asked | |
    /// | message of an extension, but no skill prompt | its parent | its text and images |
    /// | result of `ask`, given a new answer | a new result beside it | |
    /// | anything else | the target | |
    ///
    /// What is left stays in the file. With a [summary](NavigateOptions::summary) that is not
    /// empty, the model is told of it by an entry behind the new leaf, which names the files it
    /// was about; that entry is the leaf then. Otherwise the move is in memory only, unless it is
    /// to be [durable](NavigateOptions::durable).
    ///
    /// # Errors
    ///
    /// [`SessionError::UnknownEntry`], [`SessionError::NotAnAnswer`] for a new answer to what is
    /// no result of `ask`, [`SessionError::Host`] if a hook before or the summariser fails, and
    /// [`SessionError::ReadOnly`]: nothing has moved. [`SessionError::NotSaved`]: the move is
    /// complete in memory, and the file lacks entries of it. [`SessionError::Host`] from the hook
    /// after: the move is complete.
    ///
    /// # Cancel safety
    ///
    /// Until the summary is there nothing has moved; from then on not cancel safe.
    pub async fn navigate_tree(
        &mut self,
        target: &str,
        options: NavigateOptions<'_>,
    ) -> Result<NavigateOutcome> {
        let NavigateOptions { summary, answer, durable, hooks } = options;
        let hooks = hooks.unwrap_or(&());
        let tree = self.tree();
        let node = tree
            .find(target)
            .ok_or_else(|| SessionError::UnknownEntry { id: target.to_owned() })?;
        let Some(destination) = Destination::of(tree, node, answer)? else {
            return Ok(NavigateOutcome::Done(Box::new(self.arrived(self.leaf_id(), Vec::new()))));
        };
        if durable || destination.answer.is_some() || !matches!(summary, SummarySource::None) {
            self.check_writable()?;
        }
        let plan = NavigationPlan {
            target: target.to_owned(),
            old_leaf: self.leaf_id(),
            new_leaf: self.id_of(destination.leaf),
            abandoned: abandoned_entries(self.tree(), Some(node)),
            summarize: !matches!(summary, SummarySource::None),
            instructions: match &summary {
                SummarySource::Written { instructions, .. } => instructions.clone(),
                _ => None,
            },
        };
        let Some(summary) = summary_for(&plan, summary, hooks).await? else {
            return Ok(NavigateOutcome::Cancelled);
        };
        let Summing::Done(summary) = summary else { return Ok(NavigateOutcome::Aborted) };

        let NavigationPlan { old_leaf, new_leaf, abandoned, .. } = plan;
        let before = self.tree().leaf();
        self.go_to(destination.leaf);
        let mut writes = Writes::default();
        let mut from = new_leaf;
        let mut answer_entry = None;
        if let Some(answer) = destination.answer {
            let appended = writes.took(self.append_message(answer).await);
            let id = appended.inspect_err(|_| self.go_to(before))?;
            (from, answer_entry) = (Some(id.clone()), Some(id));
        }
        let summary_entry = match summary {
            Some(Summary { text, details, from_extension }) => {
                let details = Some(details);
                let target = from.as_deref();
                let appended =
                    self.branch_with_summary(target, &text, details, from_extension).await;
                Some(writes.took(appended))
            }
            None if durable && answer_entry.is_none() => {
                Some(writes.took(self.branch_durably(from.as_deref()).await))
            }
            None => None,
        };
        let summary_entry = summary_entry.transpose().inspect_err(|_| {
            if answer_entry.is_none() {
                self.go_to(before);
            }
        })?;
        writes.finish()?;

        let mut done = self.arrived(old_leaf, abandoned);
        (done.editor, done.answer_entry) = (destination.editor, answer_entry);
        done.summary_entry = summary_entry;
        let seen = (self.entries().len(), self.tree().leaf());
        hooks
            .after_navigate(self, &done)
            .await
            .map_err(|source| SessionError::host("the hook after navigating", source))?;
        if seen != (self.entries().len(), self.tree().leaf()) {
            let again = self.arrived(None, Vec::new());
            (done.new_leaf, done.context) = (again.new_leaf, again.context);
            done.checkpoint = again.checkpoint;
        }
        Ok(NavigateOutcome::Done(Box::new(done)))
    }

    /// What holds where the session is now.
    fn arrived(&self, old_leaf: Option<String>, abandoned: Vec<Entry>) -> Navigation {
        Navigation {
            old_leaf,
            new_leaf: self.leaf_id(),
            editor: None,
            abandoned,
            answer_entry: None,
            summary_entry: None,
            context: self.build_session_context(),
            checkpoint: self.checkpoint_state(),
        }
    }

    fn id_of(&self, node: Option<NodeId>) -> Option<String> {
        self.tree().entry(node?).id().map(Cow::into_owned)
    }
}

/// How far a summary came.
enum Summing {
    Done(Option<Summary>),
    Aborted,
}

/// Asks the hook and whoever writes the summary; `None` if the hook said no.
async fn summary_for(
    plan: &NavigationPlan,
    source: SummarySource<'_>,
    hooks: &dyn SessionHooks,
) -> Result<Option<Summing>> {
    let asked = hooks.before_navigate(plan).await;
    let asked = asked.map_err(|source| SessionError::host("the hook before navigating", source))?;
    let files = || BranchSummaryDetails::collect(&plan.abandoned).to_json();
    let (text, details, from_extension) = match (asked, source) {
        (BeforeNavigate::Cancel, _) => return Ok(None),
        (_, SummarySource::None) => return Ok(Some(Summing::Done(None))),
        (BeforeNavigate::Summary(supplied), _) => {
            (supplied.summary, supplied.details.unwrap_or_else(files), Some(true))
        }
        (BeforeNavigate::Proceed, SummarySource::Given(text)) => (text, files(), None),
        (BeforeNavigate::Proceed, SummarySource::Written { .. }) if plan.abandoned.is_empty() => {
            return Ok(Some(Summing::Done(None)));
        }
        (BeforeNavigate::Proceed, SummarySource::Written { by, instructions }) => {
            let request = BranchSummaryRequest {
                abandoned: &plan.abandoned,
                instructions: instructions.as_deref(),
            };
            let written = by.summarize(request).await;
            match written.map_err(|source| SessionError::host("the summariser", source))? {
                Summarized::Summary(text) => (text, files(), None),
                Summarized::Aborted => return Ok(Some(Summing::Aborted)),
            }
        }
    };
    let summary = (!text.trim().is_empty()).then_some(Summary { text, details, from_extension });
    Ok(Some(Summing::Done(summary)))
}
