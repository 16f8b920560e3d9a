//! Pure model of coding-agent sessions.

pub mod json;
pub mod storage;
