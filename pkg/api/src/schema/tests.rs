//! Spot checks of the generated table; `cargo xtask schema --check` checks all of it.

use super::*;

fn field<'a>(schema: &'a Schema, ty: &str, field: &str) -> &'a Field {
    let id = schema.find(ty).unwrap_or_else(|| panic!("no type {ty}"));
    schema.get(id).field(field).unwrap_or_else(|| panic!("no field {field} in {ty}"))
}

#[test]
fn types_and_fields_are_sorted_for_search() {
    let schema = builtin();
    assert!(schema.types.windows(2).all(|w| *w[0].name < *w[1].name));
    for ty in schema.types.iter() {
        assert!(ty.fields.windows(2).all(|w| *w[0].name < *w[1].name), "{}", &*ty.name);
    }
    assert_eq!(schema.find("io.k8s.api.core.v1.Pod"), Some(ids::CORE_V1_POD));
    assert_eq!(schema.find("io.k8s.api.core.v1.Pot"), None);
}

#[test]
fn golden_numbers() {
    let schema = builtin();
    let core = "io.k8s.api.core.v1";
    let cases: &[(&str, &str, u32, &[u32])] = &[
        (core, "Pod.metadata", 1, &[]),
        (core, "Pod.apiVersion", 0, &[]),
        (core, "PodSpec.containers", 2, &[]),
        (core, "PodSpec.securityContext", 14, &[]),
        (core, "Volume.configMap", 19, &[2]),
        (core, "EnvVar.valueFrom", 3, &[]),
        (core, "ConfigMapKeySelector.name", 1, &[1]),
        (core, "Probe.httpGet", 2, &[1]),
        ("io.k8s.api.apps.v1", "DeploymentSpec.strategy", 4, &[]),
        ("io.k8s.api.admissionregistration.v1", "NamedRuleWithOperations.apiGroups", 1, &[2, 2]),
        ("io.k8s.apimachinery.pkg.apis.meta.v1", "ObjectMeta.managedFields", 17, &[]),
        ("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1", "JSONSchemaProps.$ref", 3, &[]),
        ("io.k8s.kube-aggregator.pkg.apis.apiregistration.v1", "APIServiceSpec.caBundle", 5, &[]),
    ];
    for (package, path, number, inline) in cases {
        let (ty, name) = path.split_once('.').expect("type and field");
        let found = field(&schema, &format!("{package}.{ty}"), name);
        assert_eq!((found.number, found.form.inline), (*number, *inline), "{path}");
    }
}

#[test]
fn golden_merge_facts() {
    let schema = builtin();
    let ports = field(&schema, "io.k8s.api.core.v1.Container", "ports");
    let Shape::List { kind: ListKind::Map(keys), .. } = &ports.shape else { panic!("not associative") };
    let keys: Vec<_> = keys.iter().map(|k| (&*k.name, k.default.as_deref())).collect();
    // As in upstream's structured-merge schema: the zero value of a key that no marker defaults.
    assert_eq!(keys, [("containerPort", Some("0")), ("protocol", Some("\"TCP\""))]);
    assert_eq!(ports.patch, Patch { merge: true, merge_key: Some("containerPort"), ..Patch::default() });

    let volumes = field(&schema, "io.k8s.api.core.v1.PodSpec", "volumes");
    assert!(volumes.patch.merge && volumes.patch.retain_keys);
    assert!(field(&schema, "io.k8s.api.apps.v1.DeploymentSpec", "strategy").patch.retain_keys);
    assert!(field(&schema, "io.k8s.api.policy.v1.PodDisruptionBudgetSpec", "selector").patch.replace);
    assert!(schema.get(ids::META_V1_LABEL_SELECTOR).atomic);
    assert!(field(&schema, "io.k8s.api.core.v1.PersistentVolumeSpec", "claimRef").granular);
    let selector = &field(&schema, "io.k8s.api.core.v1.ServiceSpec", "selector").shape;
    assert!(matches!(selector, Shape::Map { atomic: true, .. }));
    let finalizers = &field(&schema, "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta", "finalizers").shape;
    assert!(matches!(finalizers, Shape::List { kind: ListKind::Set, .. }));
}

#[test]
fn golden_defaults_enums_and_forms() {
    let schema = builtin();
    let protocol = field(&schema, "io.k8s.api.core.v1.ServicePort", "protocol");
    assert_eq!(protocol.default.as_deref(), Some("\"TCP\""));
    assert_eq!(&*protocol.values, ["SCTP", "TCP", "UDP"]);
    // The zero value that OpenAPI shows is no default of the API.
    assert!(field(&schema, "io.k8s.api.core.v1.Container", "name").default.is_none());
    let replicas = field(&schema, "io.k8s.api.apps.v1.DeploymentSpec", "replicas");
    assert!(replicas.form.pointer && replicas.form.omit_empty && !replicas.required);
    assert!(field(&schema, "io.k8s.api.apps.v1.DeploymentSpec", "template").required);
    assert!(matches!(
        field(&schema, "io.k8s.api.core.v1.ResourceRequirements", "limits").shape,
        Shape::Map { ref value, atomic: false } if matches!(**value, Shape::Quantity)
    ));
    let window = field(&schema, "io.k8s.metrics.pkg.apis.metrics.v1beta1.PodMetrics", "window");
    assert!(matches!(window.shape, Shape::Duration));
}
