//! A private Redis for the tests: found or installed, started, stopped.

mod install;
mod server;

use std::{
    env,
    ffi::OsStr,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

pub(crate) use server::Server;

use crate::Result;

/// Path of the server's program, for us and for tests that start their own.
pub(crate) const BINARY: &str = "SESSION_TEST_REDIS_SERVER";

const NAMES: [&str; 2] = ["redis-server", "valkey-server"];

/// The server's program: named by [`BINARY`], else found on PATH, else installed.
pub(crate) fn find_or_install() -> Result<PathBuf> {
    if let Some(binary) = env::var_os(BINARY) {
        return Ok(binary.into());
    }
    match on_path(&NAMES) {
        Some(binary) => Ok(binary),
        None => install::install(),
    }
}

/// The first program of these names on PATH.
fn on_path(names: &[&str]) -> Option<PathBuf> {
    find_in(&env::var_os("PATH")?, names)
}

fn find_in(path: &OsStr, names: &[&str]) -> Option<PathBuf> {
    let candidates =
        names.iter().flat_map(|name| env::split_paths(path).map(move |folder| folder.join(name)));
    candidates.into_iter().find(|candidate| is_program(candidate))
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn only_a_program_is_found_and_redis_comes_first() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str, mode| {
            let path = dir.path().join(name);
            fs::write(&path, "").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            path
        };
        let path = env::join_paths([Path::new("/nowhere"), dir.path()]).unwrap();
        let redis = file("redis-server", 0o644);
        assert_eq!(find_in(&path, &NAMES), None);
        let valkey = file("valkey-server", 0o755);
        assert_eq!(find_in(&path, &NAMES), Some(valkey));
        file("redis-server", 0o755);
        assert_eq!(find_in(&path, &NAMES), Some(redis));
    }
}
