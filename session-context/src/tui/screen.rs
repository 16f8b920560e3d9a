//! The terminal while a screen has it, and how it is given back.

use std::io::{self, BufWriter, Stderr, Write, stderr};
use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{
    self, DisableBracketedPaste, EnableBracketedPaste, Event, KeyCode, KeyEventKind, KeyModifiers,
    KeyboardEnhancementFlags, PopKeyboardEnhancementFlags, PushKeyboardEnhancementFlags,
};
use ratatui::crossterm::style::force_color_output;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::crossterm::{cursor, execute};
use ratatui::{Frame, Terminal};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use signals::Signals;

/// How long the terminal may be read after the screen was closed.
const LOOK: Duration = Duration::from_millis(20);

/// The terminal, taken over: what was on it comes back when this is dropped, when the program
/// panics, and when it is told to end.
///
/// The screen is drawn on standard error, so that standard output stays free for what a command has
/// to say. Needs a Tokio runtime with I/O.
#[derive(Debug)]
pub struct Screen {
    terminal: Terminal<CrosstermBackend<Ink>>,
    /// Whether the terminal is given back.
    is_left: Arc<AtomicBool>,
    events: UnboundedReceiver<io::Result<Event>>,
    signals: Signals,
    reader: Reader,
    /// Set back when dropped.
    _hook: PanicHook,
}

/// What a screen is told.
#[derive(Debug)]
#[non_exhaustive]
pub enum ScreenEvent {
    /// Somebody did something, or the terminal has another size.
    Terminal(Event),
    /// The program is to end: this signal came, or (with `None`) the terminal is gone.
    End(Option<i32>),
}

impl Screen {
    /// Takes the terminal over.
    ///
    /// # Errors
    ///
    /// Standard error or standard input is no terminal, or it refuses.
    pub fn open() -> io::Result<Self> {
        // Themes look at `NO_COLOR`, and are free to be asked for all the same.
        force_color_output(true);
        let signals = Signals::new()?;
        let hook = PanicHook::new();
        enter()?;
        let is_left = Arc::new(AtomicBool::new(false));
        let ink = Ink { to: BufWriter::new(stderr()), is_left: Arc::clone(&is_left) };
        let terminal = Terminal::new(CrosstermBackend::new(ink)).inspect_err(|_| leave())?;
        let (sender, events) = unbounded_channel();
        let reader = Reader::start(sender);
        Ok(Self { terminal, is_left, events, signals, reader, _hook: hook })
    }

    /// Draws the screen.
    ///
    /// # Errors
    ///
    /// The terminal cannot be written to.
    pub fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        self.terminal.draw(draw).map(|_| ())
    }

    /// Waits for what comes next.
    ///
    /// Ctrl+z and the signal of the same meaning stop the program, with the terminal given back;
    /// when it goes on, that is told as a change of size.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: nothing that came is lost.
    pub async fn next(&mut self) -> ScreenEvent {
        loop {
            tokio::select! {
                event = self.events.recv() => match event {
                    Some(Ok(Event::Key(key))) if key.kind == KeyEventKind::Release => {}
                    Some(Ok(Event::Key(key)))
                        if key.code == KeyCode::Char('z')
                            && key.modifiers == KeyModifiers::CONTROL => return self.stop(),
                    Some(Ok(event)) => return ScreenEvent::Terminal(event),
                    Some(Err(_)) | None => return ScreenEvent::End(None),
                },
                signal = self.signals.next() => match signal {
                    signals::Signal::Stop => return self.stop(),
                    signals::Signal::End(signal) => return ScreenEvent::End(Some(signal)),
                },
            }
        }
    }

    /// Returns what has come already; `None` if nothing has.
    pub fn ready(&mut self) -> Option<Event> {
        match self.events.try_recv() {
            Ok(Ok(event)) => Some(event),
            _ => None,
        }
    }

    fn stop(&mut self) -> ScreenEvent {
        leave();
        signals::stop_this_process();
        let again = enter().and_then(|()| self.terminal.clear());
        match (again, self.terminal.size()) {
            (Ok(()), Ok(size)) => ScreenEvent::Terminal(Event::Resize(size.width, size.height)),
            _ => ScreenEvent::End(None),
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // What is typed from here on is for the shell.
        self.reader.end();
        leave();
        self.is_left.store(true, Ordering::Relaxed);
    }
}

/// What a screen is drawn with, until the terminal is given back.
#[derive(Debug)]
struct Ink {
    to: BufWriter<Stderr>,
    is_left: Arc<AtomicBool>,
}

impl Ink {
    /// Ratatui shows the cursor when it is dropped, and panics if it can neither do that nor say so.
    fn unless_left<T>(
        &mut self,
        then: T,
        write: impl FnOnce(&mut BufWriter<Stderr>) -> io::Result<T>,
    ) -> io::Result<T> {
        match self.is_left.load(Ordering::Relaxed) {
            true => Ok(then),
            false => write(&mut self.to),
        }
    }
}

impl Write for Ink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.unless_left(bytes.len(), |to| to.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.unless_left((), BufWriter::flush)
    }
}

