//! The time and new ids, as a program in ordinary use has them.

use std::time::{SystemTime, UNIX_EPOCH};

use session_model::env::{Clock, IdSource};
use session_model::layout::TerminalId;
use uuid::Uuid;

/// The system's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now_ms(&self) -> i64 {
        let signed = |ms: u128| i64::try_from(ms).unwrap_or(i64::MAX);
        match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(since) => signed(since.as_millis()),
            Err(before) => -signed(before.duration().as_millis()),
        }
    }
}

/// Random entry ids, and UUIDv7 session ids.
#[derive(Clone, Copy, Debug, Default)]
pub struct RandomIds;

impl IdSource for RandomIds {
    fn entry_id(&mut self) -> String {
        let mut text = Uuid::encode_buffer();
        let text = Uuid::new_v4().simple().encode_lower(&mut text);
        text[24..].to_owned()
    }

    fn session_id(&mut self) -> String {
        Uuid::now_v7().to_string()
    }
}

/// Names the terminal this process reads from, by its standard input or its environment.
pub fn terminal_id() -> Option<TerminalId> {
    TerminalId::new(tty().as_deref(), |name| std::env::var(name).ok())
}

#[cfg(unix)]
fn tty() -> Option<String> {
    let name = rustix::termios::ttyname(std::io::stdin(), Vec::new()).ok()?;
    name.into_string().ok()
}

#[cfg(not(unix))]
fn tty() -> Option<String> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_the_form_the_format_asks_for() {
        let id = RandomIds.entry_id();
        assert!(id.len() == 8 && id.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f')), "{id}");
        assert_ne!(id, RandomIds.entry_id());
        assert_eq!(RandomIds.session_id().as_bytes()[14], b'7');
    }
}
