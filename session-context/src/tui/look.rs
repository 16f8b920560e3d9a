//! How things look.

use ratatui::style::{Color, Modifier, Style};

/// Whether screens have colours.
///
/// ```
/// use session_context::tui::Theme;
///
/// assert_ne!(Theme::colored(), Theme::plain());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Theme {
    color: bool,
}

impl Theme {
    /// The colours of the terminal.
    pub fn colored() -> Self {
        Self { color: true }
    }

    /// No colours.
    pub fn plain() -> Self {
        Self { color: false }
    }

    /// No colours if `NO_COLOR` is set to anything, else those of the terminal.
    pub fn from_env() -> Self {
        Self { color: std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) }
    }

    /// Returns the style of something.
    pub(super) fn style(self, look: Look) -> Style {
        let (color, modifier) = match look {
            Look::Plain => (None, Modifier::empty()),
            Look::Strong => (None, Modifier::BOLD),
            Look::Dim => (None, Modifier::DIM),
            Look::Selected => (None, Modifier::REVERSED),
            Look::Found => (None, Modifier::UNDERLINED.union(Modifier::BOLD)),
            Look::User => (Some(Color::Cyan), Modifier::BOLD),
            Look::Assistant => (Some(Color::Green), Modifier::empty()),
            Look::Label => (Some(Color::Magenta), Modifier::BOLD),
            Look::Key => (Some(Color::Cyan), Modifier::empty()),
            Look::Bad => (Some(Color::Red), Modifier::BOLD),
        };
        let style = Style::new().add_modifier(modifier);
        match color.filter(|_| self.color) {
            Some(color) => style.fg(color),
            None => style,
        }
    }
}

/// What something is, for the eye.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    Plain,
    Strong,
    Dim,
    Selected,
    Found,
    User,
    Assistant,
    Label,
    Key,
    Bad,
}

impl Look {
    /// How the name of somebody who speaks looks.
    pub(super) fn of_role(role: &str) -> Self {
        match role {
            "user" => Self::User,
            "assistant" => Self::Assistant,
            _ => Self::Dim,
        }
    }
}
