//! No secret leaves `sessionctl` as it is shipped, wherever it stands and on whatever way.
//!
//! Values are made anew in each run; `SESSION_TEST_SEED` repeats one.
#![allow(clippy::unwrap_used, clippy::panic, unreachable_pub, reason = "tests")]

mod handed_on;
mod kinds;
mod leaks;
mod ordinary;
mod places;
mod rng;
#[path = "../support/shipped.rs"]
mod shipped;
mod surroundings;
mod ways_out;

#[test]
fn kinds_are_many_and_each_is_named_once() {
    let kinds = kinds::all();
    let mut names: Vec<_> = kinds.iter().map(|kind| kind.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), kinds.len());
    assert!(kinds.len() >= 150, "{}", kinds.len());
    assert!(kinds.iter().all(|kind| !kind.source.is_empty()));
}
