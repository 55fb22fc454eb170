//! Devices and storage migrations.

use super::*;

fn claim(devices: Value) -> Value {
    json!({"spec": {"devices": devices}})
}

#[test]
fn claims() {
    let exactly = json!({"name": "r", "exactly": {"deviceClassName": "gpu"}});
    let made = good("ResourceClaim", claim(json!({"requests": [exactly]})));
    assert_eq!(made["spec"]["devices"]["requests"][0]["exactly"]["count"], 1);
    let cases: &[(Value, &[&str])] = &[
        (
            claim(json!({"requests": [{"name": "r"}]})),
            &["spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required"],
        ),
        (claim(json!({"requests": [exactly, exactly]})), &["spec.devices.requests[1]: Duplicate value: \"r\""]),
        (
            claim(json!({"requests": [{"name": "r", "exactly": {"allocationMode": "All", "count": 2}}]})),
            &[
                "spec.devices.requests[0].exactly.deviceClassName: Required value",
                "spec.devices.requests[0].exactly.count: Invalid value: 2: must not be specified when allocationMode is \
                 'All'",
            ],
        ),
        (
            claim(json!({"requests": [exactly], "constraints": [{"requests": ["x"], "matchAttribute": "plain"}]})),
            &[
                "spec.devices.constraints[0].requests[0]: Invalid value: \"x\": must be the name of a request in the claim \
                 or the name of a request and a subrequest separated by '/'",
                "spec.devices.constraints[0].matchAttribute: Invalid value: \"plain\": a fully qualified name must be a \
                 domain and a name separated by a slash",
            ],
        ),
        (
            claim(
                json!({"requests": [exactly], "config": [{"opaque": {"driver": "d.example.com", "parameters": [1]}}]}),
            ),
            &[
                "spec.devices.config[0].opaque.parameters: Invalid value: \"<value omitted>\": must be a valid JSON object",
            ],
        ),
    ];
    for (object, want) in cases {
        let (_, errors) = create("ResourceClaim", object.clone());
        assert_eq!(texts(&errors), *want, "{object}");
    }
    let (_, errors) = update("ResourceClaim", &made, |c| c["spec"]["devices"]["requests"][0]["name"] = json!("s"));
    assert!(texts(&errors)[0].ends_with("field is immutable"), "{errors}");
}

#[test]
fn slices() {
    let slice = |spec: Value| {
        let mut base =
            json!({"driver": "d.example.com", "nodeName": "n", "pool": {"name": "p", "resourceSliceCount": 1}});
        for (key, value) in spec.as_object().into_iter().flatten() {
            base[key] = value.clone();
        }
        json!({"spec": base})
    };
    let device = |device: Value| slice(json!({"devices": [device]}));
    let cases: &[(Value, &[&str])] = &[
        (
            device(
                json!({"name": "a", "attributes": {"model": {"string": "x"}}, "capacity": {"memory": {"value": "1Gi"}}}),
            ),
            &[],
        ),
        (
            slice(json!({"nodeName": null})),
            &[
                "spec: Required value: exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required",
            ],
        ),
        (
            device(json!({"name": "a", "attributes": {"v": {"version": "1"}, "w": {}}})),
            &[
                "spec.devices[0].attributes[v].version: Invalid value: \"1\": must be a string compatible with semver.org \
                 spec 2.0.0",
                "spec.devices[0].attributes[w]: Invalid value: \"\": exactly one value must be specified",
            ],
        ),
        (
            device(
                json!({"name": "a", "allowMultipleAllocations": true, "capacity": {"m": {"value": "8", "requestPolicy":
                {"default": "3", "validRange": {"min": "2", "max": "10", "step": "2"}}}}}),
            ),
            &[
                "spec.devices[0].capacity[m].requestPolicy.validRange.max: Invalid value: \"10\": max is larger than \
                 capacity value: 8",
                "spec.devices[0].capacity[m].requestPolicy.validRange.step: Invalid value: \"3\": value is not a multiple \
                 of a given step (2) from (2)",
            ],
        ),
        (
            device(json!({"name": "a", "taints": [{"key": "k", "effect": "Never"}]})),
            &["spec.devices[0].taints[0].effect: Unsupported value: \"Never\": supported values: \"NoExecute\", \
                 \"NoSchedule\", \"None\""],
        ),
    ];
    for (object, want) in cases {
        let (_, errors) = create("ResourceSlice", object.clone());
        assert_eq!(texts(&errors), *want, "{object}");
    }
}

#[test]
fn migrations() {
    let (_, errors) = create("StorageVersionMigration", json!({"spec": {"resource": {"group": "A", "resource": ""}}}));
    assert_eq!(errors.0.len(), 2, "{errors}");
    let old = good("StorageVersionMigration", json!({"spec": {"resource": {"group": "", "resource": "pods"}}}));
    let (_, errors) = update("StorageVersionMigration", &old, |m| m["spec"]["resource"]["resource"] = json!("nodes"));
    assert!(texts(&errors)[0].ends_with("field is immutable"), "{errors}");
}
