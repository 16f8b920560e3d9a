//! The conformance suite every storage backend runs: each promise of
//! [`SessionStorage`](crate::storage::SessionStorage), checked by name.
//!
//! A backend's test binary implements [`Harness`] (makes empty places, runs futures) and
//! [`Subject`] (opens one place, as often as asked), and turns [`checks`] into tests. The suite
//! has no runtime of its own. With libtest-mimic, in a test target with `harness = false`:
//!
//! ```text
//! fn main() -> ExitCode {
//!     let harness: Arc<dyn Harness> = Arc::new(MyHarness);
//!     let trials = conformance::checks().map(|check| {
//!         let harness = Arc::clone(&harness);
//!         Trial::test(format!("mine::{}", check.name()), move || Ok(check.run(&harness)?))
//!     });
//!     libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
//! }
//! ```

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
