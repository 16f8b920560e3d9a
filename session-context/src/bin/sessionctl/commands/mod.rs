//! The commands, each in a file of its own.

mod append;
mod archive;
mod artifacts;
mod branch;
mod branch_out;
mod checkpoint;
mod completions;
mod context;
mod doctor;
mod export;
mod fork;
mod gc;
#[cfg(feature = "indexed")]
mod history;
mod import;
#[cfg(feature = "indexed")]
mod index;
mod label;
mod list;
mod merge;
mod migrate;
mod mv;
mod navigate;
mod pack;
#[cfg(feature = "redis")]
mod remote;
mod rename;
mod restore;
mod resume;
mod rewind;
mod rm;
mod show;
mod stats;
mod tree;
mod unpack;
mod verify;
mod watch;

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
    Stats(stats::Stats),
    Watch(watch::Watch),
    Verify(verify::Verify),
    Gc(gc::Gc),
    Artifacts(artifacts::ArtifactsArgs),
    Export(export::ExportArgs),
    Pack(pack::Pack),
    Unpack(unpack::Unpack),
    Doctor(doctor::Doctor),
    #[cfg(feature = "indexed")]
    History(history::History),
    #[cfg(feature = "indexed")]
    Index(index::Index),
    Import(import::Import),
    #[cfg(feature = "redis")]
    Remote(remote::Remote),
    Migrate(migrate::Migrate),
    Append(append::Append),
    Label(label::Label),
    Branch(branch::Branch),
    Fork(fork::Fork),
    BranchOut(branch_out::BranchOut),
    Merge(merge::Merge),
    Archive(archive::Archive),
    Rename(rename::Rename),
    Mv(mv::Mv),
    Rm(rm::Rm),
    Restore(restore::Restore),
    Navigate(navigate::Navigate),
    Checkpoint(checkpoint::Checkpoint),
    Rewind(rewind::Rewind),
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
            Self::Stats(stats) => stats.run(context).await,
            Self::Watch(watch) => watch.run(context).await,
            Self::Verify(verify) => verify.run(context).await,
            Self::Gc(gc) => gc.run(context).await,
            Self::Artifacts(artifacts) => artifacts.run(context).await,
            Self::Export(export) => export.run(context).await,
            Self::Pack(pack) => pack.run(context).await,
            Self::Unpack(unpack) => unpack.run(context).await,
            Self::Doctor(doctor) => doctor.run(context).await,
            #[cfg(feature = "indexed")]
            Self::History(history) => history.run(context),
            #[cfg(feature = "indexed")]
            Self::Index(index) => index.run(context),
            Self::Import(import) => import.run(context).await,
            #[cfg(feature = "redis")]
            Self::Remote(remote) => remote.run(context).await,
            Self::Migrate(migrate) => migrate.run(context).await,
            Self::Append(append) => append.run(context).await,
            Self::Label(label) => label.run(context).await,
            Self::Branch(branch) => branch.run(context).await,
            Self::Fork(fork) => fork.run(context).await,
            Self::BranchOut(branch_out) => branch_out.run(context).await,
            Self::Merge(merge) => merge.run(context).await,
            Self::Archive(archive) => archive.run(context).await,
            Self::Rename(rename) => rename.run(context).await,
            Self::Mv(mv) => mv.run(context).await,
            Self::Rm(rm) => rm.run(context).await,
            Self::Restore(restore) => restore.run(context).await,
            Self::Navigate(navigate) => navigate.run(context).await,
            Self::Checkpoint(checkpoint) => checkpoint.run(context).await,
            Self::Rewind(rewind) => rewind.run(context).await,
            Self::Completions(completions) => completions.run(context),
        }
    }
}
