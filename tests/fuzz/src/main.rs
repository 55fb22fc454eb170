//! Random input against everything that reads what clients send: `cargo xtask soak api` runs this for minutes, the
//! test command for seconds. A target is one file of `cargo fuzz` in all but the coverage: that needs a nightly
//! compiler, and this is to run wherever the tests run. Instead inputs are mutated by what they are (bytes, text,
//! trees), from a corpus of valid ones.
//!
//! Guarantees: no target panics, no input takes longer than [`PATIENCE`], and the process stays below [`MEMORY`]. The
//! seed that is printed repeats a run; the input that failed is kept in a file.
//!
//! Usage: `fuzz [--seconds N] [--seed N] [TARGET…]`, `fuzz --replay TARGET FILE`.

mod corpus;
mod mutate;
mod server;
mod targets;

use std::{
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail, ensure};
use rand::{Rng as _, SeedableRng as _, rngs::StdRng};

/// No input may take longer, in a build for release on a busy machine.
const PATIENCE: Duration = Duration::from_secs(10);
/// Resident memory, in KB. A request has 3 MB at most.
const MEMORY: u64 = 1024 * 1024;
/// Inputs between two looks at memory.
const ROUND: u64 = 64;

/// Reads input.
pub struct Target {
    /// For the command line.
    pub name: &'static str,
    /// Valid inputs to begin with.
    pub corpus: fn() -> Vec<Vec<u8>>,
    /// How inputs are changed.
    pub mutate: fn(&mut StdRng, &mut Vec<u8>),
    /// Runs one; what it holds may live between inputs.
    pub start: fn() -> Run,
}

/// Takes one input after the other.
pub type Run = Box<dyn FnMut(&[u8])>;

fn main() -> anyhow::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, target, file] = args.as_slice()
        && flag == "--replay"
    {
        let target = find(target)?;
        (target.start)()(&fs::read(file)?);
        println!("{} takes it", target.name);
        return Ok(());
    }
    let (mut seconds, mut seed, mut names) = (5, rand::rng().random(), Vec::new());
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let mut number = || args.next().context("a number is missing")?.parse::<u64>().context("not a number");
        match arg.as_str() {
            "--seconds" => seconds = number()?,
            "--seed" => seed = number()?,
            name => names.push(find(name)?),
        }
    }
    if names.is_empty() {
        names = targets::TARGETS.iter().collect();
    }
    for target in names {
        run(target, Duration::from_secs(seconds), seed)?;
    }
    Ok(())
}

fn find(name: &str) -> anyhow::Result<&'static Target> {
    let known = || targets::TARGETS.iter().map(|target| target.name).collect::<Vec<_>>().join(", ");
    targets::TARGETS
        .iter()
        .find(|target| target.name == name)
        .with_context(|| format!("no {name:?}; known: {}", known()))
}

fn run(target: &Target, time: Duration, seed: u64) -> anyhow::Result<()> {
    let corpus = (target.corpus)();
    ensure!(!corpus.is_empty(), "{}: no corpus", target.name);
    let mut take = (target.start)();
    let mut random = StdRng::seed_from_u64(seed);
    let (start, mut count, mut slowest) = (Instant::now(), 0_u64, Duration::ZERO);
    while start.elapsed() < time {
        for _ in 0..ROUND {
            // Valid ones first.
            let picked = usize::try_from(count).ok().filter(|at| *at < corpus.len());
            let mut input = corpus[picked.unwrap_or_else(|| random.random_range(0..corpus.len()))].clone();
            if picked.is_none() {
                for _ in 0..random.random_range(1..6) {
                    (target.mutate)(&mut random, &mut input);
                }
            }
            let begun = Instant::now();
            let outcome = catch_unwind(AssertUnwindSafe(|| take(&input)));
            let took = begun.elapsed();
            slowest = slowest.max(took);
            count += 1;
            if outcome.is_err() {
                bail!("{} fails: {}; seed {seed}", target.name, keep(target, &input)?);
            }
            if took > PATIENCE {
                bail!("{} takes {took:?}: {}; seed {seed}", target.name, keep(target, &input)?);
            }
        }
        let memory = resident()?;
        ensure!(memory < MEMORY, "{} has {memory} KB of memory after {count} inputs; seed {seed}", target.name);
    }
    let memory = resident()? / 1024;
    println!("{:<12} {count:>9} inputs, slowest {slowest:>8.1?}, {memory} MB, seed {seed}", target.name);
    Ok(())
}

/// Keeps an input in a file, and says how to repeat it.
fn keep(target: &Target, input: &[u8]) -> anyhow::Result<String> {
    let folder = Path::new("target/fuzz");
    fs::create_dir_all(folder)?;
    let file = folder.join(target.name);
    fs::write(&file, input)?;
    Ok(format!("cargo run -p fuzz -- --replay {} {}", target.name, file.display()))
}

/// The most that was resident at any time, in KB.
fn resident() -> anyhow::Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("no VmHWM")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}
