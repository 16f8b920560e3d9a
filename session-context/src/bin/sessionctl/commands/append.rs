//! `sessionctl append`

use std::io::{self, Read};

use clap::ValueEnum;
use session_context::env::SystemClock;
use session_context::{NewEntry, SessionManager};
use session_model::env::Clock;
use session_model::json::{ObjectBuilder, RawJson};
use session_model::message::Message;

use crate::Context;
use crate::failure::Failure;
use crate::target::close;

/// Append a message or an entry to a session, behind its leaf
///
/// Prints the id of each new entry. Many are written at once, or none of them.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sessionctl append session.jsonl --text \"Please go on.\"
  sessionctl append session.jsonl '{\"role\":\"user\",\"content\":\"hello\",\"timestamp\":1767225600000}'
  sessionctl append session.jsonl '{\"type\":\"custom\",\"customType\":\"my-tool\",\"data\":{\"n\":1}}'
  my-tool | sessionctl append session.jsonl -
  sessionctl append session.jsonl - < many-lines.jsonl
  sessionctl append new.jsonl --create --text \"Let us begin.\"")]
pub(crate) struct Append {
    /// The session
    session: String,
    /// A message (an object with `role`) or an entry (an object with `type`) as JSON, or `-` for
    /// standard input, which may hold one value or one a line; `id`, `parentId` and `timestamp` of an entry are set anew
    #[arg(value_name = "JSON", required_unless_present = "text")]
    new: Option<String>,
    /// The text of a message, in the place of JSON
    #[arg(long, conflicts_with = "new")]
    text: Option<String>,
    /// Who says the text
    #[arg(long, conflicts_with = "new", value_enum, default_value_t)]
    role: Role,
    /// Make the session if there is none at this path; it works in the present directory
    #[arg(long)]
    create: bool,
}

/// Roles whose messages are no more than a text.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Role {
    /// A person
    #[default]
    User,
    /// The program around the agent
    Developer,
}

impl Append {
    pub(crate) async fn run(self, context: &mut Context) -> Result<(), Failure> {
        let new = self.new_entries()?;
        // What no session takes is refused before one is opened, made, repaired or migrated.
        new.iter().try_for_each(NewEntry::check)?;
        let mut manager = self.open(context).await?;
        let appended = manager.append_batch(new).await;
        let ids = close(manager, appended).await?;
        if context.json {
            let json = match &ids[..] {
                [id] => ObjectBuilder::new().string("id", id),
                ids => {
                    let ids: Vec<_> = ids.iter().map(|id| RawJson::string(id)).collect();
                    ObjectBuilder::new().raw("ids", &RawJson::array(&ids))
                }
            };
            context.out.json(json.build().as_str())?.end()?;
        } else {
            ids.iter().try_for_each(|id| context.out.line(id))?;
        }
        Ok(())
    }

    /// Returns what is to be appended.
    fn new_entries(&self) -> Result<Vec<NewEntry>, Failure> {
        if let Some(text) = &self.text {
            let now = SystemClock.now_ms();
            let message = match self.role {
                Role::User => Message::user(text, now),
                Role::Developer => Message::developer(text, now),
            };
            return Ok(vec![NewEntry::MessageJson(message.to_json())]);
        }
        match self.new.as_deref() {
            Some("-") | None => {
                let mut input = Vec::new();
                let read = io::stdin().lock().read_to_end(&mut input);
                read.map_err(|source| Failure::Input {
                    what: "standard input".to_owned(),
                    source,
                })?;
                from_input(input)
            }
            Some(json) => Ok(vec![NewEntry::from_json(RawJson::parse(json.to_owned())?)]),
        }
    }

    async fn open(&self, context: &Context) -> Result<SessionManager, Failure> {
        if !self.create {
            return match context.store.write(&self.session, None).await {
                Err(Failure::Missing { session }) => Err(Failure::Refused(format!(
                    "there is no session {session}; --create makes one"
                ))),
                opened => opened,
            };
        }
        let target = context.store.existing_or_new(&self.session).await?;
        // Anything else that is no session fails here, before it would be moved aside.
        target.check_or_empty().await?;
        target.write_or_make().await
    }
}

/// Reads one JSON value, or one a line.
fn from_input(input: Vec<u8>) -> Result<Vec<NewEntry>, Failure> {
    if let Ok(json) = RawJson::parse(input.clone()) {
        return Ok(vec![NewEntry::from_json(json)]);
    }
    let lines = input.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    let parsed = lines.map(|line| Ok(NewEntry::from_json(RawJson::parse(line.to_vec())?)));
    match parsed.collect::<Result<Vec<_>, Failure>>()? {
        none if none.is_empty() => Err(Failure::Refused("there is nothing to append".to_owned())),
        entries => Ok(entries),
    }
}
