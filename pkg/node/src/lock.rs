//! One process at a time in a run directory.

use std::{
    fs::{self, File, TryLockError},
    path::Path,
};

use crate::{Error, Paths};

/// Held as long as the process may use the directories; ends with the process, however it ends.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

/// Takes the lock of these directories, or says that another process has it.
pub fn lock(paths: &Paths) -> Result<Lock, Error> {
    let failed = |path: &Path, source| Error::File { path: path.display().to_string(), source };
    fs::create_dir_all(&paths.run).map_err(|e| failed(&paths.run, e))?;
    let path = paths.run.join("kinglet.lock");
    let file = File::create(&path).map_err(|e| failed(&path, e))?;
    match file.try_lock() {
        Ok(()) => Ok(Lock { _file: file }),
        Err(TryLockError::WouldBlock) => Err(Error::Running { run: paths.run.display().to_string() }),
        Err(TryLockError::Error(error)) => Err(failed(&path, error)),
    }
}
