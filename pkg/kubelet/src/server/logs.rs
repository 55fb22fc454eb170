//! `/containerLogs/NAMESPACE/POD/CONTAINER`.

use std::path::PathBuf;

use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use tokio::sync::{broadcast, mpsc};
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;

use super::{Answer, Shared};
use crate::logs::follow;
use crate::logs::read::Options;
use crate::pod::state::{Container, ContainerState};

/// The options as they stand in the query.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Asked {
    follow: Option<String>,
    previous: Option<String>,
    timestamps: Option<String>,
    tail_lines: Option<String>,
    since_seconds: Option<String>,
    since_time: Option<String>,
    limit_bytes: Option<String>,
    stream: Option<String>,
}

fn on(value: &Option<String>) -> bool {
    value.as_deref().is_some_and(|v| !matches!(v, "false" | "0"))
}

fn number<T: std::str::FromStr>(value: &Option<String>, name: &str) -> Result<Option<T>, Answer> {
    let wrong = |_| Answer(StatusCode::BAD_REQUEST, format!("{name} must be a number that is not negative"));
    value.as_deref().filter(|v| !v.is_empty()).map(str::parse).transpose().map_err(wrong)
}

impl Asked {
    fn options(&self, now: Timestamp) -> Result<Options, Answer> {
        let seconds: Option<u32> = number(&self.since_seconds, "sinceSeconds")?;
        let time = self.since_time.as_deref().filter(|t| !t.is_empty()).map(str::parse::<Timestamp>).transpose();
        let time = time.map_err(|e| Answer(StatusCode::BAD_REQUEST, format!("sinceTime: {e}")))?;
        let stream = match self.stream.as_deref() {
            Some("Stdout") => Some("stdout".to_owned()),
            Some("Stderr") => Some("stderr".to_owned()),
            _ => None,
        };
        Ok(Options {
            follow: on(&self.follow),
            tail: number(&self.tail_lines, "tailLines")?,
            since: seconds.map(|s| now - SignedDuration::from_secs(i64::from(s))).or(time),
            timestamps: on(&self.timestamps),
            limit_bytes: number(&self.limit_bytes, "limitBytes")?,
            stream,
        })
    }
}

/// Answers with the log.
pub async fn serve(
    State(shared): State<Shared>,
    Path((namespace, name, container)): Path<(String, String, String)>,
    Query(asked): Query<Asked>,
) -> Result<Response, Answer> {
    let pod = shared.pod(&namespace, &name)?;
    let options = asked.options(Timestamp::now())?;
    let uid = pod.metadata.uid.clone().unwrap_or_default();
    // Subscribed before the look at the state, so that an end between the two is not missed.
    let changes = shared.ctx.changes.subscribe();
    let found = find(&shared, &uid, &container, on(&asked.previous)).await?;
    let Some(found) = found else {
        let text = if on(&asked.previous) {
            format!("previous terminated container \"{container}\" in pod \"{name}\" not found")
        } else if crate::spec::container(&pod, &container).is_none() {
            format!("container {container} is not valid for pod {name}")
        } else {
            let status = pod.status.as_ref();
            let lists = [
                status.and_then(|s| s.container_statuses.as_ref()),
                status.and_then(|s| s.init_container_statuses.as_ref()),
            ];
            let state = lists.into_iter().flatten().flatten().find(|s| s.name == container);
            let waiting = state.and_then(|s| s.state.as_ref()).and_then(|s| s.waiting.as_ref());
            let reason = waiting.and_then(|w| w.reason.clone()).unwrap_or_else(|| "ContainerCreating".into());
            let image = waiting.and_then(|w| w.message.clone()).filter(|_| reason.contains("Image"));
            match image {
                Some(message) => {
                    format!("container \"{container}\" in pod \"{name}\" is waiting to start: {message}")
                }
                None => format!("container \"{container}\" in pod \"{name}\" is waiting to start: {reason}"),
            }
        };
        return Err(Answer(StatusCode::BAD_REQUEST, text));
    };
    let ended = CancellationToken::new();
    if options.follow {
        if found.state == ContainerState::Running {
            shared.ctx.tasks.spawn(await_end(shared.clone(), uid, found.id.clone(), changes, ended.clone()));
        } else {
            ended.cancel();
        }
    }
    let (out, lines) = mpsc::channel(4);
    let path = PathBuf::from(&found.log_path);
    shared.ctx.tasks.spawn(async move {
        let guard = ended.clone().drop_guard();
        if let Err(error) = follow::stream(path, options, ended, out.clone()).await
            && error.kind() != std::io::ErrorKind::NotFound
        {
            // Nobody may be listening any more.
            let _ = out.send(Err(error)).await;
        }
        drop(guard);
    });
    let headers = [(header::CONTENT_TYPE, "text/plain")];
    Ok((headers, Body::from_stream(ReceiverStream::new(lines))).into_response())
}

async fn find(shared: &Shared, uid: &str, name: &str, previous: bool) -> Result<Option<Container>, Answer> {
    let dirs = shared.ctx.dirs(uid);
    let runtime = shared.runtime().pod(uid, &dirs, &mut std::collections::HashMap::new()).await;
    let runtime = runtime.map_err(|e| Answer(StatusCode::INTERNAL_SERVER_ERROR, e.message))?;
    let newest = runtime.latest(name).filter(|c| c.state != ContainerState::Created);
    Ok(if previous { runtime.previous(name) } else { newest }.cloned())
}

/// Cancels `ended` when the container has ended, or the other side has gone.
async fn await_end(
    shared: Shared,
    uid: String,
    id: String,
    mut changes: broadcast::Receiver<String>,
    ended: CancellationToken,
) {
    loop {
        let changed = tokio::select! {
            () = ended.cancelled() => return,
            changed = changes.recv() => changed,
        };
        match changed {
            Ok(other) if other != uid => continue,
            Err(broadcast::error::RecvError::Closed) => return,
            _ => {}
        }
        let dirs = shared.ctx.dirs(&uid);
        let runtime = shared.runtime().pod(&uid, &dirs, &mut std::collections::HashMap::new()).await;
        if runtime.is_ok_and(|r| !r.running().any(|c| c.id == id)) {
            ended.cancel();
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read() {
        let now = Timestamp::from_second(1000).unwrap();
        let asked = |tail: &str, since: &str| Asked {
            tail_lines: Some(tail.into()),
            since_seconds: Some(since.into()),
            follow: Some("true".into()),
            ..Asked::default()
        };
        let options = asked("5", "10").options(now).unwrap();
        assert_eq!((options.tail, options.since.unwrap().as_second(), options.follow), (Some(5), 990, true));
        assert!(asked("-1", "").options(now).is_err());
        assert_eq!(asked("", "").options(now).unwrap().tail, None);
    }
}
