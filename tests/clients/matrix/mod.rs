//! The client matrix: many clients make the same tour of one cluster, each in a namespace of its
//! own, and what came of it is a table: a row to a client, a column to a step.

mod helm;
mod kubectl;

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    io::Write as _,
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    sync::Mutex,
    time::Instant,
};

use testkit::{Cluster, Output, repository, run};

use crate::{
    client::Client,
    programs::{self, Program},
};

/// A step of a command line's tour; it panics with the cause.
type Step = (&'static str, fn(&Client));

/// What came of the steps that a client knows.
type Cells = BTreeMap<String, Result<(), String>>;

const STEPS: &[&str] = &[
    "create",
    "watch",
    "json",
    "merge",
    "strategic",
    "apply",
    "exec",
    "logs",
    "forward",
    "scale",
    "rollout",
    "delete",
    "informer",
    "election",
    "webhook",
];

const LEGEND: &str = "\
json, merge, strategic and apply are the kinds of patches; – is what a client does not have.
Helm: create is install, watch is test, strategic (3) or apply (4) is upgrade, rollout is rollback,
delete is uninstall.";

/// Client and step of the cells that are red today, and why. What turns green leaves the list.
const KNOWN: &[(&str, &str, &str)] =
    &[("controller-runtime", "webhook", "the server does not call admission webhooks yet")];

/// The programs, and the steps that their libraries have nothing for.
const PROGRAMS: &[(&str, Program, &[&str])] = &[
    ("client-go", programs::go, &["webhook"]),
    ("controller-runtime", programs::operator, &[]),
    ("kube-rs", programs::rust, &["election", "webhook"]),
    ("python", programs::by_python, &["webhook"]),
    ("javascript", programs::by_node, &["election", "webhook"]),
];

/// Clients that are on tour at the same time.
const ABREAST: usize = 3;

struct Row {
    client: String,
    tour: Tour,
}

#[derive(Clone, Copy)]
enum Tour {
    Kubectl,
    Helm,
    Program(Program, &'static [&'static str]),
}

/// The objects of the tour, for all clients.
fn manifest() -> PathBuf {
    repository().join("tests/clients/matrix/tour.json")
}

#[test]
fn matrix() {
    let start = Instant::now();
    let cluster = Cluster::start("matrix", 0);
    let rows = rows();
    let todo = Mutex::new(rows.iter().enumerate());
    let done = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..ABREAST {
            scope.spawn(|| {
                loop {
                    let Some((at, row)) = todo.lock().expect("nobody panics").next() else { break };
                    // A row that breaks off is told in the table like the others.
                    let broken = |cause| Cells::from([("start".to_owned(), Err(cause))]);
                    let cells = attempt(|| row.run(&cluster)).unwrap_or_else(broken);
                    done.lock().expect("nobody panics").insert(at, cells);
                }
            });
        }
    });
    let done: Vec<(&str, Cells)> =
        done.into_inner().expect("nobody panics").into_iter().map(|(at, cells)| (&*rows[at].client, cells)).collect();
    let report = report(&done);
    // Past the capture of tests: it is what one wants to see.
    let _ = writeln!(std::io::stdout(), "\n{report}\n{} clients in {:.0} s", done.len(), start.elapsed().as_secs_f64());
    fs::write(repository().join("target/clients/matrix.md"), &report).expect("the report can be written");
    let surprises = surprises(&done);
    assert!(surprises.is_empty(), "{}", surprises.join("\n"));
}

fn rows() -> Vec<Row> {
    let kubectls = (27..=37).map(|minor| Row { client: format!("kubectl-1.{minor}"), tour: Tour::Kubectl });
    let helms = ["helm-3", "helm-4"].map(|name| Row { client: name.to_owned(), tour: Tour::Helm });
    let programs = PROGRAMS
        .iter()
        .map(|(name, program, lacks)| Row { client: (*name).to_owned(), tour: Tour::Program(*program, lacks) });
    kubectls.chain(helms).chain(programs).collect()
}

impl Row {
    fn run(&self, cluster: &Cluster) -> Cells {
        // Namespaces have no dots in their names.
        let namespace = self.client.replace('.', "-");
        let client = || Client::new(cluster, &self.client).within(&namespace);
        match self.tour {
            Tour::Kubectl => {
                cluster.kubectl(&format!("create namespace {namespace}"));
                by_steps(&client(), kubectl::STEPS)
            }
            Tour::Helm => by_steps(&client(), helm::steps(&self.client)),
            Tour::Program(program, lacks) => by_program(cluster, program, lacks),
        }
    }
}

/// The cause, if it panics.
fn attempt<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|cause| {
        let text = cause.downcast_ref::<String>().cloned();
        text.or_else(|| cause.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
    })
}

fn by_steps(client: &Client, steps: &[Step]) -> Cells {
    steps.iter().map(|(name, step)| ((*name).to_owned(), attempt(|| step(client)))).collect()
}

fn by_program(cluster: &Cluster, program: Program, lacks: &[&str]) -> Cells {
    cells(&run(program(cluster).arg("tour").env("TOUR", manifest()), ""), lacks)
}

