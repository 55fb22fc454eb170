//! Typical objects there and back, trees made up from the table, and bytes that are no message.
//! Upstream's golden objects are compared by `cargo xtask schema --check`.

use proptest::prelude::*;
use serde_json::{Map, json};

use super::*;
use crate::schema::{Shape, ids};

fn there_and_back(object: &Value) -> Value {
    decode_object(&encode_object(object).expect("a built-in kind")).expect("what was encoded can be read")
}

#[test]
fn typical_objects_come_back() {
    let pod_spec = json!({"containers": [{
        "name": "web", "image": "nginx", "ports": [{"containerPort": 80, "protocol": "TCP"}],
        "resources": {"limits": {"cpu": "100m", "memory": "1Gi"}},
        "livenessProbe": {"httpGet": {"path": "/", "port": "http"}, "periodSeconds": 10},
        "env": [{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "c", "key": "k", "optional": false}}}],
        "volumeMounts": [{"name": "v", "mountPath": "/v", "readOnly": true}],
    }], "volumes": [{"name": "v", "emptyDir": {}}], "terminationGracePeriodSeconds": 0});
    let metadata = json!({"name": "x", "namespace": "default", "labels": {"b": "2", "a": ""}, "uid": "u",
        "creationTimestamp": "2026-11-30T10:00:00Z", "ownerReferences": [
            {"apiVersion": "v1", "kind": "Pod", "name": "o", "uid": "1", "controller": true}],
        "managedFields": [{"manager": "m", "operation": "Update", "fieldsType": "FieldsV1",
            "fieldsV1": {"f:data": {"f:a": {}}}, "time": "2026-11-30T10:00:00Z"}]});
    let objects = [
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": pod_spec}),
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "x"}}),
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": {"k": "AP8=", "e": ""}}),
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": {
            "replicas": 0, "selector": {"matchLabels": {"a": "b"}}, "template": {"spec": pod_spec},
            "strategy": {"rollingUpdate": {"maxSurge": "25%", "maxUnavailable": 0}}}}),
        json!({"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": {
            "ports": [{"port": 80, "targetPort": "http"}, {"name": "n", "port": -1, "targetPort": 8080}]}}),
        json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": {
            "renewTime": "2026-11-30T10:00:00.000001Z", "acquireTime": "1969-12-31T23:59:59.500000Z"}}),
        json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "metadata": {"name": "x"},
            "spec": {"extra": {"k": ["a", "b"], "e": []}, "user": "u"}, "status": {"allowed": true}}),
        json!({"apiVersion": "apps/v1", "kind": "ControllerRevision", "metadata": metadata, "revision": 7,
            "data": {"spec": {"x": [1, 2.5, null]}}}),
        json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": metadata,
            "spec": {"group": "g", "scope": "Cluster", "names": {"plural": "p", "kind": "K"}, "versions": [{
                "name": "v1", "served": true, "storage": false, "schema": {"openAPIV3Schema": {
                    "type": "object", "maximum": 1.5, "minimum": 2, "default": {"a": 1}, "enum": ["a", 1],
                    "additionalProperties": false, "items": {"type": "string"},
                    "properties": {"a": {"additionalProperties": {"type": "string"}, "items": [{"type": "x"}, {}]}},
                    "dependencies": {"d": ["e"], "s": {"type": "string"}}}}}]}}),
        json!({"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0, "propagationPolicy": "Orphan",
            "preconditions": {"uid": "u"}, "dryRun": ["All"]}),
        json!({"apiVersion": "v1", "kind": "Status", "status": "Failure", "message": "no", "code": 404,
            "details": {"name": "x", "causes": [{"reason": "R", "field": "f"}]}}),
        json!({"apiVersion": "metrics.k8s.io/v1beta1", "kind": "NodeMetrics", "metadata": {"name": "n"},
            "timestamp": "2026-11-30T10:00:00Z", "window": "10.5s", "usage": {"cpu": "5m"}}),
    ];
    for object in objects {
        assert_eq!(there_and_back(&object), object);
    }
}

