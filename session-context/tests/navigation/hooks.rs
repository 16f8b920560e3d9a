//! What hooks and summarisers can do to a navigation.

use std::sync::Mutex;

use async_trait::async_trait;
use session_context::navigation::{
    BeforeNavigate, BranchSummarizer, BranchSummaryRequest, HostError, NavigateOptions,
    NavigateOutcome, Navigation, NavigationPlan, SessionHooks, Summarized, SummarySource,
    SuppliedSummary,
};
use session_context::{SessionError, SessionManager};
use session_model::json::RawJson;

use crate::moves::{conversation, done, names, opened};
use crate::support::block_on;
use crate::support::store::{content, key};

/// Answers as told, and keeps what it was asked.
#[derive(Default)]
struct Hooks {
    answer: Mutex<Option<Result<BeforeNavigate, HostError>>>,
    after: Option<fn() -> Result<(), HostError>>,
    appends: bool,
    asked: Mutex<Vec<String>>,
}

impl Hooks {
    fn answering(answer: Result<BeforeNavigate, HostError>) -> Self {
        Self { answer: Mutex::new(Some(answer)), ..Self::default() }
    }
}

#[async_trait]
impl SessionHooks for Hooks {
    async fn before_navigate(&self, plan: &NavigationPlan) -> Result<BeforeNavigate, HostError> {
        self.asked.lock().unwrap().push(format!(
            "before {} {:?} {:?} {:?} {} {:?}",
            plan.target,
            plan.old_leaf,
            plan.new_leaf,
            names(&plan.abandoned),
            plan.summarize,
            plan.instructions
        ));
        self.answer.lock().unwrap().take().unwrap_or(Ok(BeforeNavigate::Proceed))
    }

    async fn after_navigate(
        &self,
        session: &mut SessionManager,
        done: &Navigation,
    ) -> Result<(), HostError> {
        self.asked.lock().unwrap().push(format!("after {:?}", done.new_leaf));
        if self.appends {
            session.append_mode_change("plan", None).await?;
        }
        self.after.map_or(Ok(()), |after| after())
    }
}

/// Answers as told, and keeps what it was asked.
struct Summarizer {
    answer: fn() -> Result<Summarized, HostError>,
    asked: Mutex<Vec<String>>,
}

impl Summarizer {
    fn answering(answer: fn() -> Result<Summarized, HostError>) -> Self {
        Self { answer, asked: Mutex::default() }
    }
}

#[async_trait]
impl BranchSummarizer for Summarizer {
    async fn summarize(&self, request: BranchSummaryRequest<'_>) -> Result<Summarized, HostError> {
        let asked = format!("{:?} {:?}", names(request.abandoned), request.instructions);
        self.asked.lock().unwrap().push(asked);
        (self.answer)()
    }
}

fn written(by: &Summarizer) -> SummarySource<'_> {
    SummarySource::Written { by, instructions: Some("be brief".to_owned()) }
}

fn unmoved(session: &SessionManager) -> bool {
    session.leaf_id().as_deref() == Some("a2") && session.entries().len() == 8
}

