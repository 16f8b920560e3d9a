//! Following a session as a stream.

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_core::Stream;

use super::{FollowEvent, Follower};
use crate::error::Result;

/// How often a followed file is looked at by default: every 100 ms.
pub const DEFAULT_INTERVAL: Duration = Duration::from_millis(100);

/// How a session is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FollowOptions {
    /// How long to wait between two looks at the file; default: [`DEFAULT_INTERVAL`].
    pub interval: Duration,
    /// Whether the entries that are there already come first; default: no.
    pub from_start: bool,
}

impl Default for FollowOptions {
    fn default() -> Self {
        Self { interval: DEFAULT_INTERVAL, from_start: false }
    }
}

impl FollowOptions {
    /// These options with another time between two looks.
    pub fn interval(self, interval: Duration) -> Self {
        Self { interval, ..self }
    }

    /// These options, beginning with the session's first entry.
    pub fn from_start(self) -> Self {
        Self { from_start: true, ..self }
    }
}

type Look = Pin<Box<dyn Future<Output = (Follower, Result<Vec<FollowEvent>>)> + Send>>;

/// What happens to a session, as a stream that never ends.
///
/// An error is an item like any other, given once until it changes; the file is looked at again
/// after it. Dropping a wait for the next item loses nothing.
///
/// # Panics
///
/// When polled outside a tokio runtime with time enabled.
pub struct Follow {
    look: Look,
    interval: Duration,
    waiting: VecDeque<FollowEvent>,
    last_error: Option<String>,
}

impl Follow {
    pub(super) fn new(follower: Follower, interval: Duration) -> Self {
        let (waiting, last_error) = (VecDeque::new(), None);
        Self { look: look_after(follower, Duration::ZERO), interval, waiting, last_error }
    }
}

fn look_after(mut follower: Follower, pause: Duration) -> Look {
    Box::pin(async move {
        if !pause.is_zero() {
            tokio::time::sleep(pause).await;
        }
        let found = follower.look().await;
        (follower, found)
    })
}

impl Stream for Follow {
    type Item = Result<FollowEvent>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(event) = self.waiting.pop_front() {
                return Poll::Ready(Some(Ok(event)));
            }
            let (follower, found) = ready!(self.look.as_mut().poll(cx));
            self.look = look_after(follower, self.interval);
            match found {
                Ok(events) => {
                    self.last_error = None;
                    self.waiting.extend(events);
                }
                Err(error) => {
                    let text = Some(error.to_string());
                    if std::mem::replace(&mut self.last_error, text.clone()) != text {
                        return Poll::Ready(Some(Err(error)));
                    }
                }
            }
        }
    }
}

impl fmt::Debug for Follow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Follow")
            .field("interval", &self.interval)
            .field("waiting", &self.waiting)
            .finish_non_exhaustive()
    }
}
