//! The checks, a module a subject.

use super::check::{Check, Entry};

/// Declares the modules of checks and the one table of them all.
macro_rules! modules {
    ($($module:ident),+ $(,)?) => {
        $(mod $module;)+

        static MODULES: &[(&str, &[Entry])] = &[$((stringify!($module), $module::TABLE)),+];
    };
}

modules! {
    append, cancel, claim, conflict, copy, durability, fault, keys, list, nesting, put, random, read,
    remove, version, writer,
}

/// Returns every check, in the order of the table.
pub fn checks() -> impl Iterator<Item = Check> {
    MODULES.iter().flat_map(|(module, entries)| entries.iter().map(|entry| Check { module, entry }))
}
