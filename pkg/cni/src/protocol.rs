//! The CNI specification's environment, versions and errors.

use netlink::Namespace;
use serde_json::{Value, json};

/// Versions of the specification that the plugin speaks.
pub(crate) const VERSIONS: [&str; 5] = ["0.3.1", "0.4.0", "1.0.0", "1.1.0", "0.3.0"];

/// What the runtime wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Connect a sandbox.
    Add,
    /// Disconnect it.
    Del,
    /// See whether it is still connected.
    Check,
    /// Say which versions are spoken.
    Version,
    /// Forget all but the named attachments.
    Gc,
    /// Say whether ADD would work.
    Status,
}

/// The parameters that come by environment variables.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// `CNI_COMMAND`
    pub command: String,
    /// `CNI_CONTAINERID`
    pub container_id: String,
    /// `CNI_NETNS`
    pub netns: String,
    /// `CNI_IFNAME`
    pub ifname: String,
}

impl Environment {
    /// Of this process.
    pub fn from_process() -> Self {
        let get = |name| std::env::var(name).unwrap_or_default();
        Environment {
            command: get("CNI_COMMAND"),
            container_id: get("CNI_CONTAINERID"),
            netns: get("CNI_NETNS"),
            ifname: get("CNI_IFNAME"),
        }
    }

    pub(crate) fn command(&self) -> Result<Command, CniError> {
        Ok(match self.command.as_str() {
            "ADD" => Command::Add,
            "DEL" => Command::Del,
            "CHECK" => Command::Check,
            "VERSION" => Command::Version,
            "GC" => Command::Gc,
            "STATUS" => Command::Status,
            other => return Err(CniError::environment(format!("CNI_COMMAND is {other:?}"))),
        })
    }

    /// Container and interface; both must be usable as one word of a file.
    pub(crate) fn attachment(&self) -> Result<(&str, &str), CniError> {
        let word = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_graphic() && b != b'/');
        if !word(&self.container_id) {
            return Err(CniError::environment(format!("CNI_CONTAINERID is {:?}", self.container_id)));
        }
        if !word(&self.ifname) || self.ifname.len() > 15 {
            return Err(CniError::environment(format!("CNI_IFNAME is {:?}", self.ifname)));
        }
        Ok((&self.container_id, &self.ifname))
    }

    pub(crate) fn namespace(&self) -> Result<Namespace, CniError> {
        if self.netns.is_empty() {
            return Err(CniError::environment("CNI_NETNS is not set".into()));
        }
        Namespace::open(&self.netns)
            .map_err(|e| CniError::new(3, "the sandbox's network namespace cannot be opened", &e))
    }
}

/// An error in the form that runtimes expect.
#[derive(Debug, thiserror::Error)]
#[error("{message}{}{details}", if details.is_empty() { "" } else { ": " })]
pub struct CniError {
    /// A number of the specification, or 100 and above for our own.
    pub code: u32,
    /// In short.
    pub message: String,
    /// The causes.
    pub details: String,
}

impl CniError {
    pub(crate) fn new(code: u32, message: impl Into<String>, cause: &dyn std::error::Error) -> Self {
        let mut details = cause.to_string();
        let mut source = cause.source();
        while let Some(error) = source {
            details.push_str(": ");
            details.push_str(&error.to_string());
            source = error.source();
        }
        CniError { code, message: message.into(), details }
    }

    pub(crate) fn environment(details: String) -> Self {
        CniError { code: 4, message: "environment variables are not as they must be".into(), details }
    }

    pub(crate) fn io(what: &str, error: std::io::Error) -> Self {
        CniError::new(5, what, &error)
    }

    pub(crate) fn conf(details: impl Into<String>) -> Self {
        CniError { code: 7, message: "the network configuration is not valid".into(), details: details.into() }
    }

    /// Several at once: the first one's number, everyone's words.
    pub(crate) fn all(errors: Vec<CniError>) -> Result<(), CniError> {
        let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
        match errors.into_iter().next() {
            None => Ok(()),
            Some(first) if texts.len() == 1 => Err(first),
            Some(first) => Err(CniError { message: "several steps failed".into(), details: texts.join("; "), ..first }),
        }
    }

    pub(crate) fn to_json(&self, version: &str) -> Value {
        json!({ "cniVersion": version, "code": self.code, "msg": self.message, "details": self.details })
    }
}

impl From<netlink::Error> for CniError {
    fn from(error: netlink::Error) -> Self {
        CniError::new(100, "the kernel did not do as asked", &error)
    }
}

/// The version that a configuration asks for, as far as one can be read.
pub(crate) fn version_of(input: &[u8]) -> String {
    let value: Value = serde_json::from_slice(input).unwrap_or_default();
    value["cniVersion"].as_str().unwrap_or("1.0.0").to_owned()
}

pub(crate) fn versions(asked: &str) -> Value {
    json!({ "cniVersion": asked, "supportedVersions": VERSIONS })
}
