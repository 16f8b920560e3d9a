//! Everything a developer or CI runs.

fn main() {}
