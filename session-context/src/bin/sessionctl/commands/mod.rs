//! The commands, each in a file of its own.

mod append;
mod artifacts;
mod branch;
mod completions;
mod context;
mod doctor;
mod gc;
#[cfg(feature = "indexed")]
mod index;
mod label;
mod list;
mod migrate;
mod show;
mod tree;
mod verify;
mod watch;

use clap::Subcommand;

use crate::Context;
use crate::failure::Failure;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    List(list::List),
    Show(show::Show),
    Tree(tree::Tree),
    Context(context::Context),
    Watch(watch::Watch),
    Verify(verify::Verify),
    Gc(gc::Gc),
    Artifacts(artifacts::ArtifactsArgs),
    Doctor(doctor::Doctor),
    #[cfg(feature = "indexed")]
    Index(index::Index),
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
            Self::Show(show) => show.run(context).await,
            Self::Tree(tree) => tree.run(context).await,
            Self::Context(shown) => shown.run(context).await,
            Self::Watch(watch) => watch.run(context).await,
            Self::Verify(verify) => verify.run(context).await,
            Self::Gc(gc) => gc.run(context).await,
            Self::Artifacts(artifacts) => artifacts.run(context).await,
            Self::Doctor(doctor) => doctor.run(context).await,
            #[cfg(feature = "indexed")]
            Self::Index(index) => index.run(context),
            Self::Migrate(migrate) => migrate.run(context).await,
            Self::Append(append) => append.run(context).await,
            Self::Label(label) => label.run(context).await,
            Self::Branch(branch) => branch.run(context).await,
            Self::Completions(completions) => completions.run(context),
        }
    }
}
