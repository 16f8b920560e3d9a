//! The feature sets clippy looks at, read from the manifests so that a new feature is covered.

use crate::metadata::{Metadata, Package};

/// One run of clippy.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FeatureSet {
    /// For people.
    pub(crate) name: String,
    /// Arguments for cargo that select packages, features and targets.
    pub(crate) args: Vec<String>,
}

impl FeatureSet {
    fn new(name: String, args: &[&str]) -> Self {
        Self { name, args: args.iter().map(|&arg| arg.to_owned()).collect() }
    }
}

/// The whole workspace with all features, then each package on its own.
///
/// A package alone shows what the workspace hides: there another package may turn on what this one
/// forgot to ask for. Tests are looked at with all and with default features only; the others see
/// the library and the binaries without the features that dev-dependencies bring.
pub(crate) fn feature_sets(metadata: &Metadata) -> Vec<FeatureSet> {
    let all = ["--workspace", "--all-features", "--all-targets"];
    let mut sets = vec![FeatureSet::new("workspace, all features".to_owned(), &all)];
    sets.extend(metadata.packages.iter().flat_map(package_sets));
    sets
}

fn package_sets(package: &Package) -> Vec<FeatureSet> {
    let name = &package.name;
    let args = ["--package", name, "--all-targets"];
    let mut sets = vec![FeatureSet::new(format!("{name}, default features"), &args)];
    let has_default = package.features.get("default").is_some_and(|list| !list.is_empty());
    if has_default {
        let args = ["--package", name, "--no-default-features"];
        sets.push(FeatureSet::new(format!("{name}, no features"), &args));
    }
    for feature in package.features.keys().filter(|feature| *feature != "default") {
        let args = ["--package", name, "--no-default-features", "--features", feature];
        sets.push(FeatureSet::new(format!("{name}, feature {feature}"), &args));
    }
    sets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_feature_of_every_package_gets_a_run() {
        let metadata: Metadata = serde_json::from_str(
            r#"{"workspace_root": "/p", "packages": [
                {"name": "plain", "manifest_path": "/p/plain/Cargo.toml", "rust_version": null,
                 "features": {}, "dependencies": [], "targets": []},
                {"name": "rich", "manifest_path": "/p/rich/Cargo.toml", "rust_version": null,
                 "features": {"default": ["a"], "a": [], "b": ["dep:x"]},
                 "dependencies": [], "targets": []}
            ]}"#,
        )
        .unwrap();
        let sets: Vec<_> = feature_sets(&metadata)
            .into_iter()
            .map(|set| format!("{}: {}", set.name, set.args.join(" ")))
            .collect();
        assert_eq!(
            sets,
            [
                "workspace, all features: --workspace --all-features --all-targets",
                "plain, default features: --package plain --all-targets",
                "rich, default features: --package rich --all-targets",
                "rich, no features: --package rich --no-default-features",
                "rich, feature a: --package rich --no-default-features --features a",
                "rich, feature b: --package rich --no-default-features --features b",
            ]
        );
    }
}
