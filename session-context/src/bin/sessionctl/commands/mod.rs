//! The commands, each in a file of its own.

mod append;
mod branch;
mod completions;
mod context;
mod label;
mod list;
mod migrate;
mod resume;
mod show;
mod tree;
mod verify;

use clap::Subcommand;

use crate::Context;
use crate::failure::Failure;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    List(list::List),
    Resume(resume::Resume),
    Show(show::Show),
    Tree(tree::Tree),
    Context(context::Context),
    Verify(verify::Verify),
    Migrate(migrate::Migrate),
    Append(append::Append),
    Label(label::Label),
    Branch(branch::Branch),
    Completions(completions::Completions),
}

impl Command {
    pub(crate) async fn run(self, context: &mut Context) -> Result<(), Failure> {
        match self {
            Self::List(list) => list.run(context).await,
            Self::Resume(resume) => resume.run(context).await,
            Self::Show(show) => show.run(context).await,
            Self::Tree(tree) => tree.run(context).await,
            Self::Context(shown) => shown.run(context).await,
            Self::Verify(verify) => verify.run(context).await,
            Self::Migrate(migrate) => migrate.run(context).await,
            Self::Append(append) => append.run(context).await,
            Self::Label(label) => label.run(context).await,
            Self::Branch(branch) => branch.run(context).await,
            Self::Completions(completions) => completions.run(context),
        }
    }
}
