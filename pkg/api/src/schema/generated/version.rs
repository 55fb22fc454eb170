//! Types of package `version`.
//!
//! Made by `cargo xtask schema`; not for editing, and exempt from the size rule.

#[allow(unused_imports)]
use super::{super::build::*, ids::*};


pub(super) const INFO: Type = ty("io.k8s.apimachinery.pkg.version.Info", &INFO_FIELDS, 0);
static INFO_FIELDS: [Field; 13] = [
    f("buildDate", 0, STRING, REQUIRED),
    f("compiler", 0, STRING, REQUIRED),
    f("emulationMajor", 0, STRING, OMIT_EMPTY),
    f("emulationMinor", 0, STRING, OMIT_EMPTY),
    f("gitCommit", 0, STRING, REQUIRED),
    f("gitTreeState", 0, STRING, REQUIRED),
    f("gitVersion", 0, STRING, REQUIRED),
    f("goVersion", 0, STRING, REQUIRED),
    f("major", 0, STRING, REQUIRED),
    f("minCompatibilityMajor", 0, STRING, OMIT_EMPTY),
    f("minCompatibilityMinor", 0, STRING, OMIT_EMPTY),
    f("minor", 0, STRING, REQUIRED),
    f("platform", 0, STRING, REQUIRED),
];
