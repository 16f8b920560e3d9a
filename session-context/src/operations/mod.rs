//! Operations on whole sessions that nobody has open: copy, delete, restore.

mod copy;
pub(crate) mod relocate;
mod trash;
pub(crate) mod unfinished;

pub use copy::{CopiedSession, copy_session, session_header};
pub use trash::{
    Deleted, TRASH_DIR, Trashed, delete_session, delete_session_forever, list_trash,
    restore_session,
};
