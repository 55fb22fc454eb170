//! Middle values, and what the kernel knows of a process.

use std::{fs, time::Duration};

use anyhow::Context as _;

/// The value that half of all are below; sorts.
pub fn median(values: &mut [f64]) -> f64 {
    quantile(values, 0.5)
}

/// The value that a share of all are below; sorts. Zero if there are none.
pub fn quantile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let last = values.len().saturating_sub(1);
    values.get((last as f64 * share).round() as usize).copied().unwrap_or(0.0)
}

/// Of a process, from `/proc/PID/status`.
pub struct Memory {
    /// Resident: all of it, and what is not mapped from files. MB of 2^20 bytes.
    pub resident: f64,
    /// The heap and stacks within.
    pub anonymous: f64,
    /// The most that was ever resident.
    pub peak: f64,
}

/// Resident memory of a process.
pub fn memory(pid: u32) -> anyhow::Result<Memory> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let field = |name: &str| anyhow::Ok(number(&status, name)? as f64 / 1024.0);
    Ok(Memory { resident: field("VmRSS:")?, anonymous: field("RssAnon:")?, peak: field("VmHWM:")? })
}

/// Processor time of a process since its start, children not included (`/proc/PID/stat`).
pub fn processor_time(pid: u32) -> anyhow::Result<Duration> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    // The name in parentheses may contain blanks.
    let (_, fields) = stat.rsplit_once(')').context("no name in stat")?;
    let ticks = fields.split_whitespace().skip(11).take(2).map(str::parse::<u64>).sum::<Result<u64, _>>()?;
    // The kernel shows user space hundredths of a second on every architecture.
    Ok(Duration::from_millis(ticks * 10))
}

/// How long ago a process was started, in steps of 10 ms.
pub fn age(pid: u32) -> anyhow::Result<Duration> {
    let uptime: f64 = fs::read_to_string("/proc/uptime")?.split(' ').next().context("no uptime")?.parse()?;
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let (_, fields) = stat.rsplit_once(')').context("no name in stat")?;
    let started: f64 = fields.split_whitespace().nth(19).context("no start time")?.parse()?;
    Ok(Duration::from_secs_f64((uptime - started / 100.0).max(0.0)))
}

/// Bytes that a process has caused to be written to disk (`/proc/PID/io`).
pub fn written(pid: u32) -> anyhow::Result<u64> {
    number(&fs::read_to_string(format!("/proc/{pid}/io"))?, "write_bytes:")
}

fn number(text: &str, name: &str) -> anyhow::Result<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name)).with_context(|| format!("no {name}"))?;
    Ok(line.split_whitespace().next().context("no number")?.parse()?)
}
