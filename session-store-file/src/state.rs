//! What tells one state of a file from another.

use std::fs::File;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::Stat;
use rustix::io::Errno;
use session_model::storage::{ObjectMeta, StorageKey, Version};

/// What a file is at one moment, but for its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct State {
    device: u64,
    inode: u64,
    pub(crate) size: u64,
    pub(crate) mode: u32,
    pub(crate) owner: (u32, u32),
    /// Nanoseconds since 1970.
    pub(crate) modified: i128,
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
            owner: (stat.st_uid, stat.st_gid),
            modified: nanos(stat.st_mtime.into(), stat.st_mtime_nsec.into()),
            changed: nanos(stat.st_ctime.into(), stat.st_ctime_nsec.into()),
        }
    }
}

impl State {
    pub(crate) fn glance(&self) -> Glance {
        Glance { file: (self.device, self.inode), size: self.size }
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

/// Identity and size of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Glance {
    pub(crate) file: (u64, u64),
    pub(crate) size: u64,
}

/// Tells whether an open file still has a name and this size.
///
/// Linux notes when somebody asks for a file's times, and then sets them anew at the very next
/// write, which makes that write twice as dear. So the times are not asked for.
pub(crate) fn is_named_and_has(file: &File, size: u64) -> Result<bool, Errno> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        use rustix::fs::{AtFlags, StatxFlags, statx};
        let wanted = StatxFlags::NLINK | StatxFlags::SIZE;
        match statx(file, c"", AtFlags::EMPTY_PATH, wanted) {
            Ok(stat) => return Ok(stat.stx_nlink > 0 && stat.stx_size == size),
            Err(Errno::NOSYS | Errno::PERM) => {}
            Err(errno) => return Err(errno),
        }
    }
    let stat = rustix::fs::fstat(file)?;
    Ok(stat.st_nlink > 0 && u64::try_from(stat.st_size) == Ok(size))
}

fn time(nanos: i128) -> SystemTime {
    let (secs, rest) = (nanos.unsigned_abs() / 1_000_000_000, nanos.unsigned_abs() % 1_000_000_000);
    let distance = Duration::new(secs as u64, rest as u32);
    if nanos < 0 { UNIX_EPOCH - distance } else { UNIX_EPOCH + distance }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_outlived_is_older_than_the_clock() {
        let dir = tempfile::tempdir().unwrap();
        for round in 0..20 {
            let path = dir.path().join(round.to_string());
            std::fs::write(&path, "x").unwrap();
            let state = State::from(&rustix::fs::stat(&path).unwrap());
            state.outlive();
            assert!(state.changed < coarse_now(), "round {round}");
        }
    }

    #[test]
    fn a_file_from_the_future_is_not_waited_for_long() {
        let dir = tempfile::tempdir().unwrap();
        let mut state = State::from(&rustix::fs::stat(dir.path()).unwrap());
        state.changed += 3_600_000_000_000;
        let started = std::time::Instant::now();
        state.outlive();
        assert!(started.elapsed() < Duration::from_secs(600));
    }

    #[test]
    fn times_before_1970_are_times() {
        assert_eq!(time(-1_500_000_000), UNIX_EPOCH - Duration::from_millis(1500));
        assert_eq!(time(1_500_000_001), UNIX_EPOCH + Duration::new(1, 500_000_001));
    }
}
