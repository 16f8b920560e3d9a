//! An agent that dies in the middle of a turn, goes on where it was, and then tries another way.
//!
//! ```text
//! cargo run --example agent_loop             the session is gone afterwards
//! cargo run --example agent_loop -- DIR      the session is kept below DIR
//! ```
//!
//! The model is a script, so no network is needed. All else is what a real agent does: each message
//! is appended as it comes, and what the model is sent is built from the session.

use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use session_context::model::json::RawJson;
use session_context::model::message::{
    AssistantMessage, ContentBlock, Message, ToolCall, ToolResultMessage,
};
use session_context::model::storage::StorageKey;
use session_context::model::tree_view::{TextOptions, TreeView, TreeViewOptions, render_text};
use session_context::{
    NewSession, PersistenceObserver, SessionError, SessionManager, SessionOptions, open_storage,
};

/// A real agent takes the time from a clock.
const NOW: i64 = 1_767_225_600_000;

type Result<T, E = Box<dyn Error>> = std::result::Result<T, E>;

/// Answers from a script, whatever it is sent.
struct Model(std::vec::IntoIter<Vec<ContentBlock>>);

impl Model {
    fn scripted() -> Self {
        let call =
            |id, tool| ContentBlock::tool_call(id, tool, RawJson::parse("{}").unwrap_or_default());
        let script = vec![
            vec![ContentBlock::text("I will read the log."), call("c1", "read_log")],
            vec![call("c2", "run_tests")],
            vec![
                ContentBlock::text("The tests were interrupted; once more."),
                call("c3", "run_tests"),
            ],
            vec![ContentBlock::text("A test runs out of time.")],
            vec![ContentBlock::text("Then the limit of one second is too short.")],
        ];
        Self(script.into_iter())
    }

    /// A real agent sends the messages to its provider here.
    fn answer(&mut self, _messages: &[RawJson]) -> AssistantMessage {
        AssistantMessage::new("acme", "large-2", self.0.next().unwrap_or_default(), NOW)
    }
}

/// Shows whether the conversation is saved; a real agent has a place for it on its screen.
#[derive(Debug)]
struct StatusLine;

#[allow(clippy::print_stderr, reason = "this example has no screen")]
impl PersistenceObserver for StatusLine {
    fn save_failed(&self, _session: &StorageKey, error: &SessionError) {
        eprintln!("not saved: {error}");
    }

    fn saved_again(&self, _session: &StorageKey) {
        eprintln!("saved again");
    }
}

/// Runs a tool; `None` stands for the power that fails meanwhile.
fn run_tool(call: &ToolCall, power_fails: bool) -> Option<ToolResultMessage> {
    let text = match call.name.as_str() {
        "run_tests" if power_fails => return None,
        "run_tests" => "41 passed, 1 ran out of time",
        _ => "build failed: tests",
    };
    Some(ToolResultMessage::text(&call.id, &call.name, text, NOW))
}

/// Asks the model and runs its tools until it is done. Tells whether it got that far.
async fn turn(session: &mut SessionManager, model: &mut Model, power_fails: bool) -> Result<bool> {
    loop {
        let answer = model.answer(&messages_for_model(session));
        let calls: Vec<ToolCall> = answer.tool_calls().cloned().collect();
        session.append_message(answer).await?;
        if calls.is_empty() {
            return Ok(true);
        }
        for call in calls {
            let Some(result) = run_tool(&call, power_fails) else { return Ok(false) };
            session.append_message(result).await?;
        }
    }
}

/// What the model is sent: the path to the leaf, mended where it has to be, in words models know.
fn messages_for_model(session: &SessionManager) -> Vec<RawJson> {
    session.build_session_context().to_llm().iter().map(|message| message.json().clone()).collect()
}

fn text_of(message: &RawJson) -> String {
    let message = Message::from_json(message);
    let text = message.content().map(|content| content.text().into_owned());
    format!("{}: {}", message.role(), text.unwrap_or_default())
}

/// Runs the example with its sessions below `directory`.
pub(crate) async fn run(directory: &Path, out: &mut impl Write) -> Result<()> {
    let storage = open_storage(directory.to_str().ok_or("the directory is no UTF-8")?)?;
    let mut model = Model::scripted();

    let new = NewSession::in_cwd("/work/project");
    let options = SessionOptions::default().observer(Arc::new(StatusLine));
    let mut session = SessionManager::create(storage.clone(), new, options).await?;
    let question = session.append_message(Message::user("Why does the build fail?", NOW)).await?;
    let key = session.key().clone();
    let done = turn(&mut session, &mut model, true).await?;
    writeln!(out, "Done: {done}. The agent dies with {} entries.", session.entries().len())?;
    // No `close`, no `flush`: what was appended is in the file all the same.
    drop(session);

    let options = SessionOptions::default().owner("agent_loop").observer(Arc::new(StatusLine));
    let mut session = SessionManager::open(storage, key, "/work/project", options).await?;
    writeln!(out, "It is back with {} entries.", session.entries().len())?;
    // The call that was running when the agent died has no result. The file stays so; the model
    // is told.
    let told = messages_for_model(&session).pop().unwrap_or_default();
    writeln!(out, "The model is told: {}", text_of(&told))?;
    let done = turn(&mut session, &mut model, false).await?;
    writeln!(out, "Done: {done}.")?;

    // Back to the question. What came after it stays, as a branch of its own.
    let learnt = "A test runs out of time.";
    session.branch_with_summary(Some(&question), learnt, None, None).await?;
    session.append_message(Message::user("How long may a test take?", NOW)).await?;
    turn(&mut session, &mut model, false).await?;

    writeln!(out, "\nThe session:")?;
    let view = TreeView::new(session.tree(), &TreeViewOptions::default());
    write!(out, "{}", render_text(view.rows(), &TextOptions::default()))?;
    writeln!(out, "\nWhat the model was sent last, and its answer:")?;
    for message in messages_for_model(&session) {
        writeln!(out, "{}", text_of(&message))?;
    }
    session.close().await?;
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let mut out = std::io::stdout();
    match std::env::args().nth(1) {
        Some(directory) => run(Path::new(&directory), &mut out).await,
        None => run(tempfile::tempdir()?.path(), &mut out).await,
    }
}
