//! Replacing, copying and moving whole objects.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::Arc;

use session_model::storage::{
    ObjectMeta, Payload, Precondition, PutOptions, Result, StorageError, StorageKey,
};

use crate::dir::{self, Found};
use crate::error::During;
use crate::state::State;
use crate::store::{Parents, Store, is_durable};
use crate::temp::{self, Temp};
use crate::{lease, read, remove};

/// An object that has just been put in place; its directory is not yet durable.
pub(crate) struct Placed {
    pub(crate) file: File,
    pub(crate) dir: File,
    pub(crate) state: State,
}

impl Store {
    /// Makes an object of what `fill` writes; `claimed` says that the caller holds the lease.
    pub(crate) fn replace(
        self: &Arc<Self>,
        key: &StorageKey,
        options: &PutOptions,
        claimed: bool,
        fill: impl FnOnce(&File) -> io::Result<()>,
    ) -> Result<Placed> {
        let (operation, name) = ("write", key.file_name());
        let durable = is_durable(options.durability)?;
        let root = self.root().during(operation, key)?;
        self.sweep(&root, key);

        let locked = self.lock_and_sweep(&root).during(operation, key)?;
        let old = self.admit(&root, key, &options.precondition, claimed)?;
        let (dir, grown) = dir::make_parent(&root, key).during(operation, key)?;
        let temp = Temp::create(&locked, dir, key, old).during(operation, key)?;
        drop(locked);

        grown.sync().during(operation, key)?;
        fill(temp.file()).during(operation, key)?;
        if durable {
            temp.file().sync_all().during(operation, key)?;
        }
        old.outlive();

        let locked = self.lock(&root).during(operation, key)?;
        let old = self.admit(&root, key, &options.precondition, claimed)?;
        old.outlive();
        if old == Found::Directory {
            remove::prune(temp.dir(), name).during(operation, key)?;
        }
        let overwrite = options.precondition != Precondition::Absent;
        let (file, dir) = temp.place(&locked, name, overwrite).during(operation, key)?;
        let state = dir::state(&file).during(operation, key)?;
        Ok(Placed { file, dir, state })
    }

    pub(crate) fn put(
        self: &Arc<Self>,
        key: &StorageKey,
        options: &PutOptions,
        fill: impl FnOnce(&File) -> io::Result<()>,
    ) -> Result<ObjectMeta> {
        let placed = self.replace(key, options, false, fill)?;
        if is_durable(options.durability)? {
            placed.dir.sync_all().during("make durable", key)?;
        }
        Ok(placed.state.meta(key))
    }

    pub(crate) fn put_joined(
        self: &Arc<Self>,
        key: &StorageKey,
        head: &Payload,
        (source, part): (&StorageKey, Range<u64>),
        options: &PutOptions,
    ) -> Result<ObjectMeta> {
        let (file, state) = read::open(&mut Parents::new(self), source)?;
        let len = part.end.saturating_sub(part.start);
        if part.end > state.size {
            return Err(StorageError::ends_before(source, &part));
        }
        self.put(key, options, |target| {
            temp::write(target, head)?;
            (&file).seek(SeekFrom::Start(part.start))?;
            // As in a copy, the bytes need not come into this process.
            match io::copy(&mut (&file).take(len), &mut &*target)? {
                copied if copied == len => Ok(()),
                _ => Err(io::ErrorKind::UnexpectedEof.into()),
            }
        })
    }

    pub(crate) fn copy(
        self: &Arc<Self>,
        from: &StorageKey,
        to: &StorageKey,
        overwrite: bool,
    ) -> Result<ObjectMeta> {
        let (source, state) = read::open(&mut Parents::new(self), from)?;
        let precondition = if overwrite { Precondition::None } else { Precondition::Absent };
        self.put(to, &PutOptions::when(precondition), |target| {
            // Within one file system this is done by the system, where it can without copying.
            io::copy(&mut (&source).take(state.size), &mut &*target).map(drop)
        })
    }

    pub(crate) fn rename(
        self: &Arc<Self>,
        from: &StorageKey,
        to: &StorageKey,
        overwrite: bool,
    ) -> Result<ObjectMeta> {
        if from == to {
            // To the system this is nothing at all, but it is to begin a new state.
            return self.copy(from, to, overwrite);
        }
        let operation = "rename";
        let not_found = || StorageError::NotFound { key: from.clone() };
        let root = self.root().during(operation, from)?;

        let locked = self.lock_and_sweep(&root).during(operation, from)?;
        let from_dir = dir::parent(&root, from).during(operation, from)?.ok_or_else(not_found)?;
        let Found::Object(state) =
            dir::find(&from_dir, from.file_name()).during(operation, from)?
        else {
            return Err(not_found());
        };
        lease::ensure_free(&from_dir, from)?;
        let precondition = if overwrite { Precondition::None } else { Precondition::Absent };
        let target = self.admit(&root, to, &precondition, false)?;
        let (to_dir, grown) = dir::make_parent(&root, to).during(operation, to)?;
        if target == Found::Directory {
            remove::prune(&to_dir, to.file_name()).during(operation, to)?;
        }
        state.outlive();
        dir::place((&from_dir, from.file_name()), (&to_dir, to.file_name()), overwrite)
            .during(operation, to)?;
        lease::forget(&from_dir, from);
        let Found::Object(state) = dir::find(&to_dir, to.file_name()).during(operation, to)? else {
            return Err(StorageError::NotFound { key: to.clone() });
        };
        drop(locked);

        grown.sync().during(operation, to)?;
        to_dir.sync_all().during(operation, to)?;
        from_dir.sync_all().during(operation, from)?;
        Ok(state.meta(to))
    }
}
