//! Names of terminals.

use super::TERMINALS_DIR;
use crate::storage::StorageKey;

/// The name of the terminal a program runs in, as other tools of the family have it.
///
/// ```
/// use session_model::layout::TerminalId;
///
/// let id = |tty, name: &str, value: &str| {
///     TerminalId::new(tty, |var| (var == name).then(|| value.to_owned()))
/// };
/// assert_eq!(id(Some("/dev/pts/3"), "TMUX_PANE", "%1").unwrap().as_str(), "pts-3");
/// assert_eq!(id(None, "KITTY_WINDOW_ID", "42").unwrap().as_str(), "kitty-42");
/// assert_eq!(id(None, "HOME", "/home/sam"), None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TerminalId(String);

/// What tells terminals apart where there is no path, the innermost first.
const VARIABLES: [(&str, &[&str]); 6] = [
    ("zellij", &["ZELLIJ_SESSION_NAME", "ZELLIJ_PANE_ID"]),
    ("tmux", &["TMUX_PANE"]),
    ("kitty", &["KITTY_WINDOW_ID"]),
    ("wezterm", &["WEZTERM_PANE"]),
    ("apple", &["TERM_SESSION_ID"]),
    ("wt", &["WT_SESSION"]),
];

impl TerminalId {
    /// Names the terminal by the path of its device, else by what `var` says of the environment;
    /// `None` if neither tells.
    pub fn new(tty: Option<&str>, var: impl Fn(&str) -> Option<String>) -> Option<Self> {
        if let Some(device) = tty.and_then(|tty| tty.strip_prefix("/dev/")) {
            return Some(Self(safe(device)));
        }
        VARIABLES.iter().find_map(|(name, variables)| {
            let set = |variable: &&str| var(variable).filter(|value| !value.is_empty());
            let values: Vec<String> = variables.iter().map(set).collect::<Option<_>>()?;
            Some(Self(safe(&format!("{name}-{}", values.join("-")))))
        })
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the key of the terminal's breadcrumb; `None` if the name can be no file's.
    pub fn key(&self) -> Option<StorageKey> {
        StorageKey::new(TERMINALS_DIR).ok()?.join(&self.0).ok()
    }
}

/// The name without what separates folders.
fn safe(name: &str) -> String {
    name.replace(['/', '\\', '\0'], "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(tty: Option<&str>, vars: &[(&str, &str)]) -> Option<String> {
        let var = |name: &str| vars.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned());
        TerminalId::new(tty, var).map(|id| id.as_str().to_owned())
    }

    #[test]
    fn every_kind_of_terminal_has_a_name() {
        let all = [
            ("ZELLIJ_SESSION_NAME", "main/x"),
            ("ZELLIJ_PANE_ID", "7"),
            ("TMUX_PANE", "%3"),
            ("KITTY_WINDOW_ID", "2"),
            ("WEZTERM_PANE", "5"),
            ("TERM_SESSION_ID", "w0t0p0:ABC"),
            ("WT_SESSION", "guid"),
        ];
        let want =
            ["zellij-main-x-7", "tmux-%3", "kitty-2", "wezterm-5", "apple-w0t0p0:ABC", "wt-guid"];
        for (at, want) in want.iter().enumerate() {
            let from = if at == 0 { 0 } else { at + 1 };
            assert_eq!(id(None, &all[from..]).as_deref(), Some(*want));
        }
        assert_eq!(id(Some("/dev/pts/3"), &all).as_deref(), Some("pts-3"));
        assert_eq!(id(Some("pipe:[1]"), &all[3..]).as_deref(), Some("kitty-2"));
        assert_eq!(id(None, &[("TMUX_PANE", "")]), None);
        assert_eq!(id(None, &all[1..2]), None);
    }

    #[test]
    fn a_name_that_can_be_no_key_has_none() {
        let key = |tty| TerminalId::new(Some(tty), |_| None).unwrap().key();
        assert_eq!(key("/dev/pts/3").unwrap().as_str(), "terminal-sessions/pts-3");
        assert_eq!(key("/dev/.."), None);
        assert_eq!(key(&format!("/dev/{}", "x".repeat(300))), None);
    }
}