#[test]
fn zero_values_are_written_and_read_as_upstream_does() {
    // As stock kubectl sends `create namespace x`, field by field.
    let metadata: &[&[u8]] =
        &[b"\x0a\x01x", b"\x12\0", b"\x1a\0", b"\x22\0", b"\x2a\0", b"\x32\0", b"\x38\0", b"\x42\0"];
    let metadata = metadata.concat();
    let mut raw = vec![0x0a, u8::try_from(metadata.len()).unwrap()];
    raw.extend(metadata);
    raw.extend(b"\x12\0\x1a\x02\x0a\0");
    let mut wire = b"k8s\0\x0a\x0f\x0a\x02v1\x12\x09Namespace\x12".to_vec();
    wire.push(u8::try_from(raw.len()).unwrap());
    wire.extend(raw);
    wire.extend(b"\x1a\0\x22\0");
    let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "x"}});
    assert_eq!(encode_object(&object).unwrap(), wire);
    assert_eq!(decode_object(&wire).unwrap(), object);
    // Required zero values are seen, as in upstream's JSON.
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{}]}});
    assert_eq!(there_and_back(&pod)["spec"]["containers"], json!([{"name": ""}]));
}

#[test]
fn numbers_may_be_packed_and_messages_split() {
    let schema = builtin();
    // PodSecurityContext.supplementalGroups is field 4.
    let packed = decode(&schema, ids::CORE_V1_POD_SECURITY_CONTEXT, b"\x22\x03\x01\xac\x02\x20\x05").unwrap();
    assert_eq!(packed, json!({"supplementalGroups": [1, 300, 5]}));
    // Namespace.metadata in two parts.
    let split = decode(&schema, ids::CORE_V1_NAMESPACE, b"\x0a\x03\x0a\x01x\x0a\x03\x1a\x01y").unwrap();
    assert_eq!(split, json!({"metadata": {"name": "x", "namespace": "y"}}));
    // Fields of a newer version are skipped.
    assert_eq!(decode(&schema, ids::CORE_V1_NAMESPACE, b"\xfa\x3f\x01z").unwrap(), json!({}));
}

#[test]
fn an_object_may_stand_in_its_envelope_within_another() {
    let inner = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "b"}});
    let mut raw = Vec::new();
    wire::message(2, &mut raw, |out| wire::bytes(1, &encode_object(&inner).unwrap(), out));
    let revision = decode(&builtin(), ids::APPS_V1_CONTROLLER_REVISION, &raw).unwrap();
    assert_eq!(revision["data"], inner);
}

