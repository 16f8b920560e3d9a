//! A private Redis for the tests: found or installed, started, stopped.

mod server;

use std::{env, path::PathBuf};

pub(crate) use server::Server;

use crate::{Error, Result, packages, process::on_path};

/// Path of the server's program, for us and for tests that start their own.
pub(crate) const BINARY: &str = "SESSION_TEST_REDIS_SERVER";

const NAMES: [&str; 2] = ["redis-server", "valkey-server"];
/// What systems call the packages that bring one of them.
const PACKAGES: [&str; 4] = ["redis-server", "redis", "valkey-server", "valkey"];

/// The server's program: named by [`BINARY`], else found on PATH, else installed.
pub(crate) fn find_or_install() -> Result<PathBuf> {
    if let Some(binary) = env::var_os(BINARY) {
        return Ok(binary.into());
    }
    if let Some(binary) = on_path(&NAMES) {
        return Ok(binary);
    }
    let installed = packages::install(&PACKAGES, || on_path(&NAMES).is_some());
    let gone = || Error::NoRedis { tried: "it is gone after it was installed".to_owned() };
    installed.map_err(|tried| Error::NoRedis { tried })?;
    on_path(&NAMES).ok_or_else(gone)
}
