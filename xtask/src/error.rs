//! What can go wrong in a step.

use std::{error::Error as _, io, path::PathBuf, process::ExitStatus};

/// The result of a step.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a step failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A program could not be started.
    #[error("cannot start `{command}`")]
    Start {
        /// The command line.
        command: String,
        /// What the system said.
        source: io::Error,
    },
    /// A program ended with a failure.
    #[error("`{command}` ended with {status}")]
    Failed {
        /// The command line.
        command: String,
        /// How it ended.
        status: ExitStatus,
    },
    /// A program's answer is not the JSON it should be.
    #[error("cannot read the answer of `{command}`")]
    Answer {
        /// The command line.
        command: String,
        /// What is wrong with the answer.
        source: serde_json::Error,
    },
    /// A file of the project could not be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file of the project could not be written.
    #[error("cannot write {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The font of the pictures is missing, and could not be installed.
    #[error("no {font} below the folders of fonts, and {tried}; install it: pictures need it")]
    NoFont {
        /// The font's file.
        font: &'static str,
        /// What was tried.
        tried: String,
    },
    /// A screen never showed what it is to show.
    #[error("the screen never showed `{wanted}`; it shows:\n{screen}")]
    Screen {
        /// What it is to show.
        wanted: &'static str,
        /// What it shows.
        screen: String,
    },
    /// A text of the project lacks the place a screen goes to.
    #[error("{} has no line `{mark}` with a block of text below", path.display())]
    NoPlace {
        /// The text.
        path: PathBuf,
        /// The line.
        mark: String,
    },
    /// `tidy` found something.
    #[error("{0} findings; each line above names a place to mend")]
    Untidy(usize),
    /// Tests build with features that are not shipped.
    #[error(
        "{0} features are on only for tests, each named above; ask for them where the crate is used, \
         or do without them in the tests"
    )]
    OnlyTested(usize),
    /// The packages declare no oldest Rust.
    #[error("`[workspace.package]` lacks `rust-version`")]
    NoRustVersion,
    /// A packed crate holds what only tests need.
    #[error(
        "{name} packs {bytes} bytes or has `tests`; its manifest's `include` says what is packed"
    )]
    LargePackage {
        /// Name and version.
        name: String,
        /// The size of all its files.
        bytes: u64,
    },
    /// The workspace lacks a bench.
    #[error("package `{package}` has no bench named `{bench}`")]
    NoBench {
        /// The package that should have it.
        package: &'static str,
        /// The bench's name.
        bench: &'static str,
    },
    /// No Chromium, and none could be installed.
    #[error(
        "no chromium on PATH, and {tried}; install it, or set SESSION_TEST_CHROMIUM to its path: \
         exported pages are opened in a real browser and nothing is skipped"
    )]
    NoChromium {
        /// What was tried to get one.
        tried: String,
    },
    /// No Redis, and none could be installed.
    #[error(
        "no redis-server or valkey-server on PATH, and {tried}; install one of them, or set \
         SESSION_TEST_REDIS_SERVER to its path: the tests need a real server and skip nothing"
    )]
    NoRedis {
        /// What was tried.
        tried: String,
    },
    /// A program the tests start is missing, and could not be installed.
    #[error(
        "no `{program}` on PATH, and {tried}; install package {package}: the tests need it and skip \
         nothing"
    )]
    NoTool {
        /// The program.
        program: &'static str,
        /// The package that has it.
        package: &'static str,
        /// What was tried.
        tried: String,
    },
    /// No place for files of the moment.
    #[error("cannot make a temporary directory")]
    Scratch(#[source] io::Error),
    /// Redis could not be prepared or started.
    #[error("cannot prepare a private Redis")]
    RedisSetUp(#[source] io::Error),
    /// Redis ended before it answered.
    #[error("{} did not come up; its log ends with:\n{log}", binary.display())]
    RedisDown {
        /// The server's path.
        binary: PathBuf,
        /// The end of its log.
        log: String,
    },
}

impl Error {
    /// The message with those of all its causes.
    pub fn chain(&self) -> String {
        let mut text = self.to_string();
        let mut cause = self.source();
        while let Some(error) = cause {
            text.push_str(": ");
            text.push_str(&error.to_string());
            cause = error.source();
        }
        text
    }
}
