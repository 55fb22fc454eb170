//! Flags, `KINGLET_*` variables and `config.yaml`: one set of options, declared once.
//!
//! A flag wins over its variable, a variable over the file, the file over the default. The file
//! holds flag names without dashes in front; lists stand for flags that may be repeated:
//!
//! ```yaml
//! node-name: pi1
//! tls-san: [kinglet.example.org]
//! ```

use std::{
    collections::BTreeMap,
    fs,
    net::{IpAddr, SocketAddr},
    path::PathBuf,
};

use anyhow::{Context as _, bail};
use clap::{Args, Command};
use serde_json::Value;
use server::snapshots::Schedule;

/// Where files live.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Files")]
pub struct Files {
    /// Directory of config.yaml, the token, certificates and kubeconfig.yaml
    #[arg(long, env = "KINGLET_CONFIG_DIR", value_name = "DIR", default_value = DEFAULT_CONFIG_DIR)]
    pub config_dir: PathBuf,
    /// Directory of the database, images, containers and volumes
    #[arg(long, env = "KINGLET_DATA_DIR", value_name = "DIR", default_value = "/var/lib/kinglet")]
    pub data_dir: PathBuf,
    /// Directory of sockets and other things that a reboot may take away
    #[arg(long, env = "KINGLET_RUN_DIR", value_name = "DIR", default_value = "/run/kinglet")]
    pub run_dir: PathBuf,
}

const DEFAULT_CONFIG_DIR: &str = "/etc/kinglet";

/// What the log shows.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Log")]
pub struct Log {
    /// error, warn, info, debug or trace; also by part, e.g. "info,kubelet=debug"
    #[arg(long, env = "KINGLET_LOG", value_name = "LEVEL", default_value = "info")]
    pub log: String,
}

/// Options of every node.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Node")]
pub struct NodeOptions {
    /// Name of this node [default: the host name]
    #[arg(long, env = "KINGLET_NODE_NAME", value_name = "NAME")]
    pub node_name: Option<String>,
    /// Address that other nodes reach this node at [default: that of the interface with the default route, or the first one found]
    #[arg(long, env = "KINGLET_NODE_IP", value_name = "IP")]
    pub node_ip: Option<IpAddr>,
    /// Label of the node at its registration, as key=value; may be repeated
    #[arg(long, env = "KINGLET_NODE_LABEL", value_name = "LABEL", value_delimiter = ',')]
    pub node_label: Vec<String>,
    /// Taint of the node at its registration, as key=value:effect; may be repeated
    #[arg(long, env = "KINGLET_NODE_TAINT", value_name = "TAINT", value_delimiter = ',')]
    pub node_taint: Vec<String>,
    /// Socket of a container runtime that is already there, instead of a containerd of our own
    #[arg(long, env = "KINGLET_CONTAINER_RUNTIME_ENDPOINT", value_name = "SOCKET")]
    pub container_runtime_endpoint: Option<String>,
    /// Port of the kubelet
    #[arg(long, env = "KINGLET_KUBELET_PORT", value_name = "PORT", default_value_t = 10250)]
    pub kubelet_port: u16,
    #[command(flatten)]
    pub cgroups: Cgroups,
}

/// Where pods are among the machine's processes.
#[derive(Args, Clone, Debug)]
pub struct Cgroups {
    /// Cgroup below which the cgroups of pods are made
    #[arg(long, env = "KINGLET_CGROUP_ROOT", value_name = "PATH", default_value = "/")]
    pub cgroup_root: String,
}

/// Options of the server.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Cluster")]
pub struct ClusterOptions {
    /// Address that the API listens on
    #[arg(long, env = "KINGLET_BIND_ADDRESS", value_name = "IP", default_value = "0.0.0.0")]
    pub bind_address: IpAddr,
    /// Port that the API listens on
    #[arg(long, env = "KINGLET_HTTPS_PORT", value_name = "PORT", default_value_t = 6443)]
    pub https_port: u16,
    /// Further name or address in the certificate of the API; may be repeated
    #[arg(long, env = "KINGLET_TLS_SAN", value_name = "NAME", value_delimiter = ',')]
    pub tls_san: Vec<String>,
    /// Range of pod addresses; each node gets a /24 of it
    #[arg(long, env = "KINGLET_CLUSTER_CIDR", value_name = "CIDR", default_value = "10.42.0.0/16")]
    pub cluster_cidr: String,
    /// Range of service addresses
    #[arg(long, env = "KINGLET_SERVICE_CIDR", value_name = "CIDR", default_value = "10.43.0.0/16")]
    pub service_cidr: String,
    /// Address of the cluster's DNS, within the service range
    #[arg(long, env = "KINGLET_CLUSTER_DNS", value_name = "IP", default_value = "10.43.0.10")]
    pub cluster_dns: IpAddr,
    /// DNS domain of the cluster
    #[arg(long, env = "KINGLET_CLUSTER_DOMAIN", value_name = "DOMAIN", default_value = "cluster.local")]
    pub cluster_domain: String,
}

