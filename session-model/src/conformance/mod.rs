//! The conformance suite every storage backend runs: each promise of the
//! [storage contract](crate::storage), checked by name.
//!
//! # Running it
//!
//! The suite has no runtime and no test framework of its own. A backend's test binary implements
//! [`Harness`], which makes empty places for data and runs futures, and [`Subject`], which opens
//! one place as often as it is asked. Every one of the [`checks`] then becomes a test:
//!
//! ```no_run
//! use std::process::ExitCode;
//! use std::sync::Arc;
//!
//! use async_trait::async_trait;
//! use libtest_mimic::{Arguments, Trial};
//! use session_model::conformance::{checks, Harness, HookResult, Subject, Task};
//! use session_model::storage::SessionStorage;
//! # struct TempDir;
//! # impl TempDir { fn new() -> HookResult<Self> { Ok(Self) } }
//! # fn open_mine(_: &TempDir) -> HookResult<Arc<dyn SessionStorage>> { Err("none".into()) }
//! # fn block_on(_: Task<'_>) {}
//!
//! struct Mine;
//!
//! impl Harness for Mine {
//!     fn subject(&self) -> HookResult<Box<dyn Subject>> {
//!         Ok(Box::new(Place(TempDir::new()?)))
//!     }
//!
//!     fn block_on(&self, task: Task<'_>) {
//!         block_on(task); // for instance that of a tokio runtime
//!     }
//! }
//!
//! struct Place(TempDir);
//!
//! #[async_trait]
//! impl Subject for Place {
//!     async fn open(&self) -> HookResult<Arc<dyn SessionStorage>> {
//!         open_mine(&self.0)
//!     }
//! }
//!
//! fn main() -> ExitCode {
//!     let harness: Arc<dyn Harness> = Arc::new(Mine);
//!     let abilities = harness.abilities();
//!     let trials = checks().map(|check| {
//!         let harness = Arc::clone(&harness);
//!         Trial::test(format!("mine::{}", check.name()), move || Ok(check.run(&harness)?))
//!             .with_ignored_flag(!check.applies_to(&abilities))
//!     });
//!     libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
//! }
//! ```
//!
//! The test target needs `harness = false` in its manifest. Its tests are then named as
//! `mine::append::bytes_begin_at_the_returned_offset` and can be run one by one.
//!
//! # What a backend declares
//!
//! Not every medium can do everything; [`Abilities`] says what this one can. Nothing is skipped
//! for it in silence:
//!
//! - A level of durability that is not declared must be answered with `Unsupported`, and a backend
//!   without local paths must name none.
//! - Some promises show only when the medium fails or somebody else meddles with it. Harnesses
//!   that can arrange that declare it and implement [`Subject::fail_next`] and
//!   [`Subject::tamper`]. For others, [`Check::applies_to`] is false for those checks, and running
//!   one all the same is a failure.
//!
//! # What the suite cannot check
//!
//! That a dead process's claim is taken over, that `Durable` survives a loss of power, and that an
//! object that cannot be looked at is an error item of a listing: these need processes, machines
//! and media, and are for the tests of each backend.
//!
//! # Random runs
//!
//! The check `random::operations_agree_with_a_map` tries random sequences of operations, with
//! several writers, two handles and reopening, and compares the backend with a map after every
//! step. [`RandomRun`] makes longer runs, or others.
//!
//! # Adding a check
//!
//! Write an `async fn(&Cx) -> Result` in a module of `checks` and name it in that module's
//! `table!`, which is the only way to run it. The suite denies dead code, so a function that is
//! in no table does not compile, nor does a name without its function; a module gets into the
//! build through `modules!` alone, which takes its table along.

// A check that is not in the table is dead code, and must not compile.
#![deny(dead_code)]

mod check;
mod checks;
mod cx;
mod failure;
mod harness;
mod random;
mod support;

pub use check::Check;
pub use checks::checks;
pub use failure::Failure;
pub use harness::{Abilities, FaultPoint, Harness, HookResult, Subject, Tampering, Task};
pub use random::RandomRun;
