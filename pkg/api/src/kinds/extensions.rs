//! Rows of the API's own extension: CustomResourceDefinitions. The kinds that they define are rows
//! too, made at run time by [`crate::crd`].

use super::row::{Group, Row, STATUS};
use crate::strategy;

pub(super) static EXTENSIONS: Group = Group {
    group: "apiextensions.k8s.io",
    version: "v1",
    package: "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions",
};

pub(super) const EXTENSIONS_ROWS: &[Row] = &[Row::cluster("CustomResourceDefinition", "customresourcedefinitions")
    .based()
    .bare_finalizers()
    .strategy(&strategy::CustomResourceDefinitions)
    .short(&["crd", "crds"])
    .categories(&["api-extensions"])
    .subs(STATUS)];
