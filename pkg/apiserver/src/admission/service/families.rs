//! The IP families of Services on a cluster that has IPv4 only.
//!
//! A Service without a selector may name IPv6 if it is headless: the server gives it no addresses. All others are
//! refused what the cluster cannot give.

use std::net::Ipv6Addr;

use api::{
    Value, tree,
    validation::{FieldErrors, Reason},
};
use serde_json::json;

const POLICY: &str = "spec.ipFamilyPolicy";
const FAMILIES: &str = "spec.ipFamilies";
const SINGLE: &str = "SingleStack";
const PREFER: &str = "PreferDualStack";
const REQUIRE: &str = "RequireDualStack";
const NOT_HERE: &str = "not configured on this cluster";

/// Fills in the policy and the families, and refuses what the cluster does not have. What is malformed is left to
/// validation.
pub(super) fn complete(service: &mut Value, old: Option<&Value>) -> FieldErrors {
    let mut errors = FieldErrors::default();
    // A client may name the first address alone.
    let one = tree::text(service, "spec.clusterIP").to_owned();
    if !one.is_empty() && tree::items(service, "spec.clusterIPs").is_empty() {
        tree::set(service, "spec.clusterIPs", json!([one]));
    }
    if super::kind_of(service) == "ExternalName" || old.is_some_and(|old| still_prefers(service, old)) {
        return errors;
    }
    let free = tree::text(service, "spec.clusterIP") == "None" && is_empty(tree::at(service, "spec.selector"));
    if tree::text(service, POLICY).is_empty() {
        tree::set(service, POLICY, if free { REQUIRE } else { SINGLE });
    }
    if let Some(old) = old {
        release(service, old, &mut errors);
    }
    let policy = tree::text(service, POLICY).to_owned();
    let refuse = |errors: &mut FieldErrors, detail: &str| errors.push(POLICY, Reason::Invalid, policy.as_str(), detail);
    let families: Vec<String> = tree::texts(service, FAMILIES).map(str::to_owned).collect();
    for (count, what) in
        [(tree::items(service, "spec.clusterIPs").len(), "cluster IPs"), (families.len(), "IP families")]
    {
        if policy == SINGLE && count == 2 {
            let detail = format!("must be 'RequireDualStack' or 'PreferDualStack' when multiple {what} are specified");
            refuse(&mut errors, &detail);
        }
    }
    for (index, ip) in tree::texts(service, "spec.clusterIPs").enumerate().skip(families.len()) {
        if ip.parse::<Ipv6Addr>().is_ok() {
            let all = tree::at(service, "spec.clusterIPs").clone();
            errors.push(format!("spec.clusterIPs[{index}]"), Reason::Invalid, all, format!("IPv6 is {NOT_HERE}"));
        }
    }
    if !errors.is_empty() {
        return errors;
    }
    if !free && policy == REQUIRE {
        refuse(&mut errors, "this cluster is not configured for dual-stack services");
    }
    for (index, family) in families.iter().enumerate() {
        if !free && family == "IPv6" {
            errors.push(format!("{FAMILIES}[{index}]"), Reason::Invalid, family.as_str(), NOT_HERE);
        }
    }
    let first = families.first().map_or("IPv4", String::as_str);
    if free && policy != SINGLE && families.len() < 2 {
        tree::set(service, FAMILIES, json!([first, if first == "IPv4" { "IPv6" } else { "IPv4" }]));
    } else if families.is_empty() {
        tree::set(service, FAMILIES, json!([first]));
    }
    errors
}

fn is_empty(map: &Value) -> bool {
    map.as_object().is_none_or(|map| map.is_empty())
}

fn same(service: &Value, old: &Value, path: &str) -> bool {
    tree::equal(tree::at(service, path), tree::at(old, path))
}

/// A Service that prefers two families keeps what it has until its client changes it.
fn still_prefers(service: &Value, old: &Value) -> bool {
    let prefers = |service: &Value| tree::text(service, POLICY) == PREFER;
    let kept = ["spec.type", "spec.clusterIPs", FAMILIES];
    prefers(service) && prefers(old) && kept.iter().all(|path| same(service, old, path))
}

