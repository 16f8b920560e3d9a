//! Files that a command makes beside sessions: none takes the place of another unless that was asked
//! for.

use std::io;
use std::path::Path;

use session_context::export;

use crate::failure::Failure;

/// Writes a file whole, or leaves nothing of it; see [`export::write_file`].
pub(crate) fn write_file(path: &Path, bytes: &[u8], replace: bool) -> Result<(), Failure> {
    export::write_file(path, bytes, replace).map_err(|source| match source.kind() {
        io::ErrorKind::AlreadyExists if !replace => {
            let path = path.display();
            Failure::Refused(format!("{path} is there already; --force replaces it"))
        }
        _ => Failure::Write { what: path.display().to_string(), source },
    })
}
