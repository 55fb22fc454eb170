//! Pods beyond the usual: volumes, systems, resources, annotations, subresources.

use super::*;

fn spec(fields: Value) -> Value {
    let mut base = json!({"containers": [{"name": "c", "image": "i"}]});
    for (key, value) in fields.as_object().into_iter().flatten() {
        base[key] = value.clone();
    }
    json!({"spec": base})
}

fn volume(source: Value) -> Value {
    let mut base = json!({"name": "v"});
    for (key, value) in source.as_object().into_iter().flatten() {
        base[key] = value.clone();
    }
    spec(json!({"serviceAccountName": "s", "volumes": [base]}))
}

fn check(cases: &[(Value, &[&str])]) {
    for (object, expected) in cases {
        assert_eq!(texts(&create("Pod", object.clone()).1), *expected, "{object}");
    }
}

#[test]
fn volumes() {
    let projected = |sources: Value| volume(json!({"projected": {"sources": sources}}));
    let certificate = |fields: Value| {
        let mut base = json!({"signerName": "a.b/c", "keyType": "ED25519", "credentialBundlePath": "x"});
        for (key, value) in fields.as_object().into_iter().flatten() {
            base[key] = value.clone();
        }
        projected(json!([{"podCertificate": base}]))
    };
    check(&[
        (
            volume(json!({"emptyDir": {}, "nfs": {"server": "s", "path": "p"}})),
            &["spec.volumes[0].nfs: Forbidden: may not specify more than 1 volume type"],
        ),
        (
            volume(json!({"nfs": {"server": "", "path": "p"}})),
            &[
                "spec.volumes[0].nfs.server: Required value",
                "spec.volumes[0].nfs.path: Invalid value: \"p\": must be an absolute path",
            ],
        ),
        (volume(json!({"image": {}})), &["spec.volumes[0].image.reference: Required value"]),
        (volume(json!({"csi": {"driver": ""}})), &["spec.volumes[0].csi.driver: Required value"]),
        (
            volume(
                json!({"ephemeral": {"volumeClaimTemplate": {"metadata": {"name": "n"}, "spec": {"accessModes": ["ReadWriteOnce"]}}}}),
            ),
            &[
                "spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.name: Forbidden: cannot be set",
                "spec.volumes[0].ephemeral.volumeClaimTemplate.spec.resources[storage]: Required value",
            ],
        ),
        (
            projected(json!([{"clusterTrustBundle": {"name": "a", "signerName": "b.c/d", "path": "p"}}])),
            &[
                "spec.volumes[0].projected.sources[0].clusterTrustBundle: Invalid value: {\"name\":\"a\",\"path\":\"p\",\
             \"signerName\":\"b.c/d\"}: only one of name and signerName may be used",
            ],
        ),
        (certificate(json!({})), &[]),
        (
            certificate(json!({"maxExpirationSeconds": 7_862_401})),
            &[
                "spec.volumes[0].projected.sources[0].podCertificate.maxExpirationSeconds: Invalid value: 7862401: if provided, \
             maxExpirationSeconds must be <= 7862400",
            ],
        ),
        (
            certificate(json!({"maxExpirationSeconds": 3599, "keyType": "DSA", "credentialBundlePath": ""})),
            &[
                "spec.volumes[0].projected.sources[0].podCertificate.keyType: Unsupported value: \"DSA\": supported values: \
             \"RSA3072\", \"RSA4096\", \"ECDSAP256\", \"ECDSAP384\", \"ECDSAP521\", \"ED25519\"",
                "spec.volumes[0].projected.sources[0].podCertificate.maxExpirationSeconds: Invalid value: 3599: if provided, \
             maxExpirationSeconds must be >= 3600",
                "spec.volumes[0].projected.sources[0].podCertificate: Required value: specify at least one of credentialBundlePath, \
             keyPath, and certificateChainPath",
            ],
        ),
        (
            projected(json!([{"serviceAccountToken": {"path": "../a", "expirationSeconds": 5}}])),
            &[
                "spec.volumes[0].projected.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 5: may not specify a \
             duration less than 10 minutes",
                "spec.volumes[0].projected.path: Invalid value: \"../a\": must not contain '..'",
            ],
        ),
    ]);
    let device = |name: &str| {
        json!({"containers": [{"name": "c", "image": "i",
        "volumeDevices": [{"name": name, "devicePath": "/d"}]}], "volumes": [{"name": "v", "emptyDir": {}}]})
    };
    check(&[(
        spec(device("v")),
        &["spec.containers[0].volumeDevices[0].name: Invalid value: \"v\": can only use volume source type of \
         PersistentVolumeClaim or Ephemeral for block mode"],
    )]);
}