/// What has come of a program's steps. An exit code that no step explains is a cell of its own.
fn cells(output: &Output, lacks: &[&str]) -> Cells {
    let mut cells = told(output);
    let end = format!("the program ended with {}: {}", output.code, output.stderr.trim());
    let mut cause = format!("no word of it; {end}");
    for step in STEPS.iter().filter(|step| !lacks.contains(step)) {
        cells
            .entry((*step).to_owned())
            .or_insert_with(|| Err(std::mem::replace(&mut cause, "no word of it either".to_owned())));
    }
    if output.code != 0 && cells.values().all(Result::is_ok) {
        cells.insert("end".to_owned(), Err(end));
    }
    cells
}

/// What a program's lines say of the tour; a cause goes on until the next line of that form.
fn told(output: &Output) -> Cells {
    let (mut cells, mut last) = (Cells::new(), String::new());
    for line in output.stdout.lines() {
        if let Some(step) = line.strip_prefix("ok tour/") {
            cells.insert(step.to_owned(), Ok(()));
            last.clear();
        } else if let Some((step, cause)) = line.strip_prefix("FAILED tour/").and_then(|rest| rest.split_once(": ")) {
            cells.insert(step.to_owned(), Err(cause.to_owned()));
            step.clone_into(&mut last);
        } else if let Some(Err(cause)) = cells.get_mut(&last) {
            let _ = write!(cause, "\n{line}");
        }
    }
    cells
}

fn known(client: &str, step: &str) -> Option<&'static str> {
    KNOWN.iter().find(|(c, s, _)| (*c, *s) == (client, step)).map(|(_, _, reason)| *reason)
}

/// The table, and the causes of what is red in it.
fn report(done: &[(&str, Cells)]) -> String {
    let mut table = vec![vec!["client"]];
    table[0].extend(STEPS);
    table.extend(done.iter().map(|(client, cells)| {
        let cell = |step: &&str| match cells.get(*step) {
            Some(Ok(())) => "ok",
            Some(Err(_)) => "FAILED",
            None => "–",
        };
        std::iter::once(*client).chain(STEPS.iter().map(cell)).collect()
    }));
    let width = |at: usize| table.iter().map(|row| row[at].chars().count()).max().unwrap_or_default();
    let widths: Vec<usize> = (0..table[0].len()).map(width).collect();
    let rules: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
    table.insert(1, rules.iter().map(|rule| &**rule).collect());
    let mut text = String::new();
    for row in &table {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:<width$}")).collect();
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    let _ = writeln!(text, "\n{LEGEND}");
    for (client, step, cause) in red(done) {
        let known = known(client, step).map(|reason| format!("{reason}. ")).unwrap_or_default();
        let _ = writeln!(text, "\n{client}, {step}: {known}{}", cause.trim().replace('\n', "\n    "));
    }
    text
}

/// In the order of the tour; what is no step of it comes last.
fn red<'a>(done: &'a [(&str, Cells)]) -> impl Iterator<Item = (&'a str, &'a str, &'a str)> {
    done.iter().flat_map(|(client, cells)| {
        let others = cells.keys().map(|name| &**name).filter(|name| !STEPS.contains(name));
        let names = STEPS.iter().copied().chain(others);
        names.filter_map(move |name| Some((*client, name, cells.get(name)?.as_ref().err()?.as_str())))
    })
}

/// Red cells that nobody has said to be, known ones that are not, and what is no step of the tour.
fn surprises(done: &[(&str, Cells)]) -> Vec<String> {
    let unknown = red(done).filter(|(client, step, _)| known(client, step).is_none());
    let unknown = unknown.map(|(client, step, cause)| format!("{client}, {step}: {cause}"));
    let mended = KNOWN.iter().filter(|(client, step, _)| !red(done).any(|(c, s, _)| (c, s) == (*client, *step)));
    let mended = mended.map(|(client, step, _)| format!("{client}, {step}: ok, and no longer KNOWN to fail"));
    let foreign = done.iter().flat_map(|(client, cells)| cells.iter().map(move |(name, cell)| (client, name, cell)));
    let foreign = foreign.filter(|(_, name, cell)| cell.is_ok() && !STEPS.contains(&&***name));
    unknown
        .chain(mended)
        .chain(foreign.map(|(client, name, _)| format!("{client}, {name}: no step of the tour")))
        .collect()
}

#[test]
fn what_the_table_has_no_place_for_is_a_surprise() {
    let all: String = STEPS.iter().map(|step| format!("ok tour/{step}\n")).collect();
    let red = all.replace("ok tour/merge", "FAILED tour/merge: lost");
    let extra = format!("{all}ok tour/dance\n");
    // What a program prints, its exit code, the surprises.
    let cases: [(&str, i32, &[&str]); 5] = [
        (&all, 0, &[]),
        (&all, 2, &["c, end: the program ended with 2: why"]),
        (&red, 1, &["c, merge: lost"]),
        (&extra, 0, &["c, dance: no step of the tour"]),
        (&extra.replace("ok tour/dance", "FAILED tour/dance: fell"), 1, &["c, dance: fell"]),
    ];
    let known =
        KNOWN.iter().map(|(client, step, why)| (*client, Cells::from([((*step).to_owned(), Err((*why).to_owned()))])));
    let known: Vec<(&str, Cells)> = known.collect();
    for (stdout, code, expected) in cases {
        let output = Output { command: String::new(), code, stdout: stdout.to_owned(), stderr: "why\n".to_owned() };
        let done = [known.clone(), vec![("c", cells(&output, &[]))]].concat();
        assert_eq!(surprises(&done), expected, "{stdout}");
    }
    assert_eq!(attempt(|| panic!("{} off", "broken")), Err::<(), _>("broken off".to_owned()));
}
