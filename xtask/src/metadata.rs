//! What `cargo metadata` says about the workspace.

use std::{
    collections::BTreeMap,
    env,
    path::{Path, PathBuf},
};

use serde::Deserialize;

use crate::{
    Error, Result,
    process::{cargo, command_line, output},
};

/// The workspace and its own packages, without those it downloads.
#[derive(Debug, Default, Deserialize)]
pub struct Metadata {
    pub(crate) workspace_root: PathBuf,
    #[serde(default)]
    pub(crate) target_directory: PathBuf,
    pub(crate) packages: Vec<Package>,
}

/// A package of the workspace.
#[derive(Debug, Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) version: String,
    /// The registries it may go to: none named means any, an empty list none.
    #[serde(default)]
    publish: Option<Vec<String>>,
    pub(crate) manifest_path: PathBuf,
    pub(crate) rust_version: Option<String>,
    pub(crate) features: BTreeMap<String, Vec<String>>,
    pub(crate) dependencies: Vec<Dependency>,
    pub(crate) targets: Vec<Target>,
}

/// A line of a package's dependencies.
#[derive(Debug, Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// `dev` or `build`; none for a normal one.
    pub(crate) kind: Option<String>,
}

/// Something cargo builds from a package.
#[derive(Debug, Deserialize)]
pub(crate) struct Target {
    pub(crate) name: String,
    pub(crate) kind: Vec<String>,
    pub(crate) src_path: PathBuf,
}

impl Metadata {
    /// Asks cargo about the workspace of the current directory.
    ///
    /// # Errors
    ///
    /// When cargo cannot be run or finds no workspace.
    pub fn load() -> Result<Self> {
        let mut command = cargo();
        command.args(["metadata", "--no-deps", "--format-version", "1"]);
        serde_json::from_slice(&output(&mut command)?)
            .map_err(|source| Error::Answer { command: command_line(&command), source })
    }

    /// Makes the workspace's root the current directory.
    ///
    /// # Errors
    ///
    /// When the folder cannot be entered.
    pub fn enter_root(&self) -> Result<()> {
        let path = &self.workspace_root;
        env::set_current_dir(path).map_err(|source| Error::Read { path: path.clone(), source })
    }

    /// The oldest Rust the packages declare to build with.
    pub(crate) fn rust_version(&self) -> Option<String> {
        self.packages.first()?.rust_version.clone()
    }

    pub(crate) fn package(&self, name: &str) -> Option<&Package> {
        self.packages.iter().find(|package| package.name == name)
    }

    /// A path of cargo's answer as the project names it: from the root, with `/`.
    pub(crate) fn relative(&self, path: &Path) -> String {
        let path = path.strip_prefix(&self.workspace_root).unwrap_or(path);
        path.to_string_lossy().replace('\\', "/")
    }
}

impl Package {
    /// Whether it is published.
    pub(crate) fn is_shipped(&self) -> bool {
        self.publish.as_ref().is_none_or(|registries| !registries.is_empty())
    }
}