fn enter() -> io::Result<()> {
    enable_raw_mode()?;
    let flags = KeyboardEnhancementFlags::DISAMBIGUATE_ESCAPE_CODES;
    execute!(
        stderr(),
        EnterAlternateScreen,
        EnableBracketedPaste,
        PushKeyboardEnhancementFlags(flags),
        cursor::Hide
    )
    .inspect_err(|_| leave())
}

/// Gives the terminal back; nobody is left to tell if that fails.
fn leave() {
    let _ = execute!(
        stderr(),
        PopKeyboardEnhancementFlags,
        DisableBracketedPaste,
        LeaveAlternateScreen,
        cursor::Show
    );
    let _ = disable_raw_mode();
}

/// The thread that reads the terminal.
#[derive(Debug)]
struct Reader {
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Reader {
    fn start(sender: UnboundedSender<io::Result<Event>>) -> Self {
        let ends = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&ends);
        let thread = std::thread::spawn(move || {
            while !seen.load(Ordering::Relaxed) {
                let read = match event::poll(LOOK) {
                    Ok(true) => event::read(),
                    // A terminal that is gone has nothing to say, for ever and ever.
                    Ok(false) if has_hung_up() => Err(io::ErrorKind::UnexpectedEof.into()),
                    Ok(false) => continue,
                    Err(error) => Err(error),
                };
                let failed = read.is_err();
                if sender.send(read).is_err() || failed {
                    return;
                }
            }
        });
        Self { ends, thread: Some(thread) }
    }

    fn end(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        let Some(thread) = self.thread.take() else { return };
        let start = Instant::now();
        while !thread.is_finished() {
            // Half a key is read until the rest of it comes.
            if start.elapsed() > 10 * LOOK {
                return;
            }
            std::thread::sleep(LOOK / 20);
        }
        // It only reads; whatever became of it is of no consequence any more.
        let _ = thread.join();
    }
}

/// Tells whether the terminal is gone.
#[cfg(unix)]
fn has_hung_up() -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    let stdin = io::stdin();
    let mut terminal = [PollFd::new(&stdin, PollFlags::empty())];
    // After a signal the next look finds what there is.
    let found = poll(&mut terminal, Some(&Timespec::default())).unwrap_or_default();
    found > 0 && terminal[0].revents().intersects(PollFlags::HUP | PollFlags::ERR)
}

#[cfg(not(unix))]
fn has_hung_up() -> bool {
    false
}

type Hook = dyn Fn(&panic::PanicHookInfo<'_>) + Send + Sync;

/// Gives the terminal back before a panic is told of.
struct PanicHook(Arc<Hook>);

impl std::fmt::Debug for PanicHook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PanicHook")
    }
}

impl PanicHook {
    fn new() -> Self {
        let before: Arc<Hook> = Arc::from(panic::take_hook());
        let then = Arc::clone(&before);
        panic::set_hook(Box::new(move |info| {
            leave();
            then(info);
        }));
        Self(before)
    }
}

impl Drop for PanicHook {
    fn drop(&mut self) {
        // A hook cannot be changed while it is in use.
        if !std::thread::panicking() {
            let before = Arc::clone(&self.0);
            panic::set_hook(Box::new(move |info| before(info)));
        }
    }
}

#[cfg(unix)]
mod signals {
    //! Signals that end or stop a program.

    use std::io;

    use rustix::process::{Signal as Number, getpid, kill_process};
    use tokio::signal::unix::{Signal as Stream, SignalKind, signal};

    #[derive(Debug)]
    pub(super) struct Signals {
        hang_up: Stream,
        interrupt: Stream,
        stop: Stream,
        terminate: Stream,
    }

    pub(super) enum Signal {
        Stop,
        End(i32),
    }

    impl Signals {
        pub(super) fn new() -> io::Result<Self> {
            Ok(Self {
                hang_up: signal(SignalKind::hangup())?,
                interrupt: signal(SignalKind::interrupt())?,
                stop: signal(SignalKind::from_raw(Number::TSTP.as_raw()))?,
                terminate: signal(SignalKind::terminate())?,
            })
        }

        pub(super) async fn next(&mut self) -> Signal {
            tokio::select! {
                _ = self.hang_up.recv() => Signal::End(Number::HUP.as_raw()),
                _ = self.interrupt.recv() => Signal::End(Number::INT.as_raw()),
                _ = self.terminate.recv() => Signal::End(Number::TERM.as_raw()),
                _ = self.stop.recv() => Signal::Stop,
            }
        }
    }

    /// Stops until somebody says to go on.
    pub(super) fn stop_this_process() {
        // Refused only if there is no such process.
        let _ = kill_process(getpid(), Number::STOP);
    }
}

#[cfg(not(unix))]
mod signals {
    //! Where there are no signals, nothing is ever told of one.

    use std::io;

    #[derive(Debug)]
    pub(super) struct Signals;

    #[allow(dead_code, reason = "a wait for what never comes")]
    pub(super) enum Signal {
        Stop,
        End(i32),
    }

    impl Signals {
        pub(super) fn new() -> io::Result<Self> {
            Ok(Self)
        }

        pub(super) async fn next(&mut self) -> Signal {
            std::future::pending().await
        }
    }

    pub(super) fn stop_this_process() {}
}
