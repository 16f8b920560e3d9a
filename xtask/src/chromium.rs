//! A Chromium for the tests of exported pages: found or installed.

use std::{env, path::PathBuf};

use crate::{Error, Result, packages, process::on_path};

/// Path of the browser's program, for tests.
pub(crate) const BINARY: &str = "SESSION_TEST_CHROMIUM";

const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];
/// What systems call the packages that bring one of them.
const PACKAGES: [&str; 2] = ["chromium", "chromium-browser"];

/// The browser's program: named by [`BINARY`], else found on PATH, else installed.
pub(crate) fn find_or_install() -> Result<PathBuf> {
    if let Some(binary) = env::var_os(BINARY) {
        return Ok(binary.into());
    }
    if let Some(binary) = on_path(&NAMES) {
        return Ok(binary);
    }
    let installed = packages::install(&PACKAGES, || on_path(&NAMES).is_some());
    installed.map_err(|tried| Error::NoChromium { tried })?;
    let gone = || Error::NoChromium { tried: "it is gone after it was installed".to_owned() };
    on_path(&NAMES).ok_or_else(gone)
}
