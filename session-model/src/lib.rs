//! Pure model of coding-agent sessions.

pub mod body;
pub mod json;
pub mod message;
pub mod record;
pub mod storage;
