//! The CNI plugin: how a pod's sandbox gets its network. The binary is called under another name
//! by the container runtime, once for each sandbox, speaks the protocol of the CNI specification
//! (0.3.1 to 1.1.0) over environment, standard input and output, and ends.
//!
//! ```text
//!  pod A  eth0 10.42.0.5/32 ─ veth ─┐ no neighbours: pods reach each other through
//!  pod B  eth0 10.42.0.6/32 ─ veth ─┤ the node's routing, where services apply,
//!                                   │ with and without bridge-nf-call-iptables
//!           bridge 10.42.0.1/24 ────┘
//! ```
//!
//! Guarantees: ADD of the same sandbox again gives the same address; DEL of what is not there
//! succeeds; DEL goes through all its steps and reports all that failed. Assumes: one pod network
//! (IPv4) to a node. Masquerading is the service proxy's work.
//!
//! No runtime, no threads but one to enter the sandbox's namespace: the plugin starts and ends
//! within milliseconds.

pub mod bridge;
mod conf;
mod hostports;
pub mod ipam;
mod plugin;
mod protocol;

use std::{
    io::{Read as _, Write as _},
    path::Path,
    process::ExitCode,
};

pub use conf::{Options, PLUGIN_TYPE, conf};
pub use hostports::cleanup;
pub use protocol::{CniError, Command, Environment};

/// Which plugin is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plugin {
    /// Ours: bridge, address, routes, host ports.
    Kinglet,
    /// Switches a sandbox's loopback interface on; some runtimes always call it.
    Loopback,
}

impl Plugin {
    fn from_argv0(name: &str) -> Option<Self> {
        match Path::new(name).file_name()?.to_str()? {
            PLUGIN_TYPE => Some(Plugin::Kinglet),
            "loopback" => Some(Plugin::Loopback),
            _ => None,
        }
    }
}

/// Whether a program called by this name (`argv[0]`) is to be the plugin, that is [`main`].
pub fn plugin_from_argv0(name: &str) -> bool {
    Plugin::from_argv0(name).is_some()
}

/// The plugin as a program: reads environment and standard input, writes the result or the error
/// in the specification's form to standard output.
pub fn main() -> ExitCode {
    let name = std::env::args().next().unwrap_or_default();
    let plugin = Plugin::from_argv0(&name).unwrap_or(Plugin::Kinglet);
    let mut input = Vec::new();
    let outcome = match std::io::stdin().lock().take(MAX_INPUT).read_to_end(&mut input) {
        Ok(_) => run(plugin, &Environment::from_process(), &input),
        Err(error) => Err(CniError::io("read the configuration from standard input", error)),
    };
    let (text, code) = match outcome {
        Ok(None) => return ExitCode::SUCCESS,
        Ok(Some(result)) => (result.to_string(), ExitCode::SUCCESS),
        Err(error) => (error.to_json(&protocol::version_of(&input)).to_string(), ExitCode::FAILURE),
    };
    // There is nobody left to tell if this fails.
    let _ = writeln!(std::io::stdout(), "{text}");
    code
}

/// More than any configuration is long.
const MAX_INPUT: u64 = 8 << 20;

/// One call of a plugin; the result, if the command has one.
pub fn run(plugin: Plugin, environment: &Environment, input: &[u8]) -> Result<Option<serde_json::Value>, CniError> {
    let command = environment.command()?;
    if command == Command::Version {
        return Ok(Some(protocol::versions(&protocol::version_of(input))));
    }
    let conf = conf::NetworkConf::parse(input)?;
    match plugin {
        Plugin::Loopback => plugin::loopback(command, environment, &conf),
        Plugin::Kinglet => plugin::kinglet(command, environment, &conf),
    }
}

#[cfg(test)]
mod tests;
