//! `cargo xtask bench`: the budgets of the design, measured, as a table.
//!
//! The release binary runs in a network namespace with a containerd of its own; the load generator
//! beside it is this program again, built for release, on the same cores. Rows are run in the
//! order of their [`Phase`], so that what wants a fresh cluster gets one. No test asserts a time.

mod connection;
mod load;
mod rows;
pub mod statistics;
pub mod store;
mod watchers;

pub use load::main as client;

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
};

use anyhow::bail;
use serde::{Deserialize, Serialize};

use self::rows::{Bench, ROWS};
use crate::check;

/// What was measured, in the row's unit, and what else is worth knowing.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Figure {
    value: f64,
    note: String,
}

impl Figure {
    fn new(value: f64, note: impl Into<String>) -> Self {
        Figure { value, note: note.into() }
    }
}

/// A budget.
enum Budget {
    AtMost(f64),
    AtLeast(f64),
}

impl Budget {
    fn is_met(&self, value: f64) -> bool {
        match *self {
            Budget::AtMost(limit) => value <= limit,
            Budget::AtLeast(limit) => value >= limit,
        }
    }
}

/// When a row is measured: in this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    /// Without the shared cluster.
    Before,
    /// Nothing has happened on the cluster yet.
    Fresh,
    /// Pods come and go.
    Pods,
    /// The API is under load.
    Load,
    /// The load is over.
    After,
}

/// A line of the table.
struct Row {
    /// For the command line.
    name: &'static str,
    what: &'static str,
    budget: Budget,
    unit: &'static str,
    /// k3s v1.21.2 on a machine of the same kind, measured with the same client.
    k3s: &'static str,
    phase: Phase,
    measure: fn(&mut Bench) -> anyhow::Result<Figure>,
}

/// Measures the rows of the API that are named, or all of these.
pub fn api(names: &[&str]) -> anyhow::Result<()> {
    run(if names.is_empty() { rows::API } else { names })
}

/// Measures the rows that are named, or all.
pub fn run(names: &[&str]) -> anyhow::Result<()> {
    if let Some(unknown) = names.iter().find(|name| ROWS.iter().all(|row| row.name != **name)) {
        let known: Vec<&str> = ROWS.iter().map(|row| row.name).collect();
        bail!("no row {unknown:?}; known are {}", known.join(", "));
    }
    // A binary that is given is measured as it is, like in the black-box tests.
    if std::env::var_os("KINGLET_BIN").is_none() {
        check::release()?;
    }
    check::load_generator()?;
    crate::images::build()?;
    let mut picked: Vec<&Row> = ROWS.iter().filter(|row| names.is_empty() || names.contains(&row.name)).collect();
    picked.sort_by_key(|row| row.phase);
    let mut bench = Bench::default();
    let mut lines = Vec::new();
    for row in picked {
        eprintln!("measuring {}", row.name);
        // The test cluster reports by panicking.
        let measured = catch_unwind(AssertUnwindSafe(|| (row.measure)(&mut bench)));
        let measured = measured.map_err(|panic| message(&*panic)).and_then(|r| r.map_err(|e| format!("{e:#}")));
        lines.push((row, measured));
    }
    bench.finish();
    lines.sort_by_key(|(row, _)| ROWS.iter().position(|r| r.name == row.name));
    print(&lines);
    Ok(())
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("panicked").lines().next().unwrap_or_default().to_owned()
}

fn print(lines: &[(&Row, Result<Figure, String>)]) {
    let header = ["what", "budget", "measured", "met", "k3s", "seen"].map(str::to_owned);
    let table: Vec<[String; 6]> =
        [header].into_iter().chain(lines.iter().map(|(row, figure)| cells(row, figure))).collect();
    let width = |column: usize| table.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..6).map(width).collect();
    for (at, row) in table.iter().enumerate() {
        let padded: Vec<String> = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:<width$}")).collect();
        println!("| {} |", padded.join(" | "));
        if at == 0 {
            let rules: Vec<String> = widths.iter().map(|&width| "-".repeat(width)).collect();
            println!("|-{}-|", rules.join("-|-"));
        }
    }
}

fn cells(row: &Row, figure: &Result<Figure, String>) -> [String; 6] {
    let (budget, unit) = (&row.budget, row.unit);
    let limit = match budget {
        Budget::AtMost(limit) => format!("≤ {} {unit}", digits(*limit)),
        Budget::AtLeast(limit) => format!("≥ {} {unit}", digits(*limit)),
    };
    let (measured, met, note) = match figure {
        Ok(figure) => {
            let met = if budget.is_met(figure.value) { "yes" } else { "no" };
            (format!("{} {unit}", digits(figure.value)), met, figure.note.as_str())
        }
        Err(reason) => ("–".to_owned(), "–", reason.as_str()),
    };
    [row.what.to_owned(), limit, measured, met.to_owned(), row.k3s.to_owned(), note.to_owned()]
}

/// As many digits as mean something.
fn digits(value: f64) -> String {
    let places = match value {
        v if v >= 100.0 || v.fract() == 0.0 => 0,
        v if v >= 10.0 => 1,
        _ => 2,
    };
    format!("{value:.places$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_few_digits() {
        for (value, expected) in [(0.5, "0.50"), (2.0, "2"), (18.64, "18.6"), (12_345.6, "12346"), (0.0, "0")] {
            assert_eq!(digits(value), expected);
        }
    }

    #[test]
    fn quantiles_are_of_the_sorted_values() {
        let mut values = [5.0, 1.0, 3.0, 2.0, 4.0];
        assert_eq!(statistics::median(&mut values), 3.0);
        assert_eq!(statistics::quantile(&mut values, 0.99), 5.0);
        assert_eq!(statistics::median(&mut []), 0.0);
    }

    #[test]
    fn names_of_rows_are_unique() {
        let mut names: Vec<&str> = ROWS.iter().map(|row| row.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ROWS.len());
    }
}
