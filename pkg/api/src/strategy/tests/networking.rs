//! Network policies, Ingresses and their classes, addresses and ranges of Services.

use super::*;

fn check(name: &str, cases: &[(Value, &[&str])]) {
    for (object, want) in cases {
        let (_, errors) = create(name, object.clone());
        assert_eq!(texts(&errors), *want, "{object}");
    }
}

#[test]
fn network_policies() {
    let peer = |peer: Value| json!({"spec": {"podSelector": {}, "ingress": [{"from": [peer]}]}});
    let port = |port: Value| json!({"spec": {"podSelector": {}, "egress": [{"ports": [port]}]}});
    check(
        "NetworkPolicy",
        &[
            (json!({"spec": {"podSelector": {}}}), &[]),
            (peer(json!({})), &["spec.ingress[0].from[0]: Required value: must specify a peer"]),
            (
                peer(json!({"ipBlock": {"cidr": "10.0.0.0/8", "except": ["11.0.0.0/16", "10.1.0.1/16"]}})),
                &[
                    "spec.ingress[0].from[0].ipBlock.except[0]: Invalid value: \"11.0.0.0/16\": must be a strict subset \
                     of `cidr`",
                    "spec.ingress[0].from[0].ipBlock.except[1]: Invalid value: \"10.1.0.1/16\": must not have bits set \
                     beyond the prefix length",
                ],
            ),
            (
                peer(json!({"ipBlock": {"cidr": "10.0.0.0/8"}, "podSelector": {}})),
                &["spec.ingress[0].from[0]: Forbidden: may not specify both ipBlock and another peer"],
            ),
            (
                port(json!({"port": 10, "endPort": 5})),
                &["spec.egress[0].ports[0].endPort: Invalid value: 5: must be greater than or equal to `port`"],
            ),
            (
                port(json!({"port": "web", "endPort": 5})),
                &["spec.egress[0].ports[0].endPort: Invalid value: 5: may not be specified when `port` is non-numeric"],
            ),
            (
                json!({"spec": {"podSelector": {}, "policyTypes": ["Both"]}}),
                &["spec.policyTypes[0]: Unsupported value: \"Both\": supported values: \"Ingress\", \"Egress\""],
            ),
        ],
    );
    let mut old = good("NetworkPolicy", peer(json!({"ipBlock": {"cidr": "10.0.0.0/8"}})));
    old["spec"]["ingress"][0]["from"][0]["ipBlock"]["cidr"] = json!("10.0.0.1/8");
    let (_, errors) = update("NetworkPolicy", &old, |policy| policy["metadata"]["labels"] = json!({"a": "b"}));
    assert!(errors.is_empty(), "what was wrong before may stay: {errors}");
}

#[test]
fn ingresses() {
    let path = |path: Value| json!({"spec": {"rules": [{"http": {"paths": [path]}}]}});
    let backend = json!({"service": {"name": "s", "port": {"number": 80}}});
    check(
        "Ingress",
        &[
            (path(json!({"path": "/", "pathType": "Prefix", "backend": backend})), &[]),
            (json!({"spec": {}}), &["spec: Invalid value: null: either `defaultBackend` or `rules` must be specified"]),
            (
                path(json!({"path": "a//b/..", "pathType": "Exact", "backend": {}})),
                &[
                    "spec.rules[0].http.paths[0].path: Invalid value: \"a//b/..\": must be an absolute path",
                    "spec.rules[0].http.paths[0].path: Invalid value: \"a//b/..\": must not contain '//'",
                    "spec.rules[0].http.paths[0].path: Invalid value: \"a//b/..\": cannot end with '/..'",
                    "spec.rules[0].http.paths[0].backend: Invalid value: \"\": resource or service backend is required",
                ],
            ),
            (
                json!({"spec": {"defaultBackend": {"service": {"name": "s"}}}}),
                &["spec.defaultBackend: Required value: port name or number is required"],
            ),
            (
                json!({"spec": {"defaultBackend": backend, "rules": [{"host": "1.2.3.4"}]}}),
                &["spec.rules[0].host: Invalid value: \"1.2.3.4\": must be a DNS name, not an IP address"],
            ),
        ],
    );
    let (_, errors) = create("Ingress", json!({"spec": {"defaultBackend": backend, "rules": [{"host": "a.*"}]}}));
    assert!(texts(&errors)[0].contains("a wildcard DNS-1123 subdomain must start with '*.'"), "{errors}");
}

#[test]
fn ingress_classes() {
    check(
        "IngressClass",
        &[
            (json!({"spec": {"controller": "example.com/c"}}), &[]),
            (json!({"spec": {}}), &["spec.controller: Required value"]),
            (
                json!({"spec": {"controller": "example.com/c", "parameters": {"kind": "K", "name": "n", "namespace": "x"}}}),
                &["spec.parameters.namespace: Forbidden: `parameters.scope` is set to 'Cluster'"],
            ),
        ],
    );
    let old = good("IngressClass", json!({"spec": {"controller": "example.com/c"}}));
    let (_, errors) = update("IngressClass", &old, |class| class["spec"]["controller"] = json!("example.com/d"));
    assert_eq!(texts(&errors), ["spec.controller: Invalid value: \"example.com/d\": field is immutable"]);
}

#[test]
fn service_ranges() {
    check(
        "ServiceCIDR",
        &[
            (json!({"spec": {"cidrs": ["10.0.0.0/16", "fd00::/112"]}}), &[]),
            (json!({"spec": {}}), &["spec.cidrs: Required value: at least one CIDR required"]),
            (
                json!({"spec": {"cidrs": ["10.0.0.1/16"]}}),
                &["spec.cidrs[0]: Invalid value: \"10.0.0.1/16\": must not have bits set beyond the prefix length"],
            ),
        ],
    );
    let old = good("ServiceCIDR", json!({"spec": {"cidrs": ["10.0.0.0/16"]}}));
    let (_, errors) = update("ServiceCIDR", &old, |c| c["spec"]["cidrs"] = json!(["10.0.0.0/16", "fd00::/112"]));
    assert!(errors.is_empty(), "{errors}");
    let (_, errors) = update("ServiceCIDR", &old, |c| c["spec"]["cidrs"] = json!(["10.1.0.0/16"]));
    assert_eq!(texts(&errors), ["spec.cidrs[0]: Invalid value: \"10.1.0.0/16\": field is immutable"]);
}
