//! Priority and fairness: how many requests of a sort may be under way beside the others.
//!
//! A request is put into a flow of a priority level by the first FlowSchema that matches
//! ([`schemas`]); the level gives it a seat, lets it wait, or refuses it ([`levels`]). Both are pure;
//! this module joins them to the watch cache and to tasks.
//!
//! # Guarantees
//! - The seats that a level has by its shares are always its own: no other level can starve it.
//!   What it may lend, others use while it does not.
//! - Within a level, flows (users or namespaces) take turns.
//! - A seat is given back when its guard is dropped, however the request ends.
//!
//! # Caveats
//! - Every request takes one seat, whatever it costs. Watches hold theirs until they have begun.
//!
//! Source: "API Priority and Fairness" in the Kubernetes documentation.

mod levels;
mod schemas;
#[cfg(test)]
mod tests;

use std::{sync::Arc, time::Duration};

use api::{Kinds, Status, UserInfo, Value};
use http::{HeaderMap, HeaderValue};
use parking_lot::Mutex;
use serde_json::json;
use tokio::sync::oneshot;

use self::{
    levels::{Answer, Levels, Limits},
    schemas::{Schema, Table},
};
use crate::{
    auth::Question,
    cache::{Caches, Derived},
};

const GROUP: &str = "flowcontrol.apiserver.k8s.io";
const RESOURCES: [&str; 2] = ["flowschemas", "prioritylevelconfigurations"];
/// How long a request waits for a seat.
const PATIENCE: Duration = Duration::from_secs(15);

type Waiter = oneshot::Sender<Seat>;
type Shared = Arc<Mutex<Levels<Waiter>>>;

/// A request's place; given back when dropped.
#[derive(Debug)]
pub struct Seat {
    levels: Option<(Shared, Arc<str>)>,
}

impl Drop for Seat {
    fn drop(&mut self) {
        let Some((shared, level)) = self.levels.take() else { return };
        let mut levels = shared.lock();
        levels.release(&level);
        grant(&shared, &mut levels);
    }
}

/// Lets in those who wait, as far as there are seats. `levels` is what `shared` holds, locked.
fn grant(shared: &Shared, levels: &mut Levels<Waiter>) {
    while let Some((level, waiter)) = levels.grant_next() {
        let seat = Seat { levels: Some((shared.clone(), level.clone())) };
        if let Err(mut seat) = waiter.send(seat) {
            // It has given up; what was counted for it is taken back here, not by its guard.
            seat.levels = None;
            levels.release(&level);
        }
    }
}

/// What a request was classified as: for headers of the answer.
#[derive(Clone, Debug)]
pub struct Class(Arc<Schema>);

impl Class {
    /// Adds the headers that tell the client.
    pub fn tell(&self, headers: &mut HeaderMap) {
        for (name, uid) in
            [("x-kubernetes-pf-flowschema-uid", &self.0.uid), ("x-kubernetes-pf-prioritylevel-uid", &self.0.level_uid)]
        {
            if let Some(value) = HeaderValue::from_str(uid).ok().filter(|value| !value.is_empty()) {
                headers.insert(name, value);
            }
        }
    }
}

/// See the module.
pub struct Flow {
    current: Derived<Table, 2>,
    levels: Shared,
}

impl Flow {
    /// With so many seats in all.
    pub fn new(caches: Arc<Caches>, seats: usize) -> Self {
        let mut levels = Levels::new(seats, oneshot::Sender::is_closed);
        levels.configure(Table::default().limits());
        Flow { current: Derived::new(caches, GROUP, RESOURCES), levels: Arc::new(Mutex::new(levels)) }
    }

    /// Level, seats, seats in use, requests waiting and requests refused, for metrics.
    pub fn figures(&self) -> Vec<(Arc<str>, [usize; 4])> {
        self.levels.lock().figures()
    }

    /// The class of a request.
    pub async fn classify(&self, kinds: &Kinds, user: &UserInfo, question: &Question) -> Result<Class, Status> {
        let current = self.table(kinds).await?;
        Ok(Class(current.1.classify(user, question).clone()))
    }

    /// A seat for a request of this class, or 429.
    pub async fn seat(&self, class: &Class, user: &UserInfo, question: &Question) -> Result<Seat, Status> {
        let mut receiver = None;
        let waiter = || {
            let (sender, waiting) = oneshot::channel();
            receiver = Some(waiting);
            sender
        };
        let (level, answer) = {
            let mut levels = self.levels.lock();
            let level = levels.known(&class.0.level);
            let answer = levels.ask(&level, || class.0.flow(user, question), waiter);
            (level, answer)
        };
        let waiting = match (answer, receiver) {
            (Answer::Granted, _) => return Ok(Seat { levels: Some((self.levels.clone(), level)) }),
            (Answer::Exempt, _) => return Ok(Seat { levels: None }),
            (Answer::Waits, Some(receiver)) => receiver,
            (Answer::Waits, None) | (Answer::Refused, _) => return Err(refusal()),
        };
        // Whatever came too late is dropped here, with its seat.
        let waited = tokio::time::timeout(PATIENCE, waiting).await;
        match waited {
            Ok(Ok(seat)) => Ok(seat),
            _ => {
                self.levels.lock().gave_up(&level);
                Err(refusal())
            }
        }
    }

    async fn table(&self, kinds: &Kinds) -> Result<Arc<([i64; 2], Table)>, Status> {
        let build = |[schemas, levels]: [Vec<Value>; 2]| {
            let table = Table::build(&schemas, &levels);
            let mut levels = self.levels.lock();
            levels.configure(table.limits());
            // Where there were no seats, nobody gives one back.
            grant(&self.levels, &mut levels);
            table
        };
        self.current.get(kinds, build).await
    }
}

/// The answer to those for whom there is no place.
fn refusal() -> Status {
    let mut status = Status::too_many_requests("Too many requests, please try again later.");
    status.details = json!({"retryAfterSeconds": 1});
    status
}
