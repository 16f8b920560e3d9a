//! Sessions of coding agents.
