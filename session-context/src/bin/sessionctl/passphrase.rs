//! Passphrases: from a file, the environment or the terminal, never from the command line, where
//! others could see them.

use std::env;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::PathBuf;

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

use crate::failure::Failure;

/// The variable that may hold it.
const VARIABLE: &str = "SESSION_PASSPHRASE";

/// Where a passphrase comes from.
#[derive(Debug, clap::Args)]
pub(crate) struct PassphraseArgs {
    /// Take the passphrase from the first line of FILE; default: $SESSION_PASSPHRASE, else it is
    /// asked for
    #[arg(long, value_name = "FILE")]
    passphrase_file: Option<PathBuf>,
}

impl PassphraseArgs {
    /// Returns the passphrase for a file that exists.
    pub(crate) fn get(&self) -> Result<String, Failure> {
        self.get_from(|terminal| terminal.ask("Passphrase: "))
    }

    /// Returns a passphrase for a new file; a person has to type it twice.
    pub(crate) fn get_new(&self) -> Result<String, Failure> {
        self.get_from(|terminal| {
            let passphrase = terminal.ask("New passphrase: ")?;
            match terminal.ask("The same again: ")? == passphrase {
                true => Ok(passphrase),
                false => Err(io::Error::other("the two are not the same")),
            }
        })
    }

    fn get_from(
        &self,
        ask: impl FnOnce(&mut Terminal) -> io::Result<String>,
    ) -> Result<String, Failure> {
        let passphrase = if let Some(path) = &self.passphrase_file {
            let first = File::open(path).and_then(|file| line_of(&mut BufReader::new(file)));
            first.map_err(|source| Failure::Input { what: path.display().to_string(), source })?
        } else if let Some(passphrase) = env::var_os(VARIABLE) {
            let no_text = |_| Failure::Refused(format!("${VARIABLE} is no UTF-8"));
            passphrase.into_string().map_err(no_text)?
        } else {
            let asked = Terminal::open().and_then(|mut terminal| ask(&mut terminal));
            let what = format!("a passphrase (set ${VARIABLE} or give --passphrase-file)");
            asked.map_err(|source| Failure::Input { what, source })?
        };
        match passphrase.is_empty() {
            true => Err(Failure::Refused("the passphrase is empty".to_owned())),
            false => Ok(passphrase),
        }
    }
}

/// A terminal that does not show what is typed.
struct Terminal {
    reader: BufReader<File>,
    before: Termios,
}

impl Terminal {
    fn open() -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open("/dev/tty")?;
        let before = tcgetattr(&file)?;
        let mut silent = before.clone();
        silent.local_modes.remove(LocalModes::ECHO);
        tcsetattr(&file, OptionalActions::Flush, &silent)?;
        Ok(Self { reader: BufReader::new(file), before })
    }

    fn ask(&mut self, question: &str) -> io::Result<String> {
        self.reader.get_mut().write_all(question.as_bytes())?;
        let answer = line_of(&mut self.reader)?;
        self.reader.get_mut().write_all(b"\n")?;
        Ok(answer)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // Should it fail, `stty echo` is all that is left to do, and the user can see that.
        let _ = tcsetattr(self.reader.get_ref(), OptionalActions::Now, &self.before);
    }
}

fn line_of(reader: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    reader.read_line(&mut line)?;
    line.truncate(line.trim_end_matches(['\n', '\r']).len());
    Ok(line)
}
