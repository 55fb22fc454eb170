//! `cargo xtask conformance`: upstream's conformance suite against this build.

// The runner uses the rest.
#[allow(dead_code)]
pub mod images;

/// `images` builds the suite's images.
pub fn run(args: &[&str]) -> anyhow::Result<()> {
    match args {
        ["images"] => images::build().map(drop),
        _ => anyhow::bail!("usage: cargo xtask conformance images"),
    }
}
