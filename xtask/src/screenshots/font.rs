//! The font of the pictures.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use ab_glyph::FontVec;

use crate::{Error, Result, packages};

const REGULAR: &str = "DejaVuSansMono.ttf";
const BOLD: &str = "DejaVuSansMono-Bold.ttf";

/// What systems call the package.
const PACKAGES: [&str; 3] = ["fonts-dejavu-core", "dejavu-sans-mono-fonts", "font-dejavu"];

/// Where systems keep fonts.
const FOLDERS: [&str; 3] = ["/usr/share/fonts", "/usr/local/share/fonts", "/Library/Fonts"];

/// DejaVu Sans Mono, which has the lines that screens are drawn with.
pub(super) struct Fonts {
    pub(super) regular: FontVec,
    pub(super) bold: FontVec,
}

impl Fonts {
    pub(super) fn find_or_install() -> Result<Self> {
        if find(REGULAR).is_none() {
            packages::install(&PACKAGES, || find(REGULAR).is_some())
                .map_err(|tried| Error::NoFont { font: REGULAR, tried })?;
        }
        Ok(Self { regular: load(REGULAR)?, bold: load(BOLD)? })
    }
}

fn load(font: &'static str) -> Result<FontVec> {
    let gone = |tried: String| Error::NoFont { font, tried };
    let path = find(font).ok_or_else(|| gone("its package has no such file".to_owned()))?;
    let bytes = fs::read(&path).map_err(|source| Error::Read { path, source })?;
    FontVec::try_from_vec(bytes).map_err(|error| gone(error.to_string()))
}

fn find(font: &str) -> Option<PathBuf> {
    let own = env::home_dir().map(|home| home.join("Library/Fonts"));
    let folders = FOLDERS.iter().map(PathBuf::from).chain(own);
    folders.into_iter().find_map(|folder| find_below(&folder, font))
}

fn find_below(folder: &Path, font: &str) -> Option<PathBuf> {
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => open.push(entry.path()),
                _ if entry.file_name() == font => return Some(entry.path()),
                _ => {}
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_font_is_found_in_any_folder_below() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("truetype/some");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("x.ttf"), "").unwrap();
        assert_eq!(find_below(dir.path(), "x.ttf"), Some(folder.join("x.ttf")));
        assert_eq!(find_below(dir.path(), "y.ttf"), None);
    }
}
