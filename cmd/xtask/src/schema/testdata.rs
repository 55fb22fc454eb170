//! Decodes upstream's golden objects with the table that is compiled in.

use std::path::Path;

use anyhow::Result;

/// Checks `testdata/HEAD/*.json` of module `k8s.io/api`.
pub fn check(_module: &Path) -> Result<()> {
    anyhow::bail!("not yet")
}