#[test]
fn what_is_no_message_is_refused() {
    let namespace = |raw: &[u8]| seal("v1", "Namespace", raw);
    for (bytes, want) in [
        (b"{}".to_vec(), "expected prefix"),
        (Vec::new(), "expected prefix"),
        (b"k8s\0\x0a\x7f".to_vec(), "unexpected EOF"),
        (b"k8s\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01".to_vec(), "integer overflow"),
        (b"k8s\0\x1a\x04gzip".to_vec(), "content encoding"),
        (MAGIC.to_vec(), "does not have a protobuf form"),
        (seal("example.com/v1", "Widget", b""), "does not have a protobuf form"),
        (namespace(b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f"), "unexpected EOF"),
        (namespace(b"\x08\x01"), "wrong wireType = 0 for field metadata"),
        (namespace(b"\x0a\x03\x0a\x01\xff"), "invalid UTF-8"),
        (namespace(b"\x0b\x0c"), "wrong wireType = 3"),
        (namespace(b"\x0a\x0b\x42\x09\x08\xff\xff\xff\xff\xff\xff\xff\x7f"), "out of range"),
    ] {
        let error = decode_object(&bytes).unwrap_err().to_string();
        assert!(error.contains(want), "{error} for {want}");
    }
}

#[test]
fn depth_and_size_are_bounded() {
    let schema = builtin();
    // JSONSchemaProps.not is field 27.
    let not = schema.get(ids::APIEXTENSIONS_V1_JSON_SCHEMA_PROPS).field("not").unwrap().number;
    let nested = |depth: usize| {
        (0..depth).fold(Vec::new(), |inner, _| {
            let mut out = Vec::new();
            wire::bytes(not, &inner, &mut out);
            out
        })
    };
    for (depth, fits) in [(1, true), (126, true), (127, false), (10_000, false)] {
        let read = decode(&schema, ids::APIEXTENSIONS_V1_JSON_SCHEMA_PROPS, &nested(depth));
        assert_eq!(read.is_ok(), fits, "{depth}");
        if let Ok(tree) = read {
            crate::decode::json(tree.to_string().as_bytes()).expect("the store can read it again");
        }
    }
    let text = format!("{}{}", "[".repeat(126), "]".repeat(126));
    let mut raw = Vec::new();
    wire::message(2, &mut raw, |out| wire::bytes(1, text.as_bytes(), out));
    let id = ids::APPS_V1_CONTROLLER_REVISION;
    assert_eq!(
        decode(&schema, id, &raw).map(|tree| crate::decode::json(tree.to_string().as_bytes()).is_ok()),
        Ok(true)
    );
    let mut raw = Vec::new();
    wire::message(2, &mut raw, |out| wire::bytes(1, format!("[{text}]").as_bytes(), out));
    assert_eq!(decode(&schema, id, &raw), Err(Error::Depth));
    // Empty items become objects with fields: two bytes to a hundred.
    let many = [0x12, 0].repeat(1_500_000);
    assert_eq!(decode(&schema, ids::CORE_V1_POD_SPEC, &many), Err(Error::Size));
}

#[test]
fn lists_are_put_together_from_objects() {
    let schema = builtin();
    let items =
        [json!({"metadata": {"name": "a"}}), json!({"metadata": {"name": "b"}, "data": {"k": "v".repeat(300)}})];
    let raw: Vec<Vec<u8>> = items.iter().map(|item| encode(&schema, ids::CORE_V1_CONFIG_MAP, item)).collect();
    let metadata = json!({"resourceVersion": "7", "continue": "c", "remainingItemCount": 3});
    let mut bytes = List::new(&metadata).head("v1", "ConfigMapList", raw.iter().map(Vec::len));
    for item in &raw {
        List::item(item.len(), &mut bytes);
        bytes.extend_from_slice(item);
    }
    bytes.extend_from_slice(List::tail());
    let list = json!({"apiVersion": "v1", "kind": "ConfigMapList", "metadata": metadata, "items": items});
    assert_eq!(decode_object(&bytes).unwrap(), list);
    assert_eq!(encode_object(&list).unwrap(), bytes);
}

#[test]
fn events_are_framed() {
    let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}});
    let mut out = b"before".to_vec();
    event("ADDED", &encode_object(&object).unwrap(), &mut out);
    let frame = &out[6..];
    let length = u32::from_be_bytes(frame[..4].try_into().unwrap()) as usize;
    assert_eq!(length, frame.len() - 4);
    let event = decode(&builtin(), ids::META_V1_WATCH_EVENT, &frame[4..]).unwrap();
    assert_eq!(event, json!({"type": "ADDED", "object": object}));
}

#[test]
fn metadata_alone_has_its_own_message() {
    let object = json!({"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": {"name": "a"}});
    let bytes = encode_object(&object).unwrap();
    let envelope = open(&bytes).unwrap();
    assert_eq!((envelope.api_version, envelope.kind), ("meta.k8s.io/v1", "PartialObjectMetadata"));
    // Any kind with nothing but metadata reads the same.
    assert_eq!(decode(&builtin(), ids::CORE_V1_CONFIG_MAP, envelope.raw).unwrap(), json!({"metadata": {"name": "a"}}));
}

/// Makes up trees of a type, the same for the same seed.
struct Maker {
    state: u64,
}

