//! Discovery documents, made from the kinds table: the old form (`/api`, `/apis`, one document to
//! each group and version) and the aggregated one (`apidiscovery.k8s.io/v2`).
//!
//! Groups stand in the order of the table, versions of a group by their rank.

use std::cmp::Ordering;

use serde_json::{Value, json};

use crate::kinds::{Action, Kind, Kinds, Subresource};

/// `/api`. `server` is the address that clients reach the server by, `host:port`.
pub fn api_versions(server: &str) -> Value {
    json!({
        "kind": "APIVersions",
        "versions": ["v1"],
        "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": server}],
    })
}

/// `/apis`.
pub fn groups(kinds: &Kinds) -> Value {
    let groups: Vec<_> = group_names(kinds).into_iter().filter(|g| !g.is_empty()).collect();
    json!({
        "kind": "APIGroupList",
        "apiVersion": "v1",
        "groups": groups.iter().filter_map(|name| describe(kinds, name)).collect::<Vec<_>>(),
    })
}

/// `/apis/GROUP`; `None` if nothing is served there.
pub fn group(kinds: &Kinds, name: &str) -> Option<Value> {
    let mut group = describe(kinds, name)?;
    group["kind"] = "APIGroup".into();
    group["apiVersion"] = "v1".into();
    Some(group)
}

/// `/api/v1` and `/apis/GROUP/VERSION`; `None` if nothing is served there.
pub fn resources(kinds: &Kinds, group: &str, version: &str) -> Option<Value> {
    let rows = rows(kinds, group, version);
    let first = rows.first()?;
    let mut resources = Vec::new();
    for kind in &rows {
        resources.push(resource(kind));
        resources.extend(kind.subresources.iter().map(|sub| subresource(kind, sub)));
    }
    let mut list = json!({"kind": "APIResourceList", "groupVersion": first.api_version(), "resources": resources});
    if !group.is_empty() {
        list["apiVersion"] = "v1".into();
    }
    Some(list)
}

/// The aggregated form: of the core group for `/api`, else of all others for `/apis`.
pub fn aggregated(kinds: &Kinds, core: bool) -> Value {
    let groups = group_names(kinds).into_iter().filter(|name| name.is_empty() == core);
    let items = groups.map(|name| {
        let versions = versions(kinds, name).into_iter().map(|version| {
            let resources: Vec<_> = rows(kinds, name, version).into_iter().map(aggregated_resource).collect();
            json!({"version": version, "resources": resources, "freshness": "Current"})
        });
        let metadata = if name.is_empty() { json!({}) } else { json!({"name": name}) };
        json!({"metadata": metadata, "versions": versions.collect::<Vec<_>>()})
    });
    json!({
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": items.collect::<Vec<_>>(),
    })
}

/// Orders versions as upstream ranks them: `v2`, `v1`, `v1beta1`, `v1alpha1`, then others by name.
pub fn compare_versions(a: &str, b: &str) -> Ordering {
    match (rank(a), rank(b)) {
        (Some(a), Some(b)) => b.cmp(&a),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => a.cmp(b),
    }
}

/// Stability (2 stable, 1 beta, 0 alpha), major and minor number.
fn rank(version: &str) -> Option<(u8, u32, u32)> {
    let rest = version.strip_prefix('v')?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let major = rest[..end].parse().ok()?;
    let tail = &rest[end..];
    let (stability, minor) = match tail {
        "" => return Some((2, major, 0)),
        tail if tail.starts_with("beta") => (1, &tail[4..]),
        tail if tail.starts_with("alpha") => (0, &tail[5..]),
        _ => return None,
    };
    Some((stability, major, minor.parse().ok()?))
}

fn group_names(kinds: &Kinds) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for kind in kinds.rows() {
        if !names.contains(&&*kind.group) {
            names.push(&kind.group);
        }
    }
    names
}

fn versions<'a>(kinds: &'a Kinds, group: &str) -> Vec<&'a str> {
    let mut versions: Vec<&str> = Vec::new();
    for kind in kinds.rows().iter().filter(|k| &*k.group == group) {
        if !versions.contains(&&*kind.version) {
            versions.push(&kind.version);
        }
    }
    versions.sort_by(|a, b| compare_versions(a, b));
    versions
}

fn rows<'a>(kinds: &'a Kinds, group: &str, version: &str) -> Vec<&'a Kind> {
    kinds.rows().iter().map(|row| &**row).filter(|k| &*k.group == group && &*k.version == version).collect()
}

fn describe(kinds: &Kinds, name: &str) -> Option<Value> {
    let entry = |version: &&str| json!({"groupVersion": format!("{name}/{version}"), "version": version});
    let versions: Vec<_> = versions(kinds, name).iter().map(entry).collect();
    let preferred = versions.first().filter(|_| !name.is_empty())?.clone();
    Some(json!({"name": name, "versions": versions, "preferredVersion": preferred}))
}

fn resource(kind: &Kind) -> Value {
    let mut resource = json!({
        "name": &*kind.plural,
        "singularName": &*kind.singular,
        "namespaced": kind.namespaced,
        "kind": &*kind.kind,
        "verbs": kind.verbs.names(),
    });
    add_names(&mut resource, kind);
    resource
}

