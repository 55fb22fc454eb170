//! Who makes a request: the same facts whether they come from a certificate, a token or from a
//! component of this process.

use std::collections::BTreeMap;

/// The identity of a request, as upstream's `user.Info`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserInfo {
    /// User name, e.g. `system:node:pi1`.
    pub name: String,
    /// Unique id; empty where the authenticator has none.
    pub uid: String,
    /// Groups, e.g. `system:masters`.
    pub groups: Vec<String>,
    /// Further facts of the authenticator.
    pub extra: BTreeMap<String, Vec<String>>,
}

impl UserInfo {
    /// An authenticated user: `groups` and `system:authenticated`.
    pub fn authenticated(name: impl Into<String>, groups: &[&str]) -> Self {
        let groups = groups.iter().copied().chain([Self::AUTHENTICATED]).map(str::to_owned).collect();
        UserInfo { name: name.into(), groups, ..Self::default() }
    }

    /// The user of requests that carry no credentials.
    pub fn anonymous() -> Self {
        UserInfo {
            name: "system:anonymous".to_owned(),
            groups: vec!["system:unauthenticated".to_owned()],
            ..Self::default()
        }
    }

    /// The identity of the kubelet, proxy and DNS of the named node.
    pub fn node(node_name: &str) -> Self {
        Self::authenticated(format!("system:node:{node_name}"), &["system:nodes"])
    }

    /// The group of every authenticated user.
    pub const AUTHENTICATED: &'static str = "system:authenticated";

    /// Whether the user is in `group`.
    pub fn in_group(&self, group: &str) -> bool {
        self.groups.iter().any(|g| g == group)
    }
}