#[test]
fn systems_and_security() {
    check(&[
        (
            spec(json!({"os": {"name": "windows"}, "hostPID": true, "securityContext": {"runAsUser": 1}})),
            &[
                "spec.securityContext.runAsUser: Forbidden: cannot be set for a windows pod",
                "spec.hostPID: Forbidden: cannot be set for a windows pod",
            ],
        ),
        (
            spec(json!({"os": {"name": "linux"}, "securityContext": {"windowsOptions": {"runAsUserName": ".."}}})),
            &[
                "spec.securityContext.windowsOptions.runAsUserName: Invalid value: \"..\": runAsUserName's User cannot contain only \
             periods or spaces",
                "spec.securityContext.windowsOptions: Forbidden: windows options cannot be set for a linux pod",
            ],
        ),
        (
            spec(json!({"hostUsers": false, "hostNetwork": true})),
            &["spec.hostNetwork: Forbidden: when `hostUsers` is false"],
        ),
        (
            spec(
                json!({"hostNetwork": true, "securityContext": {"sysctls": [{"name": "net/core/somaxconn", "value": "1"}]}}),
            ),
            &[
                "spec.securityContext.sysctls[0].name: Invalid value: \"net/core/somaxconn\": may not be specified when \
             'hostNetwork' is true",
            ],
        ),
        (
            pod(json!({"securityContext": {"procMount": "Unmasked", "appArmorProfile": {"type": "Localhost"}}})),
            &[
                "spec.containers[0].securityContext.procMount: Invalid value: \"Unmasked\": `hostUsers` must be false to use `Unmasked`",
                "spec.containers[0].securityContext.appArmorProfile.localhostProfile: Required value: must be set when AppArmor type \
             is Localhost",
            ],
        ),
    ]);
}

