//! Fuzzes `remote::wire`.
#![no_main]

#[path = "../src/remote.rs"]
#[allow(dead_code, reason = "each target uses its own part")]
mod remote;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| remote::wire(bytes));
