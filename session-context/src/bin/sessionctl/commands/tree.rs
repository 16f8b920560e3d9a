//! `sessionctl tree`

use clap::builder::{PossibleValuesParser, TypedValueParser};
use session_context::tui::TreeSelectorOptions;
use session_model::tree::{SessionTree, TreeOptions};
use session_model::tree_view::{TextOptions, TreeFilter, TreeView, TreeViewOptions, ViewRow};

use super::show::print_preview;
use super::tree_screen;
use crate::Context;
use crate::failure::Failure;
use crate::output::{Output, look, say};
use crate::target::Shown;

/// Print a session's entries as the tree they form
///
/// The branch in use comes first and is marked with a dot. Entries that follow each other without
/// a branch are not indented further. --json prints the whole tree, unfiltered.
///
/// With --interactive the tree is on a screen of its own, to search it, to label entries, and to go
/// to one; F1 shows all keys.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sessionctl tree session.jsonl
  sessionctl tree session.jsonl --filter no-tools
  sessionctl tree session.jsonl --search \"retry delay\"
  sessionctl tree --interactive session.jsonl
  sessionctl tree -i 019bc10e --summarizer ./sum-up.sh")]
pub(crate) struct Tree {
    /// The session
    session: String,
    /// Which entries are shown
    #[arg(long, value_name = "NAME", default_value_t, value_parser = filter())]
    filter: TreeFilter,
    /// Only entries with all these words, in any order; letters may lie between those of a word
    #[arg(long, value_name = "WORDS", default_value = "", hide_default_value = true)]
    search: String,
    /// Show archived branches too
    #[arg(long)]
    archived: bool,
    /// Draw the lines in ASCII
    #[arg(long, conflicts_with = "interactive")]
    ascii: bool,
    /// Choose an entry on the screen and go to it; the result is as of `sessionctl navigate`
    #[arg(long, short)]
    interactive: bool,
    /// Offer to sum up a branch that is left: a shell command that reads it from standard input,
    /// one line a message, and prints the summary
    #[arg(long, value_name = "COMMAND", requires = "interactive")]
    summarizer: Option<String>,
}

impl Tree {
    pub(crate) async fn run(self, context: &mut Context) -> Result<(), Failure> {
        let mut options = TreeViewOptions::default().filter(self.filter).search(&self.search);
        options.archived = self.archived;
        if self.interactive {
            let mut screen = TreeSelectorOptions::default().durable();
            screen.view = options;
            return tree_screen::run(&self.session, screen, self.summarizer, context).await;
        }
        let manager = context.store.read(&self.session, Shown::References).await?;
        if context.json {
            return self.print_json(manager.tree(), &mut context.out);
        }
        let view = TreeView::new(manager.tree(), &options);
        if view.rows().is_empty() && !manager.tree().is_empty() {
            say("note", "no entry is shown; --filter all shows all, --archived those archived too");
        }
        for row in view.rows() {
            self.print_row(row, manager.tree(), &mut context.out)?;
        }
        Ok(())
    }

    fn print_row(
        &self,
        row: &ViewRow,
        tree: &SessionTree,
        out: &mut Output,
    ) -> Result<(), Failure> {
        let draw = if self.ascii { TextOptions::default().ascii() } else { TextOptions::default() };
        let lines: String = row.guides(draw.max_columns).map(|guide| draw.draw(guide)).collect();
        let mark = match (row.active, self.ascii) {
            (false, _) => "",
            (true, true) => "* ",
            (true, false) => "• ",
        };
        let id = tree.entry(row.node).id().unwrap_or_default();
        let archived = if row.archived { "(archived) " } else { "" };
        let label = row.label.as_ref().map(|label| format!("[{label}] ")).unwrap_or_default();
        let before = [&*lines, mark, &*id, " ", archived, &*label];
        out.text(look::DIM, &lines)?.text(look::STRONG, mark)?.text(look::ID, &id)?;
        out.text(look::DIM, " ")?.text(look::DIM, archived)?.text(look::LABEL, &label)?;
        let room = out.room_behind(before.iter().map(|part| part.chars().count()).sum());
        print_preview(&row.preview, room, out)?;
        out.end()?;
        Ok(())
    }

    fn print_json(&self, tree: &SessionTree, out: &mut Output) -> Result<(), Failure> {
        if self.filter != TreeFilter::Default || !self.search.is_empty() || self.ascii {
            return Err(Failure::Usage(
                "--json prints the whole tree; --filter, --search and --ascii do not go with it"
                    .to_owned(),
            ));
        }
        let options =
            if self.archived { TreeOptions::with_archived() } else { TreeOptions::default() };
        out.json(&tree.rows_json(&tree.rows(options)))?.end()?;
        Ok(())
    }
}

fn filter() -> impl TypedValueParser<Value = TreeFilter> {
    let names = TreeFilter::CYCLE.map(TreeFilter::as_str);
    PossibleValuesParser::new(names).try_map(|name| name.parse())
}