#[test]
fn resources_and_claims() {
    check(&[
        (
            spec(json!({"resources": {"requests": {"cpu": "1", "apples.com/red": "1"}},
            "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "2"}}}]})),
            &[
                "spec.resources.requests[apples.com/red]: Unsupported value: \"apples.com/red\": supported values: \"cpu\", \
             \"hugepages-\", \"memory\"",
                "spec.resources.limits: Required value: Limit must be set for non overcommitable resources",
                "spec.resources.requests[cpu]: Invalid value: \"1\": must be greater than or equal to aggregate container requests of 2",
            ],
        ),
        (
            pod(json!({"resources": {"limits": {"hugepages-2Mi": "3Mi", "cpu": "1"}}})),
            &[
                "spec.containers[0].resources.limits[hugepages-2Mi]: Invalid value: \"3Mi\": 3Mi is not positive integer multiple of \
             hugepages-2Mi",
                "spec.containers[0].resources.requests[hugepages-2Mi]: Invalid value: \"3Mi\": 3Mi is not positive integer multiple \
             of hugepages-2Mi",
            ],
        ),
        (
            spec(json!({"resourceClaims": [{"name": "a"}, {"name": "a", "resourceClaimName": "b"}], "containers": [
            {"name": "c", "image": "i", "resources": {"claims": [{"name": "a", "request": "r"}, {"name": "a"}]}}]})),
            &[
                "spec.resourceClaims[0]: Invalid value: {\"name\":\"a\"}: must specify one of: `resourceClaimName`, \
             `resourceClaimTemplateName`",
                "spec.resourceClaims[1].name: Duplicate value: \"a\"",
                "spec.containers[0].resources.claims[1]: Duplicate value: \"a\"",
            ],
        ),
        (
            spec(json!({"restartPolicy": "Never", "containers": [{"name": "c", "image": "i", "resizePolicy": [
            {"resourceName": "disk", "restartPolicy": "RestartContainer"}]}]})),
            &[
                "spec.containers[0].resizePolicy: Unsupported value: \"disk\": supported values: \"cpu\", \"memory\"",
                "spec.containers[0].resizePolicy: Invalid value: \"RestartContainer\": must be 'NotRequired' when pod \
             `restartPolicy` is 'Never'",
            ],
        ),
        (
            pod(
                json!({"restartPolicy": "Never", "restartPolicyRules": [{"action": "Jump", "exitCodes": {"operator": "In"}}, {"action": "Restart"}]}),
            ),
            &[
                "spec.containers[0].restartPolicyRules[0].action: Unsupported value: \"Jump\": supported values: \"Restart\", \
             \"RestartAllContainers\"",
                "spec.containers[0].restartPolicyRules[1].exitCodes: Required value: must be specified",
            ],
        ),
    ]);
}

#[test]
fn resources_of_whole_pods() {
    let object = good(
        "Pod",
        spec(json!({"resources": {"limits": {"memory": "2Gi"}}, "containers": [
        {"name": "c", "image": "i", "resources": {"requests": {"cpu": "0.0001"}, "limits": {"memory": "1Gi"}}}]})),
    );
    assert_eq!(
        object["spec"]["resources"],
        json!({
            "requests": {"cpu": "1m", "memory": "1Gi"}, "limits": {"memory": "2Gi"},
        })
    );
    assert_eq!(object["spec"]["containers"][0]["resources"]["requests"]["cpu"], "1m");
}

#[test]
fn where_pods_run() {
    let object = good(
        "Pod",
        json!({"metadata": {"labels": {"app": "web"}}, "spec": {
        "containers": [{"name": "c", "image": "i"}],
        "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {}, "matchLabelKeys": ["app", "absent"]}]}}),
    );
    assert_eq!(
        object["spec"]["topologySpreadConstraints"][0]["labelSelector"],
        json!({"matchExpressions": [{"key": "app", "operator": "In", "values": ["web"]}]})
    );
    let term = |term: Value| {
        spec(json!({"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}))
    };
    const AT: &str = "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]";
    let (_, errors) = create("Pod", term(json!({"topologyKey": "z", "matchLabelKeys": ["a"]})));
    assert_eq!(
        texts(&errors),
        [format!("{AT}.matchLabelKeys: Forbidden: must not be specified when labelSelector is not set")]
    );
    let both = json!({"topologyKey": "z", "labelSelector": {}, "matchLabelKeys": ["a"], "mismatchLabelKeys": ["a"]});
    assert_eq!(
        texts(&create("Pod", term(both)).1),
        [format!("{AT}.matchLabelKeys[0]: Invalid value: \"a\": exists in both matchLabelKeys and mismatchLabelKeys"),]
    );
}

#[test]
fn annotations() {
    let noted = |key: &str, value: &str| {
        let mut object = spec(json!({}));
        object["metadata"] = json!({"annotations": {key: value}});
        texts(&create("Pod", object).1)
    };
    const COST: &str = "controller.kubernetes.io/pod-deletion-cost";
    assert!(noted(COST, "-5").is_empty());
    assert_eq!(
        noted(COST, "+5"),
        [format!("metadata.annotations[{COST}]: Invalid value: \"+5\": must be a 32bit integer")]
    );
    assert_eq!(
        noted("kubernetes.io/config.mirror", "x"),
        [
            "metadata.annotations[kubernetes.io/config.mirror]: Invalid value: \"x\": must set spec.nodeName if mirror pod annotation \
         is set",
        ]
    );
    let old = good("Pod", spec(json!({})));
    let (_, errors) = update("Pod", &old, |pod| {
        pod["spec"]["nodeName"] = json!("n");
        pod["metadata"]["annotations"] = json!({"kubernetes.io/config.mirror": "x"});
    });
    assert_eq!(
        texts(&errors)[0],
        "metadata.annotations[kubernetes.io/config.mirror]: Forbidden: may not add mirror pod annotation"
    );
}

#[test]
fn gated_pods() {
    let affinity = |terms: Value| json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}});
    let a = json!({"key": "a", "operator": "Exists"});
    let old = good(
        "Pod",
        spec(json!({"schedulingGates": [{"name": "g"}], "affinity": affinity(json!([{"matchExpressions": [a]}]))})),
    );
    let b = json!({"key": "b", "operator": "Exists"});
    let (_, errors) =
        update("Pod", &old, |pod| pod["spec"]["affinity"] = affinity(json!([{"matchExpressions": [a, b]}])));
    assert!(errors.is_empty(), "{errors}");
    let (_, errors) = update("Pod", &old, |pod| pod["spec"]["affinity"] = affinity(json!([{"matchExpressions": [b]}])));
    assert_eq!(errors.0[0].detail, "only additions are allowed (no mutations or deletions)");
}

#[test]
fn subresources_of_pods() {
    let kinds = builtin();
    let strategy = &kind(&kinds, "Pod").strategy;
    let check = |subresource: &str, old: &Value, change: fn(&mut Value)| {
        let mut new = old.clone();
        change(&mut new);
        strategy.prepare_for_subresource(subresource, &mut new, old);
        texts(&strategy.validate_subresource(subresource, &new, old))
    };
    let old = good("Pod", pod(json!({"resources": {"requests": {"cpu": "1", "memory": "1Gi"}}})));
    assert!(
        check("resize", &old, |p| p["spec"]["containers"][0]["resources"]["requests"]["cpu"] = json!("2")).is_empty()
    );
    assert_eq!(
        check("resize", &old, |p| p["spec"]["containers"][0]["resources"] = json!({"requests": {"cpu": "2"}})),
        ["spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed",]
    );
    assert_eq!(
        check("resize", &old, |p| p["spec"]["containers"][0]["resources"]["limits"] =
            json!({"cpu": "1", "memory": "1Gi"})),
        ["spec: Invalid value: \"Burstable\": Pod QOS Class may not change as a result of resizing",]
    );
    let mut debugged = old.clone();
    debugged["spec"]["ephemeralContainers"] = json!([{"name": "e", "image": "i"}]);
    assert_eq!(
        check("ephemeralcontainers", &debugged, |p| p["spec"]["ephemeralContainers"] = json!([])),
        ["spec.ephemeralContainers: Forbidden: existing ephemeral containers \"e\" may not be removed\n",]
    );
    let mut ended = old.clone();
    ended["spec"]["restartPolicy"] = json!("OnFailure");
    ended["status"]["containerStatuses"] = json!([{"name": "c", "state": {"terminated": {"exitCode": 0}}}]);
    let again: fn(&mut Value) = |p| p["status"]["containerStatuses"][0]["state"] = json!({"running": {}});
    assert_eq!(
        check("status", &ended, again),
        ["status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state",]
    );
    ended["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"] = json!(1);
    assert!(check("status", &ended, again).is_empty());
    assert!(check("status", &old, |p| p["status"] = json!({"phase": "Running"})).is_empty());
}
