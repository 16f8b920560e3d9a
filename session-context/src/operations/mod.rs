//! Operations on whole sessions that nobody has open: delete, restore.

pub(crate) mod relocate;
mod trash;

pub use trash::{
    Deleted, TRASH_DIR, Trashed, delete_session, delete_session_forever, list_trash,
    restore_session,
};
