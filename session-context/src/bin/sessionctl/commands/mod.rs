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
mod resume_screen;
mod rewind;
mod rm;
mod search;
mod show;
mod stats;
mod tree;
mod tree_screen;
mod unpack;
mod verify;
mod watch;

use clap::Subcommand;

use crate::Context;
use crate::failure::Failure;
use crate::wait::Waiting;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    List(list::List),
    Resume(resume::Resume),
    Search(search::Search),
    Show(show::Show),
    Tree(tree::Tree),
    Context(context::Context),
    Stats(stats::Stats),
    Watch(watch::Watch),
    Verify(verify::Verify),
    Gc(Waiting<gc::Gc>),
    Artifacts(artifacts::ArtifactsArgs),
    Export(export::ExportArgs),
    Pack(pack::Pack),
    Unpack(Waiting<unpack::Unpack>),
    Doctor(Waiting<doctor::Doctor>),
    #[cfg(feature = "indexed")]
    History(history::History),
    #[cfg(feature = "indexed")]
    Index(index::Index),
    Import(Waiting<import::Import>),
    #[cfg(feature = "redis")]
    Remote(remote::Remote),
    Migrate(Waiting<migrate::Migrate>),
    Append(Waiting<append::Append>),
    Label(Waiting<label::Label>),
    Branch(Waiting<branch::Branch>),
    Fork(Waiting<fork::Fork>),
    BranchOut(Waiting<branch_out::BranchOut>),
    Merge(Waiting<merge::Merge>),
    Archive(Waiting<archive::Archive>),
    Rename(Waiting<rename::Rename>),
    Mv(Waiting<mv::Mv>),
    Rm(Waiting<rm::Rm>),
    Restore(Waiting<restore::Restore>),
    Navigate(Waiting<navigate::Navigate>),
    Checkpoint(Waiting<checkpoint::Checkpoint>),
    Rewind(Waiting<rewind::Rewind>),
    Completions(completions::Completions),
}

impl Command {
    /// What is run on a terminal without a command.
    pub(crate) fn picker() -> Self {
        Self::Resume(resume::Resume::interactive())
    }

    pub(crate) async fn run(self, context: &mut Context) -> Result<(), Failure> {
        match self {
            Self::List(list) => list.run(context).await,
            Self::Resume(resume) => resume.run(context).await,
            Self::Search(search) => search.run(context).await,
            Self::Show(show) => show.run(context).await,
            Self::Tree(tree) => tree.run(context).await,
            Self::Context(shown) => shown.run(context).await,
            Self::Stats(stats) => stats.run(context).await,
            Self::Watch(watch) => watch.run(context).await,
            Self::Verify(verify) => verify.run(context).await,
            Self::Gc(gc) => gc.ready(context).run(context).await,
            Self::Artifacts(artifacts) => artifacts.run(context).await,
            Self::Export(export) => export.run(context).await,
            Self::Pack(pack) => pack.run(context).await,
            Self::Unpack(unpack) => unpack.ready(context).run(context).await,
            Self::Doctor(doctor) => doctor.ready(context).run(context).await,
            #[cfg(feature = "indexed")]
            Self::History(history) => history.run(context),
            #[cfg(feature = "indexed")]
            Self::Index(index) => index.run(context),
            Self::Import(import) => import.ready(context).run(context).await,
            #[cfg(feature = "redis")]
            Self::Remote(remote) => remote.run(context).await,
            Self::Migrate(migrate) => migrate.ready(context).run(context).await,
            Self::Append(append) => append.ready(context).run(context).await,
            Self::Label(label) => label.ready(context).run(context).await,
            Self::Branch(branch) => branch.ready(context).run(context).await,
            Self::Fork(fork) => fork.ready(context).run(context).await,
            Self::BranchOut(branch_out) => branch_out.ready(context).run(context).await,
            Self::Merge(merge) => merge.ready(context).run(context).await,
            Self::Archive(archive) => archive.ready(context).run(context).await,
            Self::Rename(rename) => rename.ready(context).run(context).await,
            Self::Mv(mv) => mv.ready(context).run(context).await,
            Self::Rm(rm) => rm.ready(context).run(context).await,
            Self::Restore(restore) => restore.ready(context).run(context).await,
            Self::Navigate(navigate) => navigate.ready(context).run(context).await,
            Self::Checkpoint(checkpoint) => checkpoint.ready(context).run(context).await,
            Self::Rewind(rewind) => rewind.ready(context).run(context).await,
            Self::Completions(completions) => completions.run(context),
        }
    }
}