/// How the built-in database is reached from outside.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Built-in database")]
pub struct StoreOptions {
    /// Address that etcd's API listens on, for holders of a certificate in CONFIG-DIR/etcd [default: only RUN-DIR/etcd.sock]
    #[arg(long, env = "KINGLET_ETCD_ADDRESS", value_name = "IP:PORT", conflicts_with = "datastore_endpoint")]
    pub etcd_address: Option<SocketAddr>,
}

/// Where a server keeps the cluster's data.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Datastore")]
pub struct DatastoreOptions {
    /// Member of an etcd cluster to use instead of the built-in database, as https://HOST:2379; may be repeated
    #[arg(long, env = "KINGLET_DATASTORE_ENDPOINT", value_name = "URL", value_delimiter = ',')]
    pub datastore_endpoint: Vec<String>,
    /// Certificates of those who sign for etcd's members
    #[arg(long, env = "KINGLET_DATASTORE_CAFILE", value_name = "FILE")]
    pub datastore_cafile: Option<PathBuf>,
    /// Certificate to show to etcd
    #[arg(long, env = "KINGLET_DATASTORE_CERTFILE", value_name = "FILE")]
    pub datastore_certfile: Option<PathBuf>,
    /// Key of that certificate
    #[arg(long, env = "KINGLET_DATASTORE_KEYFILE", value_name = "FILE")]
    pub datastore_keyfile: Option<PathBuf>,
}

/// Snapshots that the server takes.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Snapshots")]
pub struct SnapshotOptions {
    /// When to take snapshots of the database, in UTC, as five fields of cron; empty for never
    #[arg(long, env = "KINGLET_SNAPSHOT_SCHEDULE_CRON", value_name = "CRON", default_value = "0 */12 * * *")]
    pub snapshot_schedule_cron: Schedule,
    /// How many scheduled snapshots are kept; 0 for all
    #[arg(long, env = "KINGLET_SNAPSHOT_RETENTION", value_name = "NUMBER", default_value_t = 5)]
    pub snapshot_retention: usize,
    #[command(flatten)]
    pub dir: SnapshotDir,
}

/// Where snapshots are.
#[derive(Args, Clone, Debug)]
pub struct SnapshotDir {
    /// Directory of snapshots [default: server/snapshots in the data directory]
    #[arg(long, env = "KINGLET_SNAPSHOT_DIR", value_name = "DIR")]
    pub snapshot_dir: Option<PathBuf>,
}

impl SnapshotDir {
    /// As given, or the default below `paths`.
    pub fn within(&self, paths: &node::Paths) -> PathBuf {
        self.snapshot_dir.clone().unwrap_or_else(|| paths.snapshots())
    }
}

/// What becomes of lines in `config.yaml` that a command has no option for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// They are errors.
    Refused,
    /// They are for the server.
    Ignored,
}

/// Gives the options of `command` (a subcommand) the values of `config.yaml`, below flags and
/// variables. A missing file is fine.
pub fn with_file(command: Command, unknown: Unknown) -> anyhow::Result<Command> {
    let path = config_dir().join("config.yaml");
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(command),
        Err(error) => return Err(error).with_context(|| format!("reading {}", path.display())),
    };
    let values: BTreeMap<String, Value> =
        crate::yaml(&text).with_context(|| format!("{} is not a map of options", path.display()))?;
    apply(command, values, unknown).with_context(|| path.display().to_string())
}

