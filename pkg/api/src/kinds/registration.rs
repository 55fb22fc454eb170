//! Rows of API registration: what is served, as objects.

use super::row::{Group, Row, STATUS};
use crate::{strategy, table};

pub(super) static GROUP: Group = Group {
    group: "apiregistration.k8s.io",
    version: "v1",
    package: "io.k8s.kube-aggregator.pkg.apis.apiregistration",
};

pub(super) const ROWS: &[Row] = &[Row::cluster("APIService", "apiservices")
    .based()
    .bare_finalizers()
    .strategy(&strategy::ApiServices)
    .columns(&table::cluster::API_SERVICE)
    .categories(&["api-extensions"])
    .subs(STATUS)];
