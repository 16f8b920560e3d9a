//! A pause for any executor.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

/// A future that is ready after a while, woken by a thread of its own.
///
/// Storage futures are driven by executors of all kinds, most of which have no timer; a pause is
/// rare and short, so a thread for each costs next to nothing.
pub(crate) struct Pause(Arc<Mutex<State>>);

enum State {
    /// Not begun.
    New(Duration),
    Running(Waker),
    Over,
}

impl Pause {
    pub(crate) fn of(time: Duration) -> Self {
        Self(Arc::new(Mutex::new(State::New(time))))
    }
}

impl Future for Pause {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let time = match &*state {
            State::Over => return Poll::Ready(()),
            State::New(time) => Some(*time),
            State::Running(_) => None,
        };
        *state = State::Running(cx.waker().clone());
        drop(state);
        if let Some(time) = time {
            let shared = Arc::clone(&self.0);
            let end = move || {
                thread::sleep(time);
                let mut state = shared.lock().unwrap_or_else(PoisonError::into_inner);
                if let State::Running(waker) = std::mem::replace(&mut *state, State::Over) {
                    waker.wake();
                }
            };
            if thread::Builder::new().name("session-wait".to_owned()).spawn(end).is_err() {
                // No thread can be had at the moment: the pause is as long as one turn of the executor.
                *self.0.lock().unwrap_or_else(PoisonError::into_inner) = State::Over;
                cx.waker().wake_by_ref();
            }
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_pause_ends_on_an_executor_without_timers() {
        let before = Instant::now();
        pollster::block_on(Pause::of(Duration::from_millis(20)));
        assert!(before.elapsed() >= Duration::from_millis(20));
    }
}
