//! Time as something that is handed in: `decide` functions get `now`, and tests turn the clock.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;

/// Tells the time of day.
pub trait Clock: Send + Sync + 'static {
    /// The present moment.
    fn now(&self) -> Timestamp;
}

/// A clock that several parts share.
pub type SharedClock = Arc<dyn Clock>;

/// The clock of the machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}

/// The clock of the machine, ready to share.
pub fn system() -> SharedClock {
    Arc::new(SystemClock)
}

/// A clock that stands still until it is turned: for tests.
#[derive(Debug)]
pub struct ManualClock(Mutex<Timestamp>);

impl ManualClock {
    /// Stands at `now`.
    pub fn at(now: Timestamp) -> Self {
        ManualClock(Mutex::new(now))
    }

    /// Turns it forward (or back, for a negative duration).
    pub fn advance(&self, by: SignedDuration) {
        let mut now = self.0.lock();
        *now = now.saturating_add(by).expect("a duration without calendar units");
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        *self.0.lock()
    }
}
