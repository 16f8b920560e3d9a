//! The one way to standard output and standard error.
//!
//! Everything for people passes through [`terminal`], so no command can print what a terminal would
//! act on.

use std::error::Error;
use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};

use anstyle::{AnsiColor, Style};
use clap::ValueEnum;
use session_model::json::RawJson;

use crate::failure::causes;
use crate::terminal;

/// What is left of a preview however little room there is.
const SHORTEST_PREVIEW: usize = 20;

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorChoice {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl ColorChoice {
    fn is_on(self, is_terminal: bool) -> bool {
        let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => {
                is_terminal
                    && !set("NO_COLOR")
                    && std::env::var_os("TERM").is_none_or(|t| t != "dumb")
            }
        }
    }
}

/// How a piece of text looks.
pub(crate) mod look {
    use super::{AnsiColor, Style};

    pub(crate) const PLAIN: Style = Style::new();
    pub(crate) const STRONG: Style = Style::new().bold();
    pub(crate) const DIM: Style = Style::new().dimmed();
    pub(crate) const ID: Style = AnsiColor::Yellow.on_default();
    pub(crate) const USER: Style = AnsiColor::Cyan.on_default().bold();
    pub(crate) const ASSISTANT: Style = AnsiColor::Green.on_default();
    pub(crate) const LABEL: Style = AnsiColor::Magenta.on_default();
    pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
    pub(crate) const WARNING: Style = AnsiColor::Yellow.on_default().bold();
}

/// Buffered standard output.
#[derive(Debug)]
pub(crate) struct Output {
    to: BufWriter<StdoutLock<'static>>,
    is_terminal: bool,
    color: bool,
    /// Columns of the terminal.
    width: Option<usize>,
}

impl Output {
    pub(crate) fn new(color: ColorChoice) -> Self {
        let stdout = io::stdout().lock();
        let is_terminal = stdout.is_terminal();
        let to = BufWriter::with_capacity(1 << 16, stdout);
        let size = if is_terminal { terminal_size::terminal_size() } else { None };
        let width = size.map(|(width, _)| width.0.into());
        Self { to, is_terminal, color: color.is_on(is_terminal), width }
    }

    /// Prints part of a line.
    pub(crate) fn text(&mut self, style: Style, text: &str) -> io::Result<&mut Self> {
        self.piece(style, &terminal::clean_line(text))?;
        Ok(self)
    }

    /// Ends the line.
    pub(crate) fn end(&mut self) -> io::Result<()> {
        self.to.write_all(b"\n")
    }

    /// Prints a line.
    pub(crate) fn line(&mut self, text: &str) -> io::Result<()> {
        self.text(look::PLAIN, text)?.end()
    }

    /// Prints a text of many lines, indented by two.
    pub(crate) fn block(&mut self, text: &str) -> io::Result<()> {
        self.styled_block(look::PLAIN, text)
    }

    /// Prints a text of many lines, indented by two.
    pub(crate) fn styled_block(&mut self, style: Style, text: &str) -> io::Result<()> {
        for line in terminal::clean(text).lines() {
            if !line.is_empty() {
                self.to.write_all(b"  ")?;
                self.piece(style, line)?;
            }
            self.end()?;
        }
        Ok(())
    }

    /// Prints text that is clean.
    fn piece(&mut self, style: Style, text: &str) -> io::Result<()> {
        if self.color && style != look::PLAIN && !text.is_empty() {
            return write!(self.to, "{style}{text}{style:#}");
        }
        self.to.write_all(text.as_bytes())
    }

    /// Returns how many characters fit into a line behind so many.
    pub(crate) fn room_behind(&self, used: usize) -> usize {
        self.width.map_or(usize::MAX, |width| width.saturating_sub(used).max(SHORTEST_PREVIEW))
    }

    /// Prints JSON as it is spelled. On a terminal, what that would act on is escaped.
    pub(crate) fn json(&mut self, json: &str) -> io::Result<&mut Self> {
        if self.is_terminal {
            self.to.write_all(terminal::escape_json(json).as_bytes())?;
        } else {
            self.to.write_all(json.as_bytes())?;
        }
        Ok(self)
    }

    /// Prints JSON values separated by commas.
    pub(crate) fn json_list(
        &mut self,
        values: impl Iterator<Item = RawJson>,
    ) -> io::Result<&mut Self> {
        for (at, value) in values.enumerate() {
            self.json(if at == 0 { "" } else { "," })?.json(value.as_str())?;
        }
        Ok(self)
    }

    /// Prints bytes of unknown origin as they are; on a terminal, as text it does not act on.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.is_terminal {
            let text = String::from_utf8_lossy(bytes);
            return self.to.write_all(terminal::clean(&text).as_bytes());
        }
        self.to.write_all(bytes)
    }

    /// Prints a script of this program's own, byte for byte.
    pub(crate) fn script(&mut self, script: &[u8]) -> io::Result<()> {
        self.to.write_all(script)
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// How many characters of a title are shown in a line.
pub(crate) const TITLE_CHARS: usize = 60;

/// Returns a number with the word for what is counted.
pub(crate) fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// Prints a line to standard error.
pub(crate) fn say(word: &str, text: &str) {
    // Nobody is left to tell if standard error is gone.
    let _ = writeln!(io::stderr().lock(), "{word}: {}", terminal::clean_line(text));
}

/// Prints an error with its causes.
pub(crate) fn say_error(error: &dyn Error) {
    for (at, text) in causes(error).iter().enumerate() {
        say(if at == 0 { "error" } else { "  caused by" }, text);
    }
}
