//! The `sessionctl` command.

fn main() {}
