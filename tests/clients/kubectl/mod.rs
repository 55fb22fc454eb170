//! kubectl: every command, as far as a node without a way out allows it.

mod changing;
mod creating;
mod custom;
mod reading;
mod running;

use testkit::Cluster;

use crate::client::Client;

/// The whole of it, by kubectl 1.`minor`.
pub fn everything(minor: u32) {
    let cluster = Cluster::start(&format!("kubectl-{minor}"), 0);
    let kubectl = Client::new(&cluster, &format!("kubectl-1.{minor}"));
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| reading::discovery(&kubectl)));
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| creating::generators(&kubectl)));
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| reading::every_output(&kubectl)));
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| reading::selections(&kubectl)));
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| reading::descriptions(&kubectl)));
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| reading::watching(&kubectl)));
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| changing::apply(&kubectl)));
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| changing::apply_on_the_server(&kubectl)));
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| changing::apply_with_pruning(&kubectl)));
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| changing::edit(&kubectl)));
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| changing::patches(&kubectl)));
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| changing::labels_and_annotations(&kubectl)));
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| changing::set(&kubectl)));
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| changing::replace(&kubectl)));
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| running::rollouts(&kubectl)));
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| running::scaling(&kubectl)));
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| running::pods(&kubectl)));
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| running::files_and_ports(&kubectl)));
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| running::rights(&kubectl)));
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| running::nodes(&kubectl)));
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| running::deletion(&kubectl)));
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| custom::definition(&kubectl)));
}
