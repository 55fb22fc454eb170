//! Scheduled snapshots, and which of them are kept.
//!
//! Guarantees: what is due is taken once, however far the clock jumped; a failure is a warning, and
//! the next time comes as planned. Old snapshots go only after a new one is there.

use std::{
    path::{Path, PathBuf},
    str::FromStr,
    sync::Arc,
    time::Duration,
};

use croner::{
    Cron,
    parser::{CronParser, Seconds, Year},
};
use jiff::{Timestamp, civil::DateTime, tz::TimeZone};
use node::stages::Stages;
use store::{
    SqliteStore,
    snapshot::{self, Info},
};

/// Longest sleep. The clock may be set while we sleep: a board without one of its own starts in 1970.
const LOOK: Duration = Duration::from_secs(3600);
/// What the names of scheduled snapshots begin with.
/// Begins the names of snapshots that the schedule takes, and deletes.
pub const SCHEDULED: &str = "scheduled";

/// How snapshots are scheduled.
#[derive(Clone, Debug)]
pub struct Config {
    /// When they are taken.
    pub schedule: Schedule,
    /// So many scheduled ones are kept; 0 for all.
    pub retention: usize,
    /// Where they are.
    pub dir: PathBuf,
}

/// Times of snapshots, in UTC: five fields as of cron, or empty for never.
#[derive(Clone, Debug)]
pub struct Schedule(Option<Cron>);

/// A schedule that cannot be kept.
#[derive(Debug, thiserror::Error)]
#[error(
    "{text:?} is no schedule ({message}); it takes minute, hour, day, month and weekday, such as \"0 */12 * * *\", or nothing for no snapshots"
)]
pub struct ScheduleError {
    text: String,
    message: String,
}

impl FromStr for Schedule {
    type Err = ScheduleError;

    fn from_str(text: &str) -> Result<Self, ScheduleError> {
        if text.trim().is_empty() {
            return Ok(Schedule(None));
        }
        let parser = CronParser::builder().seconds(Seconds::Disallowed).year(Year::Disallowed).build();
        // "30 February" is well formed, and never comes.
        let parsed = parser.parse(text).and_then(|cron| cron.find_next_occurrence(&DateTime::ZERO, true).map(|_| cron));
        let cron = parsed.map_err(|e| ScheduleError { text: text.to_owned(), message: e.to_string() })?;
        Ok(Schedule(Some(cron)))
    }
}

/// What a look at the clock leads to.
#[derive(Debug, PartialEq, Eq)]
struct Plan {
    /// Take a snapshot now.
    due: bool,
    /// When to take the next one.
    next: DateTime,
}

/// Decides at `now`, with the next snapshot planned for `planned`. Times that a jump of the clock
/// left out count as one.
fn decide(cron: &Cron, planned: DateTime, now: DateTime) -> Plan {
    // A schedule was tried when it was parsed; beyond the year 9999 there is no next time.
    let next = cron.find_next_occurrence(&now, false).unwrap_or(DateTime::MAX);
    Plan { due: planned <= now, next }
}

/// Names of the scheduled snapshots of `node` that are too many; `found` is in order of revision.
fn surplus(found: &[Info], node: &str, retention: usize) -> Vec<String> {
    if retention == 0 {
        return Vec::new();
    }
    let prefix = format!("{SCHEDULED}-{node}-");
    let seconds = |name: &str| name.strip_prefix(&prefix).is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit()));
    let ours: Vec<&Info> = found.iter().filter(|info| seconds(&info.name)).collect();
    let too_many = ours.len().saturating_sub(retention);
    ours[..too_many].iter().map(|info| info.name.clone()).collect()
}

