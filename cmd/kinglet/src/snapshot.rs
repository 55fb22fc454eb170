//! `kinglet snapshot` and `kinglet store`: the database's files, with the server running or not.

use std::{
    io::{self, Write as _},
    path::PathBuf,
    time::SystemTime,
};

use anyhow::Context as _;
use clap::{Args, Subcommand, ValueEnum};
use jiff::{Timestamp, Unit};
use serde_json::json;
use store::{
    check,
    snapshot::{self, Info},
};

use crate::options::{Files, SnapshotDir};

/// Snapshots.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Save a snapshot; the server may be running, and goes on
    Save {
        /// Its name [default: on-demand-NODE-SECONDS]
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
        /// Name of this node [default: the host name]
        #[arg(long, env = "KINGLET_NODE_NAME", value_name = "NODE")]
        node_name: Option<String>,
        #[command(flatten)]
        at: Places,
    },
    /// List snapshots, oldest revision first
    ///
    /// They are looked at briefly; `kinglet store check NAME` verifies one.
    List {
        /// How
        #[arg(short, long, value_name = "FORMAT", default_value = "table")]
        output: Format,
        #[command(flatten)]
        at: Places,
    },
    /// Put a snapshot in the place of the database; the server must be stopped
    ///
    /// The old database is kept beside the new one. Revisions go on from the higher one of both, so
    /// that clients list anew. What `etcdctl snapshot save` gets from Kinglet's socket is a snapshot, too.
    Restore {
        /// Name of a snapshot, or a file
        #[arg(value_name = "NAME|FILE")]
        snapshot: String,
        #[command(flatten)]
        at: Places,
    },
    /// Delete snapshots
    Delete {
        /// Their names
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
        #[command(flatten)]
        at: Places,
    },
}

/// The database.
#[derive(Subcommand, Debug)]
pub enum StoreCommand {
    /// Verify a database, and say what is damaged and what would be lost
    ///
    /// Nothing is changed, and a running server goes on. Ends with 1 if something is damaged or missing.
    Check {
        /// A database, or the name of a snapshot [default: the database of this server]
        #[arg(value_name = "FILE|NAME")]
        file: Option<String>,
        #[command(flatten)]
        at: Places,
    },
}

/// Where the database and its snapshots are.
#[derive(Args, Debug)]
pub struct Places {
    #[command(flatten)]
    snapshots: SnapshotDir,
    /// As the server has it
    #[arg(long, env = "KINGLET_DATASTORE_ENDPOINT", value_name = "URL", value_delimiter = ',', hide = true)]
    datastore_endpoint: Vec<String>,
    #[command(flatten)]
    files: Files,
}

/// How a list is printed.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Format {
    /// For people
    Table,
    /// For programs
    Json,
}

impl Places {
    fn snapshots(&self) -> PathBuf {
        self.snapshots.within(&self.files.paths())
    }

    /// The built-in database, if that is where the data is.
    fn database(&self) -> anyhow::Result<PathBuf> {
        anyhow::ensure!(
            self.datastore_endpoint.is_empty(),
            "the data is in the etcd at {}, which has snapshots of its own: etcdctl snapshot save",
            self.datastore_endpoint.join(",")
        );
        Ok(self.files.paths().database())
    }

    /// The database, which must be there.
    fn existing(&self) -> anyhow::Result<PathBuf> {
        let database = self.database()?;
        anyhow::ensure!(
            database.exists(),
            "there is no database at {}; is --data-dir that of the server?",
            database.display()
        );
        Ok(database)
    }
}

