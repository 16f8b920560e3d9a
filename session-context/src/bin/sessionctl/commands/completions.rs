//! `sessionctl completions`

use clap::CommandFactory;
use clap_complete::Shell;

use crate::failure::Failure;
use crate::{Args, Context};

/// Print a script that completes sessionctl's arguments in a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sessionctl completions bash > ~/.local/share/bash-completion/completions/sessionctl
  sessionctl completions zsh > ~/.zfunc/_sessionctl")]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(self, context: &mut Context) -> Result<(), Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Args::command(), "sessionctl", &mut script);
        context.out.script(&script)?;
        Ok(())
    }
}