/// Starts the schedule, if there is one.
pub(crate) fn start(config: &Config, node: &str, store: Arc<SqliteStore>, stages: &mut Stages) {
    let Some(cron) = config.schedule.0.clone() else { return };
    let stage = stages.next("snapshots");
    let (config, node, stop) = (config.clone(), node.to_owned(), stage.stop.clone());
    stage.tasks.spawn(async move {
        let now = || Timestamp::now().to_zoned(TimeZone::UTC).datetime();
        let mut planned = DateTime::MAX;
        while stop.run_until_cancelled(due(&cron, &mut planned, now)).await.is_some() {
            if let Err(error) = take(&config, &node, &store).await {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    dir = %config.dir.display(),
                    "a scheduled snapshot failed; make room there, or choose another place with --snapshot-dir"
                );
            }
        }
    });
}

/// Sleeps until the next snapshot is due.
async fn due(cron: &Cron, planned: &mut DateTime, now: impl Fn() -> DateTime) {
    loop {
        let looked = now();
        let Plan { due, next } = decide(cron, *planned, looked);
        *planned = next;
        if due {
            return;
        }
        let left = Duration::try_from(next.duration_since(looked)).unwrap_or_default();
        tokio::time::sleep(left.min(LOOK)).await;
    }
}

/// Says so if a new cluster begins where there was one before.
pub(crate) fn warn_if_new(config: &Config, database: &Path) {
    let snapshots = snapshot::list(&config.dir).map_or(0, |list| list.len());
    if snapshots > 0 && !database.exists() {
        tracing::warn!(
            database = %database.display(), snapshots,
            "there is no database, though there are snapshots of one; a new cluster begins; \
             to have the old one, stop, and `kinglet snapshot restore`"
        );
    }
}

