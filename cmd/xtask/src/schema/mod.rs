//! `cargo xtask schema`: makes the static type table of crate `api` from published Go modules.
//!
//! Two sources are joined. The OpenAPI documents in the release module say what the API promises:
//! definitions, types, required fields, defaults, list and map semantics, patch keys. The Go
//! structs say how a field stands on the wire: protobuf numbers, inlined messages, pointers and
//! `omitempty`, enum values. Only facts are taken, no descriptions.

mod emit;
mod facts;
mod gosource;
mod metrics;
pub mod modules;
mod openapi;
mod published;
mod testdata;

use anyhow::Result;

/// Release of the modules with stable versions (`k8s.io/kubernetes`), without its `v1.`.
const RELEASE: &str = "37.2";

/// Writes `pkg/api/src/schema/generated`; with `--check` compares the table that is compiled in
/// with upstream's golden objects and OpenAPI documents.
pub fn run(args: &[&str]) -> Result<()> {
    match args {
        [] => generate(),
        ["--check"] => {
            testdata::check(&modules::download("k8s.io/api")?)?;
            published::compare(&modules::download("k8s.io/kubernetes")?.join("api/openapi-spec/v3"))
        }
        _ => anyhow::bail!("usage: cargo xtask schema [--check]"),
    }
}

fn generate() -> Result<()> {
    let documents = modules::download("k8s.io/kubernetes")?.join("api/openapi-spec/v3");
    let mut definitions = openapi::read(&documents)?;
    metrics::add(&mut definitions)?;
    let mut sources = gosource::Sources::default();
    let table = facts::join(&definitions, &mut sources)?;
    let written = emit::write(&table)?;
    println!("{} types, {written} files changed", table.len());
    Ok(())
}
