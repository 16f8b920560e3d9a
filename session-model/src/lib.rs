//! Pure model of coding-agent sessions.

#[cfg(feature = "conformance")]
pub mod conformance;
pub mod storage;
