//! Fuzzes `properties::query`.
#![no_main]

#[path = "../src/properties.rs"]
#[allow(dead_code, reason = "each target uses its own part")]
mod properties;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| properties::query(bytes));
