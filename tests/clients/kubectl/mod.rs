//! kubectl: every command, as far as a node without a way out allows it.

mod changing;
mod creating;
mod custom;
mod reading;
mod running;

use testkit::Cluster;

pub use self::running::Forward;
use crate::client::Client;

/// The whole of it, by kubectl 1.`minor`.
pub fn everything(minor: u32) {
    let cluster = Cluster::start(&format!("kubectl-{minor}"), 0);
    let kubectl = Client::new(&cluster, &format!("kubectl-1.{minor}"));
    reading::discovery(&kubectl);
    creating::generators(&kubectl);
    reading::every_output(&kubectl);
    reading::selections(&kubectl);
    reading::descriptions(&kubectl);
    reading::watching(&kubectl);
    changing::apply(&kubectl);
    changing::apply_on_the_server(&kubectl);
    changing::apply_with_pruning(&kubectl);
    changing::edit(&kubectl, minor);
    changing::patches(&kubectl);
    changing::labels_and_annotations(&kubectl);
    changing::set(&kubectl);
    changing::replace(&kubectl);
    running::rollouts(&kubectl);
    running::scaling(&kubectl);
    running::pods(&kubectl);
    running::files(&kubectl);
    let open = running::ports(&kubectl);
    running::rights(&kubectl);
    if minor >= 28 {
        running::identity(&kubectl);
    }
    running::nodes(&kubectl);
    running::deletion(&kubectl);
    custom::definition(&kubectl);
    drop(cluster);
    drop(open);
}
