//! `cargo xtask soak`: tests that CI runs for a minute, run for long.

mod crds;

use std::process::Command;

use anyhow::{bail, ensure};

pub use crds::run as crds;

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

/// Random input against everything that reads what clients send, for so many minutes each.
pub fn api(minutes: &[&str]) -> anyhow::Result<()> {
    let minutes: u32 = match minutes {
        [] => 10,
        [minutes] => minutes.parse()?,
        _ => bail!("one number of minutes"),
    };
    let status = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--release", "--package", "fuzz", "--", "--seconds", &(minutes * 60).to_string()])
        .current_dir(crate::repository())
        .status()?;
    ensure!(status.success(), "a target failed; the command that was printed repeats it");
    Ok(())
}