/// Runs `kinglet snapshot`.
pub fn run(command: Command) -> anyhow::Result<u8> {
    match command {
        Command::Save { name, node_name, at } => {
            let name = match name {
                Some(name) => {
                    anyhow::ensure!(
                        !name.starts_with(&format!("{}-", server::snapshots::SCHEDULED)),
                        "{name:?} would be one of the schedule's, which deletes its old ones; choose another name"
                    );
                    name
                }
                None => snapshot::name("on-demand", &node::node_name(node_name)?, SystemTime::now()),
            };
            let saved = snapshot::save(&at.existing()?, &at.snapshots(), &name)?;
            say(&format!("saved {}, {}\n", saved.path.display(), state(&saved)))?;
        }
        Command::List { output, at } => print(&snapshot::list(&at.snapshots())?, output)?,
        Command::Restore { snapshot, at } => {
            let (dir, database) = (at.snapshots(), at.database()?);
            let done = snapshot::restore(&database, &snapshot::find(&dir, &snapshot)?)?;
            let (was, is) = (done.contents.revision, done.revision);
            say(&format!("restored {} keys of revision {was}; the head is {is} now\n", done.contents.keys))?;
            if let Some(aside) = done.aside {
                say(&format!("the old database is {}; delete it when you do not need it\n", aside.display()))?;
            }
        }
        Command::Delete { names, at } => {
            for name in names {
                snapshot::delete(&at.snapshots(), &name)?;
                say(&format!("deleted {name}\n"))?;
            }
        }
    }
    Ok(0)
}

/// Runs `kinglet store`.
pub fn run_store(StoreCommand::Check { file, at }: StoreCommand) -> anyhow::Result<u8> {
    let own = file.is_none();
    let database = match file {
        Some(file) => snapshot::find(&at.snapshots(), &file)?,
        None => at.existing()?,
    };
    let report = check::check(&database, Some(&at.snapshots()))?;
    let good = report.is_good();
    let mut text = report.to_string();
    if let (true, false, Some(newest)) = (own, good, report.snapshot) {
        let name = newest.name;
        text += &format!("to go back to the newest good snapshot: stop kinglet, and kinglet snapshot restore {name}\n");
    }
    say(&text)?;
    Ok(u8::from(!good))
}

/// Prints; who reads only the beginning has seen enough.
fn say(text: &str) -> anyhow::Result<()> {
    match io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written.context("writing to standard output"),
    }
}

fn print(found: &[Info], output: Format) -> anyhow::Result<()> {
    if let Format::Json = output {
        let items: Result<Vec<_>, _> = found.iter().map(item).collect();
        return say(&format!("{:#}\n", json!(items?)));
    }
    let mut text = format!("{:<40} {:>12} {:>12} {:>8}  {:<20} STATE\n", "NAME", "SIZE", "REVISION", "KEYS", "TIME");
    for info in found {
        let number = |of: fn(&snapshot::Contents) -> i64| {
            info.contents.as_ref().map_or_else(|_| "-".to_owned(), |contents| of(contents).to_string())
        };
        let (revision, keys) = (number(|c| c.revision), number(|c| c.keys));
        let state = info.contents.as_ref().map_or_else(|why| format!("not a snapshot: {why}"), |_| "ok".to_owned());
        let (name, size, time) = (&info.name, info.size, time(info)?);
        text += &format!("{name:<40} {size:>12} {revision:>12} {keys:>8}  {time:<20} {state}\n");
    }
    say(&text)
}

fn item(info: &Info) -> anyhow::Result<serde_json::Value> {
    let contents = info.contents.as_ref();
    Ok(json!({
        "name": info.name,
        "path": info.path,
        "size": info.size,
        "time": time(info)?,
        "revision": contents.map(|c| c.revision).ok(),
        "keys": contents.map(|c| c.keys).ok(),
        "state": contents.map_or_else(|_| "not a snapshot", |_| "ok"),
        "message": contents.err(),
    }))
}

fn state(info: &Info) -> String {
    match &info.contents {
        Ok(contents) => format!("{} keys at revision {}, {} bytes", contents.keys, contents.revision, info.size),
        Err(why) => format!("which is not usable: {why}"),
    }
}

fn time(info: &Info) -> anyhow::Result<String> {
    let time = Timestamp::try_from(info.time).context("the time of a file")?;
    Ok(time.round(Unit::Second)?.to_string())
}
