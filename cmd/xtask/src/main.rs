//! Repository tasks: `cargo xtask TASK`. Each task is a module; this file only picks one.

mod bench;
mod check;
mod clients;
mod conformance;
mod discovery;
mod images;
mod kept;
mod schema;
mod soak;
mod tidy;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

const USAGE: &str = "usage: cargo xtask TASK

  bench [ROW…]                measure the budgets of the design, with the release binary
  bench api [ROW…]            the rows of the API alone
  bench store [NAME…]         measure the store, its face, etcd and kine
  discovery [--update]        compare what is served with upstream's list, or make the list
  conformance [OPTION…]       run upstream's conformance tests, all of them or those that are chosen
    --focus REGEX  --sig NAME  --failed  --quick     by name, SIG, last result, or the short list
    --parallel N  --cap SECONDS                      programs at a time (2), time of a test (300)
    --resume                                         go on with the last run that is unfinished
  conformance status          write tests/conformance/STATUS.md from what was saved
  conformance images          build the images of the suite, into target/conformance
  clients                     get the clients of the black-box tests, into target/clients
  images                      build the test images from distribution packages, into target/images
  schema [--check]            generate the type table from published packages, or check it
  soak api [MINUTES]          random input against all that reads requests, minutes to a target (10)
  soak crds --dir DIR         the CustomResourceDefinitions and examples in a folder, with kubectl
  soak store [FACTOR]         the store's suite, so many times longer than in CI (10)
  test                        format, lints, unit tests, and black-box tests with the release binary
  tidy                        check the rules of the house that a program can check";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> anyhow::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["bench", "store", names @ ..] => bench::store::run(names),
        // The same in the release build.
        ["bench-store", rest @ ..] => bench::store::main(rest),
        ["bench", "api", rows @ ..] => bench::api(rows),
        ["bench", rows @ ..] => bench::run(rows),
        // The load generator of the former, in the namespace of the server.
        ["bench-client", rest @ ..] => bench::client(rest),
        ["discovery", rest @ ..] => discovery::run(rest),
        ["clients"] => clients::prepare(),
        ["conformance", rest @ ..] => conformance::run(rest),
        ["images"] => images::build().map(drop),
        ["schema", rest @ ..] => schema::run(rest),
        ["soak", "api", minutes @ ..] => soak::api(minutes),
        ["soak", "crds", rest @ ..] => soak::crds(rest),
        ["soak", "store", factor @ ..] => soak::store(factor),
        ["test"] => check::run(),
        ["tidy"] => tidy::run(),
        _ => anyhow::bail!("{USAGE}"),
    }
}

/// The root of the repository.
fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("cmd/xtask is two levels down").to_owned()
}
