//! The terminal as a screen, for commands that ask for a choice.

use std::io::{self, IsTerminal};

use session_context::tui::{Screen, Theme};

use crate::failure::Failure;
use crate::output::ColorChoice;

/// The signal that says that the terminal is gone.
const HANG_UP: i32 = 1;

/// Tells whether there is a terminal to ask somebody: what a command prints may go elsewhere.
pub(crate) fn is_there() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// The colours that were asked for; `None` for what the environment allows.
pub(crate) fn theme(color: ColorChoice) -> Option<Theme> {
    match color {
        ColorChoice::Auto => None,
        ColorChoice::Always => Some(Theme::colored()),
        ColorChoice::Never => Some(Theme::plain()),
    }
}

/// Takes the terminal over.
pub(crate) fn open() -> Result<Screen, Failure> {
    if !is_there() {
        let text = "--interactive needs a terminal as standard input and standard error";
        return Err(Failure::Usage(text.to_owned()));
    }
    Screen::open().map_err(failed)
}

/// The failure of a screen that could not be drawn; a terminal that is gone is told of as by its
/// signal, which may come later.
pub(crate) fn failed(error: io::Error) -> Failure {
    /// What a terminal answers that hung up.
    const EIO: i32 = 5;
    match error.kind() == io::ErrorKind::BrokenPipe || error.raw_os_error() == Some(EIO) {
        true => ended(None),
        false => Failure::Screen(error),
    }
}

/// The failure of a command that was told to end.
pub(crate) fn ended(signal: Option<i32>) -> Failure {
    Failure::Signal(u8::try_from(signal.unwrap_or(HANG_UP)).unwrap_or(u8::MAX))
}
