//! Sessions of coding agents: open one, append to it, branch it, and rebuild what a model sees.

pub mod env;
mod error;
pub mod manager;
mod paths;

pub use error::{Result, SessionError};
pub use manager::{NameSource, NewSession, SessionManager, SessionOptions, SessionState};
