//! `cargo xtask soak`: tests that CI runs for a minute, run for long.

use std::process::Command;

use anyhow::{bail, ensure};

/// The store's suite, with what lasts multiplied: kills, power cuts, random cases, updates.
pub fn store(factor: &[&str]) -> anyhow::Result<()> {
    let factor: u32 = match factor {
        [] => 10,
        [factor] => factor.parse()?,
        _ => bail!("one factor"),
    };
    let status = Command::new(env!("CARGO"))
        .args(["test", "--release", "--package", "store", "--test", "suite", "--", "--nocapture"])
        .env("KINGLET_SOAK", factor.to_string())
        .current_dir(crate::repository())
        .status()?;
    ensure!(status.success(), "the suite failed; the seed that it printed repeats the run");
    Ok(())
}
