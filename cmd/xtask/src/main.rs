//! Repository tasks: `cargo xtask TASK`. Each task is a module; this file only picks one.

mod schema;

fn main() -> anyhow::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["schema", rest @ ..] => schema::run(rest),
        _ => anyhow::bail!("usage: cargo xtask schema [--check-testdata]"),
    }
}
