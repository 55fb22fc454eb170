//! CustomResourceDefinitions: the table of kinds follows them.
//!
//! # Flow
//! A definition is committed → the watch cache has it → [`table`] makes rows of those that are established,
//! and the server has a new table of kinds. Beside that, [`control`] decides over each definition's status
//! ([`status`]) and writes it through the pipeline, as anyone would; so it comes back by the first way.
//!
//! # Guarantees
//! - Whoever was told that a definition is written finds this server serving by it. Whoever asks for a resource that is not in
//!   the table waits until all that is committed has been looked at, whichever server wrote it.
//! - Names are accepted in the order in which definitions were written, each over a snapshot that has all that was
//!   accepted before: a server that sees the second of two that clash sees the first one as well, and decides over
//!   it first. Each decision is a compare-and-swap. So servers on one store agree.
//! - A definition that is deleted takes its objects along, through the pipeline and with their finalizers; then its
//!   row goes, its cache and its watchers. Nothing new comes in between.
//! - A server that starts has the rows before it answers.
//!
//! # Caveats
//! CEL rules and conversion by webhook are kept in definitions and not acted on.

mod control;
mod definition;
mod purge;
mod status;
mod table;

use std::sync::Arc;

use api::Status;

use crate::server::Server;

pub use control::ask;
pub use definition::Definition;
pub use table::Definitions;

/// Makes the rows of what is there, and starts to follow.
pub async fn start(server: &Arc<Server>) -> Result<(), Status> {
    let Some(cache) = table::source(server).await? else { return Ok(()) };
    server.definitions.refresh(server, &cache);
    server.tasks.spawn(table::follow(server.clone(), cache));
    server.tasks.spawn(control::run(server.clone()));
    Ok(())
}