fn add_names(resource: &mut Value, kind: &Kind) {
    if !kind.short_names.is_empty() {
        resource["shortNames"] = kind.short_names.iter().map(|name| &**name).collect();
    }
    if !kind.categories.is_empty() {
        resource["categories"] = kind.categories.iter().map(|name| &**name).collect();
    }
}

fn subresource(kind: &Kind, sub: &Subresource) -> Value {
    let (group, version, served) = served_kind(kind, sub);
    let mut resource = json!({
        "name": format!("{}/{}", &*kind.plural, sub.name),
        "singularName": "",
        "namespaced": kind.namespaced,
        "kind": served,
        "verbs": sub.verbs(),
    });
    if !version.is_empty() {
        resource["group"] = group.into();
        resource["version"] = version.into();
    }
    resource
}

fn aggregated_resource(kind: &Kind) -> Value {
    let mut resource = json!({
        "resource": &*kind.plural,
        "responseKind": {"group": &*kind.group, "version": &*kind.version, "kind": &*kind.kind},
        "scope": if kind.namespaced { "Namespaced" } else { "Cluster" },
        "singularResource": &*kind.singular,
        "verbs": kind.verbs.names(),
    });
    add_names(&mut resource, kind);
    if !kind.subresources.is_empty() {
        let subs = kind.subresources.iter().map(|sub| {
            let (group, version, served) = served_kind(kind, sub);
            let (group, version) = if version.is_empty() { (&*kind.group, &*kind.version) } else { (group, version) };
            json!({
                "subresource": sub.name,
                "responseKind": {"group": group, "version": version, "kind": served},
                "verbs": sub.verbs(),
            })
        });
        resource["subresources"] = subs.collect();
    }
    resource
}

/// Group, version and kind that a subresource speaks; group and version are empty where they are
/// those of the main resource.
fn served_kind<'a>(kind: &'a Kind, sub: &Subresource) -> (&'static str, &'static str, std::borrow::Cow<'a, str>) {
    let own = std::borrow::Cow::Borrowed(&*kind.kind);
    match sub.action {
        Action::Scale(_) => ("autoscaling", "v1", "Scale".into()),
        Action::Eviction => ("policy", "v1", "Eviction".into()),
        Action::Token => ("authentication.k8s.io", "v1", "TokenRequest".into()),
        Action::Binding => ("", "", "Binding".into()),
        Action::Connect => match sub.name {
            "log" => ("", "", own),
            "exec" => ("", "", format!("{own}ExecOptions").into()),
            "attach" => ("", "", format!("{own}AttachOptions").into()),
            "portforward" => ("", "", format!("{own}PortForwardOptions").into()),
            _ => ("", "", format!("{own}ProxyOptions").into()),
        },
        Action::Status | Action::Finalize | Action::EphemeralContainers | Action::Resize | Action::Approval => {
            ("", "", own)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::builtin;

    #[test]
    fn versions_by_rank() {
        let mut versions = ["foo", "v1alpha1", "v1", "v2beta1", "v11", "bar", "v1beta2", "v2"];
        versions.sort_by(|a, b| compare_versions(a, b));
        assert_eq!(versions, ["v11", "v2", "v1", "v2beta1", "v1beta2", "v1alpha1", "bar", "foo"]);
    }

    #[test]
    fn subresources_with_their_kinds() {
        let core = resources(&builtin(), "", "v1").expect("core is served");
        let find = |name: &str| {
            core["resources"].as_array().and_then(|all| all.iter().find(|r| r["name"] == name)).expect("listed").clone()
        };
        assert_eq!(
            find("pods/eviction"),
            json!({
                "name": "pods/eviction", "singularName": "", "namespaced": true, "group": "policy", "version": "v1",
                "kind": "Eviction", "verbs": ["create"],
            })
        );
        assert_eq!(find("pods/exec")["verbs"], json!(["create", "get"]));
        assert_eq!(find("pods")["shortNames"], json!(["po"]));
        assert_eq!(find("nodes/proxy")["kind"], "NodeProxyOptions");
        assert!(!find("namespaces")["verbs"].to_string().contains("deletecollection"));
    }

    #[test]
    fn groups_in_order() {
        let list = groups(&builtin());
        let names: Vec<_> = list["groups"].as_array().expect("a list").iter().map(|g| g["name"].clone()).collect();
        assert_eq!(names[..3], ["apiregistration.k8s.io", "apps", "events.k8s.io"]);
        assert_eq!(group(&builtin(), "apps").expect("served")["preferredVersion"]["groupVersion"], "apps/v1");
        assert_eq!(group(&builtin(), "none"), None);
        assert_eq!(resources(&builtin(), "apps", "v2"), None);
    }

    #[test]
    fn aggregated_form() {
        let core = aggregated(&builtin(), true);
        assert_eq!(core["items"].as_array().map(Vec::len), Some(1));
        let apps = &aggregated(&builtin(), false)["items"][1];
        assert_eq!(apps["metadata"]["name"], "apps");
        let deployments = &apps["versions"][0]["resources"][2];
        assert_eq!(deployments["resource"], "deployments");
        assert_eq!(deployments["subresources"][0]["responseKind"]["kind"], "Scale");
        assert_eq!(deployments["responseKind"], json!({"group": "apps", "version": "v1", "kind": "Deployment"}));
    }
}
