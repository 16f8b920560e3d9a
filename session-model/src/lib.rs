//! Pure model of coding-agent sessions.

pub mod storage;
