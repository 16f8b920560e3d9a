//! Sessions of Claude Code and Codex, imported and exported.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs, unreachable_pub, reason = "tests")]

mod claude;
mod codex;
mod ours;
mod pitfalls;
mod real;
mod reimport;
mod support;
mod walk_claude;
mod walk_codex;
