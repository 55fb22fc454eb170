//! What wakes a pod's worker. Nothing queues up: a newer pod replaces an older one, and "look at the runtime again" is a
//! flag. Only results of the worker's own jobs are kept one by one, and there are few of those.

use std::sync::Arc;

use k8s_openapi::api::core::v1::Pod;
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::image::{Missing, Ready};
use crate::probe::{Kind, Listener};

/// The result of a job that the worker started.
#[derive(Debug)]
pub enum Done {
    /// An image was pulled, or not.
    Image {
        /// Container name.
        name: String,
        /// The image, or why it is missing.
        result: Result<Ready, Missing>,
    },
    /// A container was stopped; an error if the runtime could not.
    Killed {
        /// The runtime's id.
        id: String,
        /// What the runtime said.
        result: Result<(), String>,
    },
    /// A postStart hook has ended.
    Hook {
        /// Container name.
        name: String,
        /// The runtime's id.
        id: String,
        /// What went wrong.
        result: Result<(), String>,
    },
    /// The API took the status, or not.
    Reported(Box<Result<Pod, kube::Error>>),
}

/// Everything that came in since the worker last looked.
#[derive(Debug, Default)]
pub struct News {
    /// The pod as the API has it now.
    pub pod: Option<Arc<Pod>>,
    /// The pod's object is gone.
    pub gone: bool,
    /// The runtime's state may have changed.
    pub runtime: bool,
    /// ConfigMaps or Secrets may have changed.
    pub sources: bool,
    /// The node's network has become ready.
    pub network: bool,
    /// Results.
    pub done: Vec<Done>,
    /// Verdicts of probes: container id, kind, verdict.
    pub verdicts: Vec<(String, Kind, bool)>,
    /// Failures of probes, for events: container name, kind, message.
    pub unhealthy: Vec<(String, Kind, String)>,
}

/// A worker's inbox.
#[derive(Debug, Default)]
pub struct Inbox {
    news: Mutex<News>,
    notify: Notify,
}

impl Inbox {
    /// Adds to the news and wakes the worker.
    pub fn tell(&self, change: impl FnOnce(&mut News)) {
        change(&mut self.news.lock());
        self.notify.notify_one();
    }

    /// Takes the news.
    pub fn take(&self) -> News {
        std::mem::take(&mut *self.news.lock())
    }

    /// Waits for news.
    pub async fn wait(&self) {
        self.notify.notified().await;
    }
}

impl Listener for Inbox {
    fn verdict(&self, container_id: &str, kind: Kind, healthy: bool) {
        self.tell(|news| news.verdicts.push((container_id.to_owned(), kind, healthy)));
    }

    fn unhealthy(&self, container: &str, kind: Kind, message: &str) {
        self.tell(|news| news.unhealthy.push((container.to_owned(), kind, message.to_owned())));
    }
}
