//! Network namespaces: opened by path, made for tests, and entered by a thread of their own.

use std::{
    fs::File,
    os::fd::{AsFd, AsRawFd as _, BorrowedFd},
    path::{Path, PathBuf},
    thread,
};

use nix::sched::{CloneFlags, setns, unshare};

use crate::{Error, Result};

/// A handle on a network namespace, which lives at least as long as the handle.
#[derive(Debug)]
pub struct Namespace {
    file: File,
    path: PathBuf,
}

impl Namespace {
    /// Opens a namespace by its file, such as `/run/netns/NAME` or `/proc/PID/ns/net`.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref().to_owned();
        let file = File::open(&path).map_err(|source| Error::Namespace { path: path.clone(), what: "open", source })?;
        Ok(Namespace { file, path })
    }

    /// The namespace of the calling thread.
    pub fn current() -> Result<Self> {
        Self::open("/proc/thread-self/ns/net")
    }

    /// A fresh, empty namespace without a name. It is gone when the last handle, thread and
    /// process in it are.
    pub fn fresh() -> Result<Self> {
        let made = thread::spawn(|| {
            unshare(CloneFlags::CLONE_NEWNET).map_err(|errno| Error::Namespace {
                path: PathBuf::from("(new)"),
                what: "make",
                source: errno.into(),
            })?;
            Self::current()
        });
        made.join().expect("the thread does not panic")
    }

    /// A path under which this process can open the namespace for as long as the handle lives.
    pub fn path_in_process(&self) -> PathBuf {
        PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), self.file.as_raw_fd()))
    }

    /// Moves the calling thread into the namespace, for good.
    pub fn enter(&self) -> Result<()> {
        setns(&self.file, CloneFlags::CLONE_NEWNET).map_err(|errno| Error::Namespace {
            path: self.path.clone(),
            what: "enter",
            source: errno.into(),
        })
    }

    /// Runs `work` in a thread inside the namespace. A panic of `work` passes through.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T> {
        thread::scope(|scope| {
            let worker = scope.spawn(|| {
                self.enter()?;
                Ok(work())
            });
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }
}

impl AsFd for Namespace {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}