/// Takes a snapshot, and deletes those that are too many with it.
async fn take(config: &Config, node: &str, store: &SqliteStore) -> Result<(), snapshot::Error> {
    let name = snapshot::name(SCHEDULED, node, std::time::SystemTime::now());
    let info = store.save(&config.dir, &name).await?;
    tracing::info!(%name, bytes = info.size, "took a snapshot");
    let (dir, node, retention) = (config.dir.clone(), node.to_owned(), config.retention);
    let pruned = tokio::task::spawn_blocking(move || {
        surplus(&snapshot::list(&dir)?, &node, retention).iter().try_for_each(|name| {
            tracing::info!(%name, "deleting a snapshot that is one too many");
            snapshot::delete(&dir, name)
        })
    });
    pruned.await.map_err(|_| store::Error::Closed)?
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use jiff::civil::date;
    use snapshot::Contents;
    use store::{Op, Store as _, Txn};

    use super::*;

    fn cron(text: &str) -> Cron {
        text.parse::<Schedule>().unwrap().0.unwrap()
    }

    #[test]
    fn what_is_no_schedule_is_refused_with_an_example() {
        for bad in ["hourly", "* * * *", "61 * * * *", "0 0 */12 * * *", "0 0 30 2 *", "0 0 * * * 2027"] {
            let error = bad.parse::<Schedule>().unwrap_err().to_string();
            assert!(error.contains(bad) && error.contains("0 */12 * * *"), "{error}");
        }
        assert!("".parse::<Schedule>().unwrap().0.is_none());
    }

    #[test]
    fn what_is_due_is_taken_once() {
        let every_half_day = cron("0 */12 * * *");
        let (midnight, noon) = (date(2027, 3, 1).at(0, 0, 0, 0), date(2027, 3, 1).at(12, 0, 0, 0));
        let tomorrow = date(2027, 3, 2).at(0, 0, 0, 0);
        for (what, planned, now, due, next) in [
            ("at the start", DateTime::MAX, date(2027, 3, 1).at(9, 30, 0, 0), false, noon),
            ("at a start at noon", DateTime::MAX, noon, false, tomorrow),
            ("a little early", noon, date(2027, 3, 1).at(11, 59, 59, 999_000_000), false, noon),
            ("on time", noon, noon, true, tomorrow),
            ("late", noon, date(2027, 3, 1).at(12, 0, 3, 7), true, tomorrow),
            ("from 1970 to now", date(1970, 1, 1).at(12, 0, 0, 0), date(2027, 3, 1).at(9, 30, 0, 0), true, noon),
            ("a year back", noon, date(2026, 3, 1).at(9, 30, 0, 0), false, date(2026, 3, 1).at(12, 0, 0, 0)),
        ] {
            let plan = decide(&every_half_day, planned, now);
            assert_eq!(plan, Plan { due, next }, "{what}");
            // Deciding again is for the next time.
            assert_eq!(decide(&every_half_day, next, now), Plan { due: false, next }, "{what}, again");
        }
        assert_eq!(decide(&cron("30 4 * * MON"), midnight, midnight).next, date(2027, 3, 1).at(4, 30, 0, 0));
    }

    #[test]
    fn only_scheduled_ones_of_this_node_are_too_many() {
        let names = [
            "scheduled-pi-300",
            "on-demand-pi-1",
            "scheduled-pi-2-1",
            "scheduled-pi-100",
            "scheduled-pi-200",
            "scheduled-pi-latest",
        ];
        let found = names.map(|name| Info {
            name: name.to_owned(),
            path: name.into(),
            size: 1,
            time: SystemTime::UNIX_EPOCH,
            contents: Ok(Contents { revision: 1, keys: 1 }),
        });
        assert_eq!(surplus(&found, "pi", 1), ["scheduled-pi-300", "scheduled-pi-100"]);
        assert_eq!(surplus(&found, "pi", 2), ["scheduled-pi-300"]);
        assert!(surplus(&found, "pi", 3).is_empty());
        assert!(surplus(&found, "pi", 0).is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_day_has_two_snapshots_and_a_clock_that_is_set_brings_one() {
        let begun = tokio::time::Instant::now();
        let cron = cron("0 */12 * * *");
        let taken = async |now: &dyn Fn() -> DateTime, hours: u64| {
            let (mut taken, mut planned) = (Vec::new(), DateTime::MAX);
            let _ = tokio::time::timeout(Duration::from_secs(hours * 3600), async {
                loop {
                    due(&cron, &mut planned, now).await;
                    taken.push((now().year(), now().day(), now().hour()));
                }
            })
            .await;
            taken
        };
        let from_nine = || date(2027, 3, 1).at(9, 0, 0, 0) + begun.elapsed();
        assert_eq!(taken(&from_nine, 24).await, [(2027, 1, 12), (2027, 2, 0)]);

        // Half an hour after the start somebody sets the clock.
        let begun = tokio::time::Instant::now();
        let set = || match begun.elapsed() {
            so_far if so_far < Duration::from_secs(1800) => date(1970, 1, 1).at(0, 0, 0, 0) + so_far,
            so_far => date(2027, 3, 1).at(9, 0, 0, 0) + so_far,
        };
        assert_eq!(taken(&set, 4).await, [(2027, 1, 10), (2027, 1, 12)]);
    }

    #[tokio::test]
    async fn a_new_one_pushes_out_the_oldest_and_a_failure_leaves_all() {
        let dir = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&dir.path().join("state.db")).unwrap();
        let config = Config { schedule: Schedule(None), retention: 2, dir: dir.path().join("snapshots") };
        for (n, name) in ["scheduled-pi-900", "scheduled-pi-800", "mine"].into_iter().enumerate() {
            store.txn(Txn { then: vec![Op::put(format!("k{n}"), "v")], ..Txn::default() }).await.unwrap();
            store.save(&config.dir, name).await.unwrap();
        }
        take(&config, "pi", &store).await.unwrap();
        let names = |dir| snapshot::list(dir).unwrap().into_iter().map(|i| i.name).collect::<Vec<_>>();
        let kept = names(&config.dir);
        assert_eq!(kept[..2], ["scheduled-pi-800", "mine"]);
        assert!(kept[2].starts_with("scheduled-pi-") && kept.len() == 3, "{kept:?}");

        let file = Config { dir: dir.path().join("state.db"), ..config.clone() };
        assert!(take(&file, "pi", &store).await.unwrap_err().to_string().contains("state.db"));
        assert_eq!(names(&config.dir), kept);
    }
}
