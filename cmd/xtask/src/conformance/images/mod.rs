//! The images of the suite, in the data directory of a registry, without asking one: from packages
//! of the distribution and Go modules. All is below `target/conformance`.

mod recipes;
mod registry;
mod sources;

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context as _;

use self::recipes::{RECIPES, REGISTRIES};
use crate::{
    images::archive::{Image, Tar, hex},
    kept::unless_made,
    repository,
};

/// The registry's name for nodes, which their `registries.yaml` sends to where it listens.
pub const HOST: &str = "registry.test:5000";

/// What has been built.
pub struct Images {
    /// Data directory of the registry.
    pub registry: PathBuf,
    /// The file for `KUBE_TEST_REPO_LIST`.
    pub repo_list: PathBuf,
}

/// Builds what is missing or out of date.
pub fn build() -> anyhow::Result<Images> {
    let out = repository().join("target/conformance");
    let sources = out.join("images/sources");
    sources::build(&sources).context("what the images are made from")?;
    let images = Images { registry: out.join("registry"), repo_list: out.join("repo-list.yaml") };
    fill(&images.registry, &out.join("images"), &sources)?;
    let mut list = String::new();
    for (registry, path) in REGISTRIES {
        writeln!(list, "{registry}: {HOST}{path}")?;
    }
    fs::write(&images.repo_list, list)?;
    Ok(images)
}

/// Makes the registry's data directory anew, unless it has been made from the same.
fn fill(dir: &Path, layers: &Path, sources: &Path) -> anyhow::Result<()> {
    let code = (include_str!("registry.rs"), include_str!("../../images/archive.rs"));
    let mut made_from = format!("{HOST} {RECIPES:?} {code:?}");
    for layer in RECIPES.iter().flat_map(|recipe| recipe.layers) {
        made_from += &layer.made_from(sources)?;
    }
    unless_made(dir, &hex(made_from.as_bytes()), || {
        for recipe in RECIPES {
            let tars: Vec<Tar> =
                recipe.layers.iter().map(|layer| layer.tar(layers, sources)).collect::<anyhow::Result<_>>()?;
            let reference = format!("{HOST}/{}:{}", recipe.name, recipe.tag);
            let image = Image { reference: &reference, layers: &tars, start: &recipe.start };
            registry::put(dir, recipe.name, recipe.tag, &image).with_context(|| reference.clone())?;
            println!("the registry has {reference}");
        }
        Ok(())
    })
}
