//! Session storage over a directory of files.
//!
//! [`FileStorage`] keeps each object in a file of its own, at its key below a root directory. The
//! bytes of the file are the bytes of the object, so any tool can read it. Unix systems only.
//!
//! # What is on disk
//!
//! Beside the objects there are files whose names start with `.~`, which no key can have:
//!
//! | name | what it is |
//! |---|---|
//! | `.~lock`, in the root | the operation lock |
//! | `.~<name>.lock` | the sidecar of the object `<name>`: the lease of an exclusive writer, and who holds it |
//! | `.~<name>.<8 hex digits>.tmp` | the object `<name>` while it is being written |
//!
//! Files are created with mode 0600 and directories with 0700, whatever the umask. A file that is
//! replaced hands its mode on as far as it is stricter. Symbolic links below the root are never
//! followed: they are refused with an error of kind `Denied`.
//!
//! # Who waits for whom
//!
//! All locks are advisory (`flock`), so the system gives them up when their holder dies, however
//! it dies. A file system without such locks can be read, but writing to it is `Unsupported`.
//!
//! - The *operation lock* is held by everything that changes which file is where, and by appends
//!   of writers that are not exclusive: for a few system calls, never while a put writes or syncs
//!   content. `remove_all` holds it while it looks at everything, then for 256 objects at a time.
//!   Others wait for it, at most [`FileOptions::lock_wait`].
//! - The *lease* is held by an exclusive writer for its life. Nobody waits for it: others get
//!   `Busy`. It is claimed, looked at and tidied away under the operation lock only. So a look at
//!   it cannot be taken for a claim, and an operation that found no lease ends before there can
//!   be one. A sidecar stays when its object goes; it goes with its directory, when nothing else
//!   is left there and the directory is removed.
//! - A *temporary file* is locked by its maker for its life. One that is not locked was left
//!   behind: it is removed under the operation lock, by the first store that writes into that
//!   directory, and with the directory.
//! - An append or truncation locks the object's file for its duration, and a reader while it asks
//!   for the size, so that no reader sees half an append. A listing shares the operation lock
//!   while it reads the names in one directory. Whoever cannot have these locks for a second goes
//!   on without.
//!
//! Two stores on one root exclude each other whether they are in one process or in two.
//!
//! # Durability
//!
//! `Accepted` is in the hands of the system and survives the process. `Durable` is synced: an
//! object by `fdatasync` and its directory entry once a writer, a put by `fsync` before and of the
//! directory after the rename. New directories are made durable as they are created. Copies and
//! renames are always durable. Removals become so with `drain(Durable)`, which syncs the whole
//! file system the root is on. `Published` is `Unsupported`.
//!
//! # Blocking
//!
//! No call ever waits for a runtime: each ends within one poll, and blocks its thread for the
//! time of its system calls. For an append of 1 KiB that is some microseconds, for a sync what the
//! disk takes, and while another process is in an operation up to [`FileOptions::lock_wait`].
//! Dropping the future of a call therefore never interrupts it.
//!
//! # Versions
//!
//! A version is made of device, inode, size, and the times of the last change. File systems take
//! these times from a clock that ticks every few milliseconds, and reuse inodes. Where two states
//! could otherwise look alike, a change waits for the next tick: when an object that has just been
//! changed is replaced, renamed, removed or cut. A program that sets times back on purpose can
//! defeat this.

mod dir;
mod error;
mod in_flight;
mod lease;
mod list;
mod lock;
mod names;
mod open;
mod peek;
mod read;
mod remove;
mod replace;
mod root;
mod state;
mod storage;
mod store;
mod temp;
mod upkeep;
mod writer;

pub use root::OpenRootError;
pub use storage::{FileOptions, FileStorage};
pub use upkeep::{Oddity, OddityKind, Upkeep};
