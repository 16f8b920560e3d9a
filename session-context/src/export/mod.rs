//! Sessions as documents for people and other programs.

pub mod foreign;
