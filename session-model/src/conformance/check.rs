//! A named check, and how it is run.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use super::cx::{Cx, block_on};
use super::failure::{Failure, Result};
use super::harness::{Abilities, FaultPoint, Harness};

/// The future of a running check.
pub(super) type Running<'a> = Pin<Box<dyn Future<Output = Result> + Send + 'a>>;

/// What a check needs beyond what every backend and harness can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    Nothing,
    Tampering,
    Fault(FaultPoint),
}

/// A line of a module's table.
pub(super) struct Entry {
    pub(super) name: &'static str,
    pub(super) need: Need,
    pub(super) body: for<'a> fn(&'a Cx) -> Running<'a>,
}

/// A check of one promise of the storage contract.
#[derive(Clone, Copy)]
pub struct Check {
    pub(super) module: &'static str,
    pub(super) entry: &'static Entry,
}

impl Check {
    /// Returns the name, such as `append::bytes_begin_at_the_returned_offset`.
    pub fn name(&self) -> String {
        format!("{}::{}", self.module, self.entry.name)
    }

    /// Tells whether a harness with these abilities can run this check.
    pub fn applies_to(&self, abilities: &Abilities) -> bool {
        match self.entry.need {
            Need::Nothing => true,
            Need::Tampering => abilities.tampering,
            Need::Fault(point) => abilities.faults.contains(&point),
        }
    }

    /// Runs the check on a fresh subject.
    ///
    /// # Errors
    ///
    /// A [`Failure`] that tells which expectation was not met; also if the check does not apply,
    /// so that no caller takes it for passed.
    pub fn run(&self, harness: &Arc<dyn Harness>) -> Result<(), Failure> {
        if !self.applies_to(&harness.abilities()) {
            return Err(Failure::new(format!("the harness lacks {:?}", self.entry.need)));
        }
        let cx = Cx::new(Arc::clone(harness))?;
        block_on(harness.as_ref(), (self.entry.body)(&cx))?
    }
}

impl fmt::Debug for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Check").field(&self.name()).finish()
    }
}

/// Declares the table of a module: the names of its check functions, and what they need.
macro_rules! table {
    ($($name:ident $(needs $need:expr)?),+ $(,)?) => {
        pub(super) static TABLE: &[$crate::conformance::check::Entry] = &[$(
            $crate::conformance::check::Entry {
                name: stringify!($name),
                need: table!(@need $($need)?),
                body: |cx| Box::pin($name(cx)),
            },
        )+];
    };
    (@need) => { $crate::conformance::check::Need::Nothing };
    (@need $need:expr) => { $need };
}
pub(super) use table;
