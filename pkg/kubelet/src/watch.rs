//! What the runtime says by itself: its events wake the workers of the pods concerned.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use cri::events::{self, Event};
use tokio::sync::Notify;

use crate::config::Context;
use crate::logs::rotate;
use crate::pods::Pods;

/// Logs grow without events: their sizes are looked at this often. A container that writes 10 MiB in less is rotated a
/// little later.
const LOG_PERIOD: Duration = Duration::from_secs(60);

/// Follows the runtime's events until the end. After an interruption every worker looks for itself.
pub async fn follow(ctx: Arc<Context>, pods: Pods, poke: Arc<Notify>) {
    // Which pod a container or sandbox belongs to, once found.
    let mut owners: HashMap<String, String> = HashMap::new();
    let mut events = events::subscribe(ctx.config.cri_socket.clone(), ctx.stop.clone(), &ctx.tasks);
    while let Some(event) = events.recv().await {
        match event {
            Event::Resync => {
                pods.look_at_runtime();
                poke.notify_one();
            }
            Event::Change(change) => changed(&ctx, &pods, &mut owners, &change).await,
        }
    }
}

/// Wakes the worker of the pod that a container or sandbox belongs to.
async fn changed(ctx: &Context, pods: &Pods, owners: &mut HashMap<String, String>, change: &events::Change) {
    let id = change.sandbox.as_ref().unwrap_or(&change.id);
    let uid = match owners.get(id).cloned() {
        Some(uid) => uid,
        None => match ctx.runtime.pod_of(id).await {
            Some(uid) => uid,
            // Not a pod's, or removed already: its worker did that.
            None => return,
        },
    };
    owners.insert(id.clone(), uid.clone());
    let known = pods.uids();
    owners.retain(|_, uid| known.contains(uid));
    pods.tell(&uid, |news| news.runtime = true);
    // Nobody may be following logs.
    let _ = ctx.changes.send(uid);
}

/// Rotates logs that have grown too long.
pub async fn rotate_logs(ctx: Arc<Context>) {
    let mut ticks = tokio::time::interval(LOG_PERIOD);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = ctx.stop.cancelled() => return,
            _ = ticks.tick() => {}
        }
        if !any_due(&ctx.config.pod_log_dir) {
            continue;
        }
        if let Err(error) = rotate_all(&ctx).await {
            tracing::info!(%error, "logs not rotated");
        }
    }
}

/// Whether some log is due: a look at directories only, without asking the runtime.
fn any_due(root: &Path) -> bool {
    let entries = |path: &Path| std::fs::read_dir(path).into_iter().flatten().flatten().map(|e| e.path());
    let logs = entries(root).flat_map(|pod| entries(&pod)).flat_map(|container| entries(&container));
    logs.filter(|p| p.extension().is_some_and(|e| e == "log")).any(|p| rotate::due(&p))
}

async fn rotate_all(ctx: &Context) -> Result<(), crate::runtime::Error> {
    for (id, path) in ctx.runtime.running_logs().await? {
        let path = Path::new(&path);
        if !rotate::due(path) {
            continue;
        }
        match rotate::rename(path, jiff::Timestamp::now()) {
            Ok(renamed) => {
                if let Err(error) = ctx.runtime.reopen_log(&id).await {
                    tracing::info!(%error, container = id, "log not reopened");
                    if let Err(error) = rotate::undo(path, &renamed) {
                        tracing::info!(%error, log = %path.display(), "log did not get its name back");
                    }
                }
            }
            Err(error) => tracing::info!(%error, log = %path.display(), "log not rotated"),
        }
    }
    Ok(())
}
