//! What tells one state of a file from another.

use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::Stat;
use session_model::storage::{ObjectMeta, StorageKey, Version};

/// Identity, size and times of a file at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) device: u64,
    pub(crate) inode: u64,
    pub(crate) size: u64,
    pub(crate) mode: u32,
    /// Nanoseconds since 1970.
    modified: i128,
    changed: i128,
}

impl From<&Stat> for State {
    // The types of these fields differ from system to system.
    #[allow(clippy::unnecessary_cast, clippy::useless_conversion)]
    fn from(stat: &Stat) -> Self {
        let nanos = |secs: i128, nanos: i128| secs * 1_000_000_000 + nanos;
        Self {
            device: stat.st_dev as u64,
            inode: stat.st_ino as u64,
            size: stat.st_size as u64,
            mode: stat.st_mode.into(),
            modified: nanos(stat.st_mtime.into(), stat.st_mtime_nsec.into()),
            changed: nanos(stat.st_ctime.into(), stat.st_ctime_nsec.into()),
        }
    }
}

impl State {
    /// Tells whether both are states of one file.
    pub(crate) fn is_same_file(&self, other: &Self) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }

    pub(crate) fn meta(&self, key: &StorageKey) -> ObjectMeta {
        let Self { device, inode, size, modified, changed, .. } = self;
        let version = format!("{device:x}-{inode:x}-{size:x}-{modified:x}-{changed:x}");
        ObjectMeta::new(key.clone(), *size, time(*modified), Version::new(version))
    }

    /// Waits until a change made from now on gets a later change time than this state has.
    ///
    /// File systems take that time from a clock that advances in ticks of some milliseconds, and
    /// hand the number of a removed file to the next one. Without the wait, a file removed or cut
    /// and written anew within one tick could pass for the old one.
    pub(crate) fn outlive(&self) {
        for _ in 0..LONGEST_TICK.as_millis() {
            if self.changed < coarse_now() {
                return;
            }
            thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Longer than a tick on any system, so that a clock that runs behind costs no more than this.
const LONGEST_TICK: Duration = Duration::from_millis(20);

#[cfg(target_os = "linux")]
fn coarse_now() -> i128 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::RealtimeCoarse);
    i128::from(now.tv_sec) * 1_000_000_000 + i128::from(now.tv_nsec)
}

#[cfg(not(target_os = "linux"))]
fn coarse_now() -> i128 {
    let tick = Duration::from_millis(10);
    SystemTime::now().duration_since(UNIX_EPOCH + tick).map_or(0, |d| d.as_nanos() as i128)
}

fn time(nanos: i128) -> SystemTime {
    let (secs, rest) = (nanos.unsigned_abs() / 1_000_000_000, nanos.unsigned_abs() % 1_000_000_000);
    let distance = Duration::new(secs as u64, rest as u32);
    if nanos < 0 { UNIX_EPOCH - distance } else { UNIX_EPOCH + distance }
}