impl Maker {
    fn below(&mut self, limit: u64) -> u64 {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) % limit
    }

    fn object(&mut self, id: TypeId, depth: u64) -> Value {
        let schema = builtin();
        let mut map = Map::new();
        for field in schema.get(id).fields.iter().filter(|field| field.number > 0) {
            if self.below(2 + depth) == 0 {
                map.insert(field.name.to_string(), self.value(&field.shape, depth + 1));
            }
        }
        Value::Object(map)
    }

    fn number(&mut self) -> i64 {
        [0, 1, -1, 127, 128, 300, i64::from(i32::MAX), i64::from(i32::MIN)][usize::try_from(self.below(8)).unwrap()]
    }

    fn value(&mut self, shape: &Shape, depth: u64) -> Value {
        match shape {
            Shape::Bool => (self.below(2) == 1).into(),
            Shape::Int32 => self.number().into(),
            Shape::Int64 => self.number().wrapping_mul(1 << self.below(32)).into(),
            Shape::Float => {
                [json!(0), json!(1.5), json!(-3), json!(1e300)][usize::try_from(self.below(4)).unwrap()].clone()
            }
            Shape::String => ["", "a", "ä\u{0}\n"][usize::try_from(self.below(3)).unwrap()].into(),
            // In JSON, empty bytes that may be left out are the same as none.
            Shape::Bytes => ["AAE=", "AA==", "/+8="][usize::try_from(self.below(3)).unwrap()].into(),
            Shape::Time => {
                ["2026-11-30T10:00:00Z", "1900-01-01T00:00:01Z"][usize::try_from(self.below(2)).unwrap()].into()
            }
            Shape::MicroTime => ["2026-11-30T10:00:00.000001Z", "1900-01-01T00:00:01.500000Z"]
                [usize::try_from(self.below(2)).unwrap()]
            .into(),
            Shape::Duration => "1m0.5s".into(),
            Shape::Quantity => ["0", "100m", "1Gi"][usize::try_from(self.below(3)).unwrap()].into(),
            Shape::IntOrString if self.below(2) == 0 => "50%".into(),
            Shape::IntOrString => self.number().into(),
            Shape::Any => json!({"a": [1, "b", {"c": 1.5}]}),
            Shape::OrBool(_) | Shape::OrList(_) | Shape::OrStrings(_) | Shape::Object(_) if depth > 9 => json!({}),
            Shape::OrBool(_) if self.below(2) == 0 => false.into(),
            Shape::OrStrings(_) if self.below(2) == 0 => json!(["a", ""]),
            Shape::OrList(id) if self.below(2) == 0 => json!([self.object(*id, depth + 3)]),
            Shape::OrBool(id) | Shape::OrList(id) | Shape::OrStrings(id) | Shape::Object(id) => self.object(*id, depth),
            Shape::List { item, .. } => (0..self.below(3)).map(|_| self.value(item, depth + 1)).collect(),
            Shape::Map { value, .. } => {
                (0..self.below(3)).map(|at| (format!("k{at}"), self.value(value, depth + 1))).collect()
            }
        }
    }
}

fn any_type() -> impl Strategy<Value = TypeId> {
    (0..u16::try_from(builtin().types.len()).unwrap()).prop_map(TypeId)
}

fn builtin() -> Schema {
    schema::builtin()
}

proptest! {
    #[test]
    fn made_up_trees_lose_nothing(id in any_type(), seed: u64) {
        let schema = builtin();
        let tree = Maker { state: seed }.object(id, 0);
        let bytes = encode(&schema, id, &tree);
        let read = decode(&schema, id, &bytes).unwrap();
        prop_assert_eq!(&encode(&schema, id, &read), &bytes, "{}", &read);
        prop_assert_eq!(decode(&schema, id, &bytes).unwrap(), read);
    }

    #[test]
    fn random_bytes_never_panic(id in any_type(), bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = decode(&builtin(), id, &bytes);
        let _ = decode_object(&bytes);
        let _ = decode_object(&[MAGIC, &bytes].concat());
    }

    #[test]
    fn damaged_messages_never_panic(id in any_type(), seed: u64, at: prop::sample::Index, byte: u8, cut: prop::sample::Index) {
        let schema = builtin();
        let mut bytes = encode(&schema, id, &Maker { state: seed }.object(id, 0));
        if !bytes.is_empty() {
            let at = at.index(bytes.len());
            bytes[at] = byte;
            let _ = decode(&schema, id, &bytes);
            bytes.truncate(cut.index(bytes.len()));
            let _ = decode(&schema, id, &bytes);
        }
    }

    #[test]
    fn lengths_of_numbers(value: u64) {
        let mut out = Vec::new();
        wire::put_varint(value, &mut out);
        prop_assert_eq!(out.len(), wire::varint_length(value));
        let mut rest = &out[..];
        prop_assert_eq!(wire::varint(&mut rest).unwrap(), value);
        prop_assert!(rest.is_empty());
    }
}
