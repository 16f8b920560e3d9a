//! A command of the user's that sums up a branch.

use std::process::Stdio;

use async_trait::async_trait;
use session_context::navigation::{BranchSummarizer, BranchSummaryRequest, HostError, Summarized};
use session_model::preview::Preview;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

/// How much of a message the command is told, in characters.
const MESSAGE_CHARS: usize = 20_000;

/// A shell command that reads a branch and prints its summary.
#[derive(Debug)]
pub(crate) struct CommandSummarizer(pub(crate) String);

#[async_trait]
impl BranchSummarizer for CommandSummarizer {
    async fn summarize(&self, request: BranchSummaryRequest<'_>) -> Result<Summarized, HostError> {
        let mut child = Command::new("sh")
            .args(["-c", &self.0])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Whoever calls it off drops this future.
            .kill_on_drop(true)
            .spawn()?;
        let input = told(request);
        let stdin = child.stdin.take();
        let write = async move {
            if let Some(mut stdin) = stdin {
                // A command need not read to the end.
                let _ = stdin.write_all(input.as_bytes()).await;
            }
        };
        let ((), output) = tokio::join!(write, child.wait_with_output());
        let output = output?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(format!("{} ended with {}: {said}", self.0, output.status).into());
        }
        let text = String::from_utf8(output.stdout)?;
        match text.trim() {
            "" => Err(format!("{} printed no summary", self.0).into()),
            text => Ok(Summarized::Summary(text.to_owned())),
        }
    }
}

/// What the command reads: what matters, if that was said, then a line for each message.
fn told(request: BranchSummaryRequest<'_>) -> String {
    let mut text = String::new();
    if let Some(instructions) = request.instructions {
        text.push_str(&format!("Pay attention to: {instructions}\n\n"));
    }
    for entry in request.abandoned {
        text.push_str(&format!("{}\n", Preview::of(entry, MESSAGE_CHARS)));
    }
    text
}
