//! How components reach the API: the same `kube::Client` inside the server process and on agents,
//! informers over it, and the runtime that all controllers share.

pub mod clock;
pub mod connect;
pub mod informer;
pub mod labels;
pub mod leader;
pub mod queue;
pub mod recorder;
pub mod runtime;
pub mod slim;
pub mod tolerations;
pub mod transport;

pub use clock::{Clock, ManualClock, SharedClock, SystemClock};
pub use connect::{ClientIdentity, HttpsConnector};
pub use informer::{Change, Informer, Informers, ObjectKey};
pub use recorder::{EventType, Recorder, reference};
pub use runtime::{Controller, Expectations, Next, Runtime, Sources};
pub use transport::{Credentials, RemoteConfig, in_process, remote};
