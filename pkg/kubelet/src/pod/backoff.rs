//! Delays between attempts: doubling from a start to a limit, forgotten after a quiet time.

use jiff::{SignedDuration, Timestamp};

/// First and longest delay before a crashed container starts again.
pub const CRASH: (SignedDuration, SignedDuration) = (SignedDuration::from_secs(10), SignedDuration::from_secs(300));
/// First and longest delay before an image is pulled again.
pub const PULL: (SignedDuration, SignedDuration) = (SignedDuration::from_secs(10), SignedDuration::from_secs(300));
/// First and longest delay before volumes, sandboxes and container configurations are tried again.
pub const SETUP: (SignedDuration, SignedDuration) = (SignedDuration::from_secs(1), SignedDuration::from_secs(30));

/// The delay of one thing that keeps failing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// The delay now in force.
    pub delay: SignedDuration,
    /// When it was set.
    pub since: Timestamp,
}

impl Backoff {
    /// The delay after one more attempt at `now`. A container that ran longer than twice the longest delay starts
    /// afresh.
    pub fn next(
        before: Option<Backoff>,
        (first, longest): (SignedDuration, SignedDuration),
        now: Timestamp,
    ) -> Backoff {
        let delay = match before {
            Some(b) if now.duration_since(b.since) <= longest * 2 => (b.delay * 2).min(longest),
            _ => first,
        };
        Backoff { delay, since: now }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_to_the_limit_and_forgets() {
        let mut now = Timestamp::UNIX_EPOCH;
        let mut backoff = None;
        let mut delays = Vec::new();
        for _ in 0..7 {
            let next = Backoff::next(backoff, CRASH, now);
            delays.push(next.delay.as_secs());
            backoff = Some(next);
            now += next.delay;
        }
        assert_eq!(delays, [10, 20, 40, 80, 160, 300, 300]);
        assert_eq!(Backoff::next(backoff, CRASH, now + SignedDuration::from_secs(601)).delay.as_secs(), 10);
    }
}
