//! The `sessionctl` command: looks into sessions of coding agents, and adds to them.

mod bar;
mod commands;
mod conversation;
mod failure;
mod findings;
mod new_file;
mod output;
#[cfg(feature = "encrypt")]
mod passphrase;
mod place;
mod places;
mod screen;
mod store;
mod summarizer;
mod target;
mod terminal;
mod wait;

use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};
use commands::Command;
use failure::{EXIT_CODES, Failure};
use output::{ColorChoice, Output, say_error};
use store::StoreArgs;

/// Looks into sessions of coding agents, and adds to them.
///
/// A session is named by the path of its file, whatever the place, or by its id or the beginning of
/// it. With --store it is named by its key in that storage, or by its id.
///
/// On a terminal, sessionctl alone shows the sessions there are, as `sessionctl resume --interactive`.
#[derive(Debug, Parser)]
#[command(name = "sessionctl", version, after_help = EXIT_CODES, max_term_width = 100)]
struct Args {
    #[command(subcommand)]
    command: Option<Command>,

    #[command(flatten)]
    store: StoreArgs,

    /// Print one JSON document instead of text
    #[arg(long, global = true)]
    json: bool,

    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t)]
    color: ColorChoice,
}

/// What every command works with.
#[derive(Debug)]
struct Context {
    store: StoreArgs,
    json: bool,
    color: ColorChoice,
    out: Output,
}

fn main() -> ExitCode {
    let Args { command, store, json, color } = Args::parse();
    let command = command.or_else(|| screen::is_there().then(Command::picker));
    let Some(command) = command else {
        let mut usage = Args::command();
        let help = usage.render_help();
        usage.error(ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand, help).exit();
    };
    let mut context = Context { store, json, color, out: Output::new(color) };
    let done = run(command, &mut context);
    context.store.tell_of_storages();
    let flushed = context.out.flush().map_err(Failure::from);
    match done.and(flushed) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) if failure.is_broken_pipe() => ExitCode::SUCCESS,
        Err(failure) => {
            say_error(&failure);
            failure.exit_code()
        }
    }
}

fn run(command: Command, context: &mut Context) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Failure::Start)?;
    runtime.block_on(command.run(context))
}