#[test]
fn a_hook_that_says_no_keeps_all_as_it_is() {
    let (storage, mut session) = opened();
    let by = Summarizer::answering(|| panic!("asked"));
    let hooks = Hooks::answering(Ok(BeforeNavigate::Cancel));
    let options = NavigateOptions::default().summary(written(&by)).durable().hooks(&hooks);
    let outcome = block_on(session.navigate_tree("u2", options)).unwrap();
    assert!(matches!(outcome, NavigateOutcome::Cancelled), "{outcome:?}");
    assert!(unmoved(&session));
    assert_eq!(content(&storage, &key()).unwrap(), conversation());
    assert_eq!(
        *hooks.asked.lock().unwrap(),
        [r#"before u2 Some("a2") Some("q1") ["c1", "k1", "a2"] true Some("be brief")"#]
    );
}

#[test]
fn a_hook_or_summariser_that_fails_keeps_all_as_it_is() {
    let (storage, mut session) = opened();
    let hooks = Hooks::answering(Err("no network".into()));
    let options = NavigateOptions::default().hooks(&hooks);
    let error = block_on(session.navigate_tree("u2", options)).unwrap_err();
    assert_eq!(error.to_string(), "the hook before navigating failed");
    let by = Summarizer::answering(|| Err("no model".into()));
    let options = NavigateOptions::default().summary(written(&by));
    let error = block_on(session.navigate_tree("u2", options)).unwrap_err();
    let SessionError::Host { what, source } = error else { panic!("{error:?}") };
    assert_eq!((what, source.to_string().as_str()), ("the summariser", "no model"));
    let by = Summarizer::answering(|| Ok(Summarized::Aborted));
    let options = NavigateOptions::default().summary(written(&by)).durable();
    let outcome = block_on(session.navigate_tree("u2", options)).unwrap();
    assert!(matches!(outcome, NavigateOutcome::Aborted), "{outcome:?}");
    assert!(unmoved(&session));
    assert_eq!(content(&storage, &key()).unwrap(), conversation());
}

#[test]
fn a_navigation_that_is_dropped_while_summing_up_has_not_moved() {
    struct Never;

    #[async_trait]
    impl BranchSummarizer for Never {
        async fn summarize(&self, _: BranchSummaryRequest<'_>) -> Result<Summarized, HostError> {
            std::future::pending().await
        }
    }

    let (storage, mut session) = opened();
    let summary = SummarySource::Written { by: &Never, instructions: None };
    let options = NavigateOptions::default().summary(summary);
    let mut going = Box::pin(session.navigate_tree("u2", options));
    let polled = block_on(std::future::poll_fn(|cx| {
        std::task::Poll::Ready(going.as_mut().poll(cx).is_pending())
    }));
    assert!(polled);
    drop(going);
    assert!(unmoved(&session));
    assert_eq!(content(&storage, &key()).unwrap(), conversation());
}

#[test]
fn the_summariser_is_asked_with_what_is_left_and_the_instructions() {
    let (_, mut session) = opened();
    let by = Summarizer::answering(|| Ok(Summarized::Summary("all of it".to_owned())));
    let options = NavigateOptions::default().summary(written(&by));
    done(block_on(session.navigate_tree("k1", options)).unwrap());
    assert_eq!(*by.asked.lock().unwrap(), [r#"["a2"] Some("be brief")"#]);
    let leaf = session.leaf_entry().unwrap().json();
    assert_eq!(leaf.field("summary").unwrap().as_str(), "\"all of it\"");
    assert!(leaf.field("fromExtension").is_none());
    // With nothing left behind, or nothing to say, nothing is written.
    let options = NavigateOptions::default().summary(written(&by));
    done(block_on(session.navigate_tree("a2", options)).unwrap());
    session.branch("u1").unwrap();
    let options = NavigateOptions::default().summary(written(&by));
    let moved = done(block_on(session.navigate_tree("a2", options)).unwrap());
    assert_eq!((moved.summary_entry, moved.new_leaf.as_deref()), (None, Some("a2")));
    assert_eq!(by.asked.lock().unwrap().len(), 2);
    let by = Summarizer::answering(|| Ok(Summarized::Summary(" \n".to_owned())));
    let options = NavigateOptions::default().summary(written(&by));
    let moved = done(block_on(session.navigate_tree("k1", options)).unwrap());
    assert_eq!((moved.summary_entry, moved.new_leaf.as_deref()), (None, Some("k1")));
}

#[test]
fn a_hook_supplies_the_summary_only_if_one_is_wanted() {
    let supplied = || {
        Ok(BeforeNavigate::Summary(SuppliedSummary {
            summary: "from outside".to_owned(),
            details: Some(RawJson::parse(r#"{"mine":1}"#).unwrap()),
        }))
    };
    let by = Summarizer::answering(|| panic!("asked"));
    let (_, mut session) = opened();
    let hooks = Hooks::answering(supplied());
    let options = NavigateOptions::default().summary(written(&by)).hooks(&hooks);
    done(block_on(session.navigate_tree("k1", options)).unwrap());
    let leaf = session.leaf_entry().unwrap().json().to_string();
    assert_eq!(
        leaf,
        r#"{"type":"branch_summary","id":"00000001","parentId":"k1","timestamp":"2026-01-01T00:00:00.000Z","fromId":"k1","summary":"from outside","details":{"mine":1},"fromExtension":true}"#
    );
    let (_, mut session) = opened();
    let hooks = Hooks::answering(supplied());
    let options = NavigateOptions::default().hooks(&hooks);
    let moved = done(block_on(session.navigate_tree("k1", options)).unwrap());
    assert_eq!(moved.new_leaf.as_deref(), Some("k1"));
}

#[test]
fn what_the_hook_after_appends_is_in_the_context() {
    let (_, mut session) = opened();
    let hooks = Hooks { appends: true, ..Hooks::default() };
    let options = NavigateOptions::default().hooks(&hooks);
    let moved = done(block_on(session.navigate_tree("k1", options)).unwrap());
    assert_eq!(moved.context.mode, "plan");
    assert_eq!(moved.new_leaf.as_deref(), Some("00000001"));
    assert_eq!(hooks.asked.lock().unwrap()[1], r#"after Some("k1")"#);
    let hooks = Hooks { after: Some(|| Err("no screen".into())), ..Hooks::default() };
    let options = NavigateOptions::default().hooks(&hooks);
    let error = block_on(session.navigate_tree("u2", options)).unwrap_err();
    assert_eq!(error.to_string(), "the hook after navigating failed");
    assert_eq!(session.leaf_id().as_deref(), Some("q1"));
}

#[test]
fn a_session_that_is_open_for_reading_moves_if_nothing_is_written() {
    let (storage, session) = opened();
    block_on(session.close()).unwrap();
    let mut session = block_on(SessionManager::open_read_only(
        crate::support::shared(&storage),
        key(),
        crate::support::options(""),
    ))
    .unwrap();
    let by = Summarizer::answering(|| panic!("asked"));
    for options in
        [NavigateOptions::default().summary(written(&by)), NavigateOptions::default().durable()]
    {
        let error = block_on(session.navigate_tree("k1", options)).unwrap_err();
        assert!(matches!(error, SessionError::ReadOnly { .. }), "{error:?}");
        assert!(unmoved(&session));
    }
    done(block_on(session.navigate_tree("k1", NavigateOptions::default())).unwrap());
    assert_eq!(session.leaf_id().as_deref(), Some("k1"));
}
