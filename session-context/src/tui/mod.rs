//! Screens for a terminal, as parts a program can embed: the tree of a session, and the choice of a
//! session.
//!
//! [`TreeSelector`] and [`SessionPicker`] are widgets with their state: give one events and draw it
//! wherever there is room; it says what is to be done and does nothing itself. [`select_in_tree`] and
//! [`pick_session`] are whole loops around them that have a [`Screen`] to themselves, move the
//! session, and rename, delete and fork sessions.
//!
//! What entries say is drawn without control characters, so no text can act on the terminal. Colours
//! are the sixteen of the terminal, on its own background, and none if `NO_COLOR` is set; nothing is
//! told by colour alone.

mod detail;
mod draw;
mod help;
mod highlight;
mod input;
mod look;
mod picker;
mod screen;
mod tree;

pub use look::Theme;
pub use picker::{PickerAction, PickerOutcome, SessionPicker, SessionPickerOptions, pick_session};
pub use screen::{Screen, ScreenEvent};
pub use tree::{
    SummaryChoice, TreeAction, TreeOutcome, TreeSelector, TreeSelectorOptions, select_in_tree,
};
