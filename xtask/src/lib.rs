//! Everything a developer or CI runs: the checks, the tests with their set-up, the benches.
//!
//! The `xtask` binary only reads the command line; the commands live here so that they have unit
//! tests like everything else.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a developer's tool talks on the terminal"
)]

pub mod bench;
mod chromium;
pub mod ci;
mod deny;
mod error;
pub mod faults;
mod features;
pub mod fuzz;
mod metadata;
mod outside;
mod packages;
mod process;
mod published;
mod redis;
mod report;
mod same_features;
pub mod screenshots;
pub mod shipped;
mod snippets;
pub mod test;
pub mod tidy;

pub use error::{Error, Result};
pub use metadata::Metadata;
pub use report::Report;