/// Takes the second of two away from a Service that has been made single-stack; nothing else does.
fn release(service: &mut Value, old: &Value, errors: &mut FieldErrors) {
    let single = tree::text(service, POLICY) == SINGLE;
    for (path, what) in [("spec.clusterIPs", "cluster IP"), (FAMILIES, "IP family")] {
        let (now, before) = (tree::items(service, path), tree::items(old, path));
        if single && now.len() > 1 && now == before {
            tree::set(service, path, json!([before[0]]));
        } else if !single && now.len() == 1 && before.len() > 1 {
            let detail = format!("must be 'SingleStack' to release the secondary {what}");
            errors.push(POLICY, Reason::Invalid, tree::text(service, POLICY), detail);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = "must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified";

    /// `RequireDualStack` and IPv6 were taken as if the cluster had them.
    #[test]
    fn families_that_the_cluster_lacks_are_refused() {
        let table = [
            (json!({}), Ok(("SingleStack", json!(["IPv4"])))),
            (json!({"ipFamilyPolicy": "PreferDualStack"}), Ok(("PreferDualStack", json!(["IPv4"])))),
            (json!({"clusterIP": "None", "selector": {"a": "b"}}), Ok(("SingleStack", json!(["IPv4"])))),
            (json!({"clusterIP": "None"}), Ok(("RequireDualStack", json!(["IPv4", "IPv6"])))),
            (json!({"clusterIP": "None", "ipFamilies": ["IPv6"]}), Ok(("RequireDualStack", json!(["IPv6", "IPv4"])))),
            (
                json!({"clusterIP": "None", "ipFamilies": ["IPv6"], "ipFamilyPolicy": "SingleStack"}),
                Ok(("SingleStack", json!(["IPv6"]))),
            ),
            (
                json!({"ipFamilyPolicy": "RequireDualStack"}),
                Err("spec.ipFamilyPolicy: Invalid value: \"RequireDualStack\": \
                    this cluster is not configured for dual-stack services"
                    .to_owned()),
            ),
            (
                json!({"ipFamilies": ["IPv4", "IPv6"]}),
                Err(format!("spec.ipFamilyPolicy: Invalid value: \"SingleStack\": {TWO}")),
            ),
            (
                json!({"ipFamilies": ["IPv6"]}),
                Err("spec.ipFamilies[0]: Invalid value: \"IPv6\": not configured on this cluster".to_owned()),
            ),
            (
                json!({"ipFamilies": ["IPv4", "IPv6"], "ipFamilyPolicy": "PreferDualStack"}),
                Err("spec.ipFamilies[1]: Invalid value: \"IPv6\": not configured on this cluster".to_owned()),
            ),
            (
                json!({"clusterIP": "fd00::1", "clusterIPs": ["fd00::1"]}),
                Err("spec.clusterIPs[0]: Invalid value: [\"fd00::1\"]: IPv6 is not configured on this cluster"
                    .to_owned()),
            ),
        ];
        // An address alone got a message about a list that nobody had sent.
        let alone = (json!({"clusterIP": "fd00::1"}), table[table.len() - 1].1.clone());
        for (spec, want) in table.into_iter().chain([alone]) {
            let mut service = json!({"spec": spec});
            let errors = complete(&mut service, None);
            let spec = &service["spec"];
            let policy = spec["ipFamilyPolicy"].as_str().unwrap();
            let got =
                if errors.is_empty() { Ok((policy, spec["ipFamilies"].clone())) } else { Err(errors.to_string()) };
            assert_eq!(got, want, "{spec}");
        }
        let mut external = json!({"spec": {"type": "ExternalName"}});
        assert!(complete(&mut external, None).is_empty());
        assert_eq!(external["spec"], json!({"type": "ExternalName"}));
    }

    #[test]
    fn a_second_family_goes_only_with_the_policy() {
        let with = |policy: &str, families: &[&str]| {
            json!({"spec": {"clusterIP": "None", "clusterIPs": ["None"], "ipFamilies": families,
                "ipFamilyPolicy": policy}})
        };
        let old = with(PREFER, &["IPv4", "IPv6"]);
        let mut single = with(SINGLE, &["IPv4", "IPv6"]);
        assert!(complete(&mut single, Some(&old)).is_empty());
        assert_eq!(single["spec"]["ipFamilies"], json!(["IPv4"]));
        let errors = complete(&mut with(PREFER, &["IPv4"]), Some(&old)).to_string();
        assert!(errors.ends_with("must be 'SingleStack' to release the secondary IP family"), "{errors}");
        let mut selecting = old.clone();
        selecting["spec"]["selector"] = json!({"a": "b"});
        assert!(complete(&mut selecting, Some(&old)).is_empty(), "nothing but the selector has changed");
        assert_eq!(selecting["spec"]["ipFamilies"], old["spec"]["ipFamilies"]);
        // The same, sent by a client that knows one address only, was refused.
        selecting["spec"].as_object_mut().unwrap().remove("clusterIPs");
        assert!(complete(&mut selecting, Some(&old)).is_empty());
        assert_eq!(selecting["spec"]["clusterIPs"], json!(["None"]));
    }
}
