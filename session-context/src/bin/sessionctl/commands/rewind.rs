//! `sessionctl rewind`

use clap::builder::NonEmptyStringValueParser;
use session_model::json::ObjectBuilder;

use crate::Context;
use crate::failure::Failure;
use crate::target::close;

/// Go back to the open checkpoint and keep a report of what was done since
///
/// What was done stays in the file as a branch; the model sees the report only. The id of the new
/// leaf is printed.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sessionctl rewind session.jsonl \"The clock is right; the server answers late.\"")]
pub(crate) struct Rewind {
    /// The session
    session: String,
    /// What was found out
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    report: String,
}

impl Rewind {
    pub(crate) async fn run(self, context: &mut Context) -> Result<(), Failure> {
        let mut manager = context.store.write(&self.session, None).await?;
        let rewound = manager.rewind(&self.report).await;
        let rewound = close(manager, rewound).await?;
        if context.json {
            let json = ObjectBuilder::new()
                .string("id", &rewound.report_entry)
                .string("summaryId", &rewound.summary_entry)
                .string("checkpointId", &rewound.checkpoint.entry_id)
                .build();
            context.out.json(json.as_str())?.end()?;
        } else {
            context.out.line(&rewound.report_entry)?;
        }
        Ok(())
    }
}
