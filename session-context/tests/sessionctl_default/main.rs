//! The command with its default features: what the whole command passes, and a round of the rest.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    dead_code,
    unreachable_pub,
    reason = "tests, and parts of others"
)]

#[path = "../sessionctl/doctor.rs"]
mod doctor;
#[path = "../sessionctl/import.rs"]
mod import;
#[path = "../sessionctl/operations.rs"]
mod operations;
#[path = "../support/shipped.rs"]
mod programs;
#[path = "../sessionctl/reading.rs"]
mod reading;
mod round;
#[path = "../sessionctl/support.rs"]
mod support;
#[path = "../sessionctl/verify.rs"]
mod verify;
#[path = "../sessionctl/writing.rs"]
mod writing;

/// The build that these tests drive.
mod shipped {
    pub use crate::programs::sessionctl_default as sessionctl;
}

/// The backends of this build.
const BACKENDS: &str = "file, memory";
