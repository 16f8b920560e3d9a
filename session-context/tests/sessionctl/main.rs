//! The `sessionctl` command, run as a program.

mod busy;
mod pitfalls;
mod reading;
mod support;
mod terminal;
mod verify;
mod writing;