/// `--config-dir` decides where the file is, so it is looked for before the flags are parsed.
fn config_dir() -> PathBuf {
    let mut args = std::env::args_os().skip(1);
    while let Some(arg) = args.next() {
        let Some(arg) = arg.to_str() else { continue };
        if arg == "--config-dir" {
            return args.next().unwrap_or_default().into();
        }
        if let Some(dir) = arg.strip_prefix("--config-dir=") {
            return dir.into();
        }
    }
    std::env::var_os("KINGLET_CONFIG_DIR").map_or_else(|| DEFAULT_CONFIG_DIR.into(), PathBuf::from)
}

fn apply(mut command: Command, values: BTreeMap<String, Value>, unknown: Unknown) -> anyhow::Result<Command> {
    let known: Vec<String> = command.get_arguments().filter_map(|a| a.get_long()).map(str::to_owned).collect();
    for (name, value) in values {
        if unknown == Unknown::Ignored && !known.contains(&name) {
            continue;
        }
        if !known.contains(&name) || name == "config-dir" {
            bail!("unknown option {name:?}; known are {}", known.join(", "));
        }
        let texts = match value {
            Value::Array(items) => items.iter().map(scalar).collect::<Option<Vec<_>>>(),
            one => scalar(&one).map(|text| vec![text]),
        };
        let Some(texts) = texts else { bail!("option {name:?} wants a text, a number or a list of them") };
        command = command.mut_args(|arg| {
            if arg.get_long() == Some(&name) { arg.default_values(texts.clone()).required(false) } else { arg }
        });
    }
    Ok(command)
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use clap::FromArgMatches as _;
    use serde_json::json;

    use super::*;

    fn parse(file: Value, args: &[&str]) -> anyhow::Result<ClusterOptions> {
        let values = serde_json::from_value(file)?;
        let command = apply(ClusterOptions::augment_args(Command::new("server")), values, Unknown::Refused)?;
        Ok(ClusterOptions::from_arg_matches(&command.try_get_matches_from([&["server"], args].concat())?)?)
    }

    #[test]
    fn a_flag_wins_over_the_file_and_the_file_over_the_default() {
        let file = json!({"https-port": 7443, "tls-san": ["a.example", "10.0.0.1"], "cluster-domain": "k.local"});
        let options = parse(file, &["--cluster-domain=flag.local"]).unwrap();
        assert_eq!(options.https_port, 7443);
        assert_eq!(options.tls_san, ["a.example", "10.0.0.1"]);
        assert_eq!(options.cluster_domain, "flag.local");
        assert_eq!(options.service_cidr, "10.43.0.0/16");
    }

    #[test]
    fn an_unknown_option_is_named_with_those_that_are_known() {
        let error = parse(json!({"https-prot": 1}), &[]).unwrap_err().to_string();
        assert!(error.contains("https-prot") && error.contains("https-port"), "{error}");
    }

    #[test]
    fn errors_show_no_line_of_the_file() {
        for text in ["token: SECRET: x", "- token: SECRET", "token: [SECRET", "SECRET"] {
            let error = crate::yaml::<BTreeMap<String, Value>>(text).unwrap_err();
            assert!(!format!("{error} {error:?}").contains("SECRET"), "{error}");
        }
    }

    #[test]
    fn commands_beside_the_server_take_from_its_file_what_they_know() {
        let values = serde_json::from_value(json!({"https-port": 7443, "snapshot-dir": "/mnt/usb"})).unwrap();
        let command = apply(SnapshotDir::augment_args(Command::new("list")), values, Unknown::Ignored).unwrap();
        let options = SnapshotDir::from_arg_matches(&command.get_matches_from(["list"])).unwrap();
        assert_eq!(options.snapshot_dir, Some("/mnt/usb".into()));
    }

    #[test]
    fn a_schedule_is_parsed_at_the_start_and_may_be_empty() {
        let parse = |cron: &str| {
            let command = SnapshotOptions::augment_args(Command::new("server"));
            let args = ["server", "--snapshot-schedule-cron", cron];
            command.try_get_matches_from(args).and_then(|m| SnapshotOptions::from_arg_matches(&m))
        };
        assert_eq!(parse("").unwrap().snapshot_retention, 5);
        assert!(parse("30 4 * * *").is_ok());
        let error = parse("often").unwrap_err().to_string();
        assert!(error.contains("often") && error.contains("weekday"), "{error}");
    }

    #[test]
    fn a_bad_value_in_the_file_is_refused_as_on_the_command_line() {
        let error = parse(json!({"https-port": "many"}), &[]).unwrap_err().to_string();
        assert!(error.contains("many"), "{error}");
    }
}
