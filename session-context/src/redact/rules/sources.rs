//! Catalogues that publish the shapes of many kinds.

pub(super) const GITLEAKS: &str = "Gitleaks: default configuration";
pub(super) const TRUFFLEHOG: &str = "TruffleHog: detectors";
pub(super) const NOSEYPARKER: &str = "Nosey Parker: builtin rules";
pub(super) const GITHUB: &str = "GitHub Docs: supported secret scanning patterns";
