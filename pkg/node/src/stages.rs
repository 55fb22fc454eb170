//! Parts of a process, started in order and stopped in reverse.

use std::time::Duration;

use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// Time that the tasks of one stage have to end.
const PATIENCE: Duration = Duration::from_secs(10);

/// Running parts, in the order of their start.
#[derive(Default)]
pub struct Stages {
    running: Vec<Stage>,
}

/// One part: its tasks, and the word to end them.
#[derive(Clone)]
pub struct Stage {
    name: &'static str,
    /// Cancelled when the part shall end.
    pub stop: CancellationToken,
    /// Where the part's tasks run.
    pub tasks: TaskTracker,
}

impl Stages {
    /// A new stage, to be stopped before all earlier ones.
    pub fn next(&mut self, name: &'static str) -> Stage {
        let stage = Stage { name, stop: CancellationToken::new(), tasks: TaskTracker::new() };
        self.running.push(stage.clone());
        stage
    }

    /// Stops everything, last started first.
    pub async fn stop(self) {
        for Stage { name, stop, tasks } in self.running.into_iter().rev() {
            stop.cancel();
            tasks.close();
            if tokio::time::timeout(PATIENCE, tasks.wait()).await.is_err() {
                tracing::warn!(part = name, tasks = tasks.len(), "did not stop in time");
            }
        }
    }
}
