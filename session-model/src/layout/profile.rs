//! The agents whose directories are known.

use super::BucketScheme;

/// How one agent keeps its sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AgentProfile {
    /// The agent's name.
    pub name: &'static str,
    /// Its directory, below the user's home.
    pub agent_dir: &'static str,
    /// How its buckets are named.
    pub buckets: BucketScheme,
    /// Whether new files begin with a title slot.
    pub title_slot: bool,
}

impl AgentProfile {
    /// The agent xcsh, whose ways are the default.
    pub const XCSH: Self = Self {
        name: "xcsh",
        agent_dir: ".xcsh/agent",
        buckets: BucketScheme::Absolute,
        title_slot: false,
    };

    /// The agent omp.
    pub const OMP: Self = Self {
        name: "omp",
        agent_dir: ".omp/agent",
        buckets: BucketScheme::Relative,
        title_slot: true,
    };

    /// The agent pi.
    pub const PI: Self = Self {
        name: "pi",
        agent_dir: ".pi/agent",
        buckets: BucketScheme::Absolute,
        title_slot: false,
    };

    /// All known agents, the default first.
    pub const KNOWN: [Self; 3] = [Self::XCSH, Self::OMP, Self::PI];

    /// Finds a known agent by name.
    pub fn find(name: &str) -> Option<Self> {
        Self::KNOWN.into_iter().find(|profile| profile.name == name)
    }
}

impl Default for AgentProfile {
    fn default() -> Self {
        Self::XCSH
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_are_found_by_name() {
        for profile in AgentProfile::KNOWN {
            assert_eq!(AgentProfile::find(profile.name), Some(profile));
        }
        assert_eq!(AgentProfile::find("other"), None);
        assert_eq!(AgentProfile::default(), AgentProfile::KNOWN[0]);
    }
}
