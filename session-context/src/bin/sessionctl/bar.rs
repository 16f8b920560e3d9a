//! How far long work is, for those who watch.

use indicatif::{ProgressBar, ProgressDrawTarget};

/// A bar on standard error, if that is a terminal; gone when it is dropped.
pub(crate) struct Bar(ProgressBar);

impl Bar {
    pub(crate) fn new() -> Self {
        Self(ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()))
    }

    /// Shows how much of all is done.
    pub(crate) fn tell(&self, done: u64, all: u64) {
        self.0.set_length(all);
        self.0.set_position(done);
    }

    /// Takes the bar away until there is more to tell.
    pub(crate) fn pause(&self) {
        self.0.finish_and_clear();
        self.0.reset();
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
