//! Custom resources: their definitions' lives, and theirs.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use store::MemoryStore;

use http_body::Frame;
use http_body_util::StreamBody;
use tower::ServiceExt as _;

use super::{Answer, Fixture, watches::Events};

const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const WIDGETS: &str = "/apis/example.com/v1/namespaces/default/widgets";

fn version(name: &str, storage: bool, spec: Value) -> Value {
    let status = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    json!({
        "name": name, "served": true, "storage": storage,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec, "status": status}}},
        "subresources": {
            "status": {},
            "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas",
                "labelSelectorPath": ".status.selector"},
        },
        "selectableFields": [{"jsonPath": ".spec.color"}],
    })
}

fn spec() -> Value {
    json!({"type": "object", "properties": {
        "color": {"type": "string"}, "size": {"type": "integer"}, "replicas": {"type": "integer"},
    }})
}

fn definition(plural: &str, kind: &str) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.example.com")},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": plural, "singular": kind.to_lowercase(), "kind": kind, "listKind": format!("{kind}List")},
            "versions": [version("v1", true, spec())],
        },
    })
}

fn widget(name: &str, spec: Value) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": name}, "spec": spec})
}

/// Waits until a definition is as wanted.
async fn until(fixture: &Fixture, name: &str, done: impl Fn(&Answer) -> bool) -> Value {
    let mut last = None;
    for _ in 0..500 {
        let answer = fixture.get(&format!("{CRDS}/{name}.example.com")).await;
        if done(&answer) {
            return answer.body;
        }
        last = Some(answer);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("never came: {last:?}");
}

fn condition<'a>(definition: &'a Value, type_: &str) -> &'a str {
    let conditions = definition["status"]["conditions"].as_array();
    let found = conditions.into_iter().flatten().find(|c| c["type"] == type_);
    found.and_then(|c| c["status"].as_str()).unwrap_or_default()
}

async fn establish(fixture: &Fixture, definition: &Value) -> Value {
    fixture.post(CRDS, definition).await.expect(201);
    let name = definition["spec"]["names"]["plural"].as_str().unwrap();
    until(fixture, name, |answer| condition(&answer.body, "Established") == "True").await
}

fn names(list: &Value) -> Vec<&str> {
    list["items"].as_array().unwrap().iter().map(|item| item["metadata"]["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_definition_is_served_as_soon_as_it_is_established() {
    let fixture = Fixture::new().await;
    let tag = |answer: &Answer| answer.headers["etag"].to_str().unwrap().to_owned();
    let before = fixture.get("/apis").await;
    fixture.get(WIDGETS).await.refused(404, "NotFound");
    fixture.post(CRDS, &definition("widgets", "Widget")).await.expect(201);
    // Without waiting for the status: whoever asks gets what is committed.
    let mut served = fixture.get(WIDGETS).await;
    for _ in 0..100 {
        if served.code == 200 {
            break;
        }
        tokio::task::yield_now().await;
        served = fixture.get(WIDGETS).await;
    }
    assert_eq!(served.expect(200)["kind"], "WidgetList");
    let established = until(&fixture, "widgets", |a| condition(&a.body, "Established") == "True").await;
    assert_eq!(condition(&established, "NamesAccepted"), "True");
    assert_eq!(established["status"]["acceptedNames"]["kind"], "Widget");
    assert_eq!(established["status"]["storedVersions"], json!(["v1"]));
    // Discovery and its tags follow.
    let after = fixture.get("/apis").await;
    assert_ne!(tag(&before), tag(&after));
    let stale = fixture.send("GET", "/apis", &[("if-none-match", &tag(&before))], "").await;
    assert_eq!(stale.code, 200);
    let found = fixture.get("/apis/example.com/v1").await.expect(200);
    assert_eq!(found["resources"][0]["name"], "widgets");
    assert!(fixture.get("/openapi/v3").await.expect(200)["paths"]["apis/example.com/v1"].is_object());
}

#[tokio::test]
async fn objects_walk_through_every_verb() {
    let fixture = Fixture::new().await;
    establish(&fixture, &definition("widgets", "Widget")).await;
    let one = format!("{WIDGETS}/a");
    let made = fixture.post(WIDGETS, &widget("a", json!({"color": "red", "size": 1}))).await.expect(201);
    assert_eq!((&made["metadata"]["generation"], &made["apiVersion"]), (&json!(1), &json!("example.com/v1")));
    fixture.post(WIDGETS, &widget("a", json!({}))).await.refused(409, "AlreadyExists");
    assert_eq!(fixture.get(&one).await.expect(200), made);
    assert_eq!(fixture.get(WIDGETS).await.expect(200)["items"], json!([made]));
    assert_eq!(fixture.put(&one, &made).await.expect(200), made, "an update that changes nothing writes nothing");
    // Generations: not for metadata, not for the status.
    let label = json!({"metadata": {"labels": {"a": "b"}}});
    let labelled = fixture.patch("merge", &one, &label).await.expect(200);
    assert_eq!(labelled["metadata"]["generation"], 1);
    let operations = json!([{"op": "replace", "path": "/spec/size", "value": 2}]);
    let changed = fixture.patch("json", &one, &operations).await.expect(200);
    assert_eq!((&changed["metadata"]["generation"], &changed["spec"]["size"]), (&json!(2), &json!(2)));
    fixture.patch("strategic", &one, &label).await.refused(415, "UnsupportedMediaType");
    let wanted = widget("a", json!({"size": 3}));
    let applied = fixture.patch("apply", &format!("{one}?fieldManager=m&force=true"), &wanted).await.expect(200);
    assert_eq!((&applied["spec"]["size"], &applied["metadata"]["generation"]), (&json!(3), &json!(3)));
    assert!(applied["metadata"]["managedFields"].to_string().contains("f:size"));
    // The status has a way of its own, and is closed to the main one.
    let mut with_status = applied.clone();
    with_status["status"] = json!({"replicas": 5});
    with_status["metadata"]["labels"] = json!({"ignored": "yes"});
    assert_eq!(fixture.put(&one, &with_status).await.expect(200)["status"], Value::Null);
    let mut with_status = fixture.get(&one).await.expect(200);
    with_status["status"] = json!({"replicas": 5, "selector": "a=b"});
    with_status["spec"]["size"] = 9.into();
    with_status["metadata"]["labels"] = json!({"other": "yes"});
    let told = fixture.put(&format!("{one}/status"), &with_status).await.expect(200);
    assert_eq!((&told["status"]["replicas"], &told["spec"]["size"]), (&json!(5), &json!(3)));
    assert_eq!(told["metadata"]["labels"], json!({"ignored": "yes"}));
    assert_eq!(told["metadata"]["generation"], 3);
    // Scale.
    let scaled = json!({"spec": {"replicas": 7}});
    let scale = fixture.patch("merge", &format!("{one}/scale"), &scaled).await.expect(200);
    assert_eq!((&scale["kind"], &scale["spec"]["replicas"]), (&json!("Scale"), &json!(7)));
    assert_eq!(scale["status"], json!({"replicas": 5, "selector": "a=b"}));
    assert_eq!(fixture.get(&one).await.expect(200)["spec"]["replicas"], 7);
    // Selectable fields.
    fixture.post(WIDGETS, &widget("b", json!({"color": "blue"}))).await.expect(201);
    let blue = fixture.get(&format!("{WIDGETS}?fieldSelector=spec.color%3Dblue")).await.expect(200);
    assert_eq!(names(&blue), ["b"]);
    fixture.get(&format!("{WIDGETS}?fieldSelector=spec.size%3D1")).await.refused(400, "BadRequest");
    // Finalizers, deletion, collections.
    let hold = json!({"metadata": {"finalizers": ["example.com/hold"]}});
    fixture.patch("merge", &one, &hold).await.expect(200);
    let going = fixture.delete(&one, Value::Null).await.expect(200);
    assert!(going["metadata"]["deletionTimestamp"].is_string());
    fixture.patch("merge", &one, &json!({"metadata": {"finalizers": null}})).await.expect(200);
    fixture.get(&one).await.refused(404, "NotFound");
    let taken = fixture.delete(WIDGETS, Value::Null).await.expect(200);
    assert_eq!(names(&taken), ["b"]);
    assert_eq!(names(&fixture.get("/apis/example.com/v1/widgets").await.expect(200)), [""; 0]);
}

#[tokio::test]
async fn tables_and_metadata_of_custom_resources() {
    let fixture = Fixture::new().await;
    establish(&fixture, &definition("widgets", "Widget")).await;
    fixture.post(WIDGETS, &widget("a", json!({"color": "red"}))).await.expect(201);
    let as_table = [("accept", "application/json;as=Table;v=v1;g=meta.k8s.io")];
    let table = fixture.send("GET", WIDGETS, &as_table, "").await.expect(200);
    assert_eq!((&table["kind"], &table["rows"][0]["cells"][0]), (&json!("Table"), &json!("a")));
    let metadata = [("accept", "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io")];
    let list = fixture.send("GET", WIDGETS, &metadata, "").await.expect(200);
    assert_eq!(list["items"][0]["kind"], "PartialObjectMetadata");
    let protobuf = "application/vnd.kubernetes.protobuf";
    let typed = format!("{protobuf};as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json");
    let answer = fixture.send("GET", &format!("{WIDGETS}/a"), &[("accept", &typed)], "").await;
    assert_eq!((answer.code, answer.headers["content-type"].to_str().unwrap()), (200, protobuf));
    // Whole objects have no such form.
    let answer = fixture.send("GET", WIDGETS, &[("accept", &format!("{protobuf},application/json"))], "").await;
    assert_eq!(answer.headers["content-type"], "application/json");
    assert_eq!(fixture.send("GET", WIDGETS, &[("accept", protobuf)], "").await.code, 406);
}

#[tokio::test]
async fn several_versions_are_one_resource() {
    let fixture = Fixture::new().await;
    let mut both = definition("widgets", "Widget");
    both["spec"]["versions"] = json!([version("v1", true, spec()), version("v2", false, spec())]);
    both["spec"]["versions"][1]["selectableFields"] = json!([{"jsonPath": ".spec.size"}, {"jsonPath": ".spec.color"}]);
    let made = establish(&fixture, &both).await;
    let second = WIDGETS.replace("/v1/", "/v2/");
    let mut events = Events::open(&fixture, &format!("{second}?watch=true"), "application/json").await;
    fixture.post(WIDGETS, &widget("a", json!({"color": "red", "size": 1}))).await.expect(201);
    let seen = fixture.get(&format!("{second}/a")).await.expect(200);
    assert_eq!(seen["apiVersion"], "example.com/v2");
    let event = events.next().await.unwrap();
    assert_eq!((&event["type"], &event["object"]["apiVersion"]), (&json!("ADDED"), &json!("example.com/v2")));
    let list = fixture.get(&second).await.expect(200);
    assert_eq!((&list["apiVersion"], &list["items"][0]), (&json!("example.com/v2"), &seen));
    // Made once, shared by all that read the cached object.
    let server = &fixture.server.server;
    let row = server.kinds().by_resource("example.com", "v2", "widgets").unwrap().clone();
    let cache = server.caches.of(&row).await.unwrap();
    let object = cache.get(b"/registry/example.com/widgets/default/a").unwrap();
    let form = |stored: &crate::stored::Stored| stored.served(&row).unwrap().raw().as_ptr();
    assert_eq!(form(&object.stored), form(&object.stored.clone()));
    assert_eq!(object.stored.tree().unwrap()["apiVersion"], "example.com/v1", "stored in one version");
    // Each version has its own selectable fields.
    assert_eq!(names(&fixture.get(&format!("{second}?fieldSelector=spec.size%3D1")).await.expect(200)), ["a"]);
    assert_eq!(names(&fixture.get(&format!("{second}?fieldSelector=spec.color%3Dblue")).await.expect(200)), [""; 0]);
    fixture.get(&format!("{WIDGETS}?fieldSelector=spec.size%3D1")).await.refused(400, "BadRequest");
    // Another version is stored from now on; an update that changes nothing brings an object over.
    let mut moved = made;
    moved["spec"]["versions"][0]["storage"] = false.into();
    moved["spec"]["versions"][1]["storage"] = true.into();
    let moved = fixture.put(&format!("{CRDS}/widgets.example.com"), &moved).await.expect(200);
    assert_eq!(events.next().await, None, "watches end with their row");
    let settled = until(&fixture, "widgets", |a| a.body["status"]["storedVersions"] == json!(["v1", "v2"])).await;
    assert_eq!(settled["metadata"]["uid"], moved["metadata"]["uid"]);
    let stored = async || {
        let row = server.kinds().by_resource("example.com", "v1", "widgets").unwrap().clone();
        let stored = server.read(&row, "default", "a").await.unwrap().unwrap();
        stored.tree().unwrap()["apiVersion"].as_str().unwrap().to_owned()
    };
    assert_eq!(stored().await, "example.com/v1");
    let same = fixture.get(&format!("{WIDGETS}/a")).await.expect(200);
    let same = fixture.put(&format!("{WIDGETS}/a"), &same).await.expect(200);
    assert_eq!((stored().await.as_str(), &same["apiVersion"]), ("example.com/v2", &json!("example.com/v1")));
}

#[tokio::test]
async fn a_definition_takes_its_objects_along() {
    let fixture = Fixture::new().await;
    establish(&fixture, &definition("widgets", "Widget")).await;
    let mut held = widget("a", json!({}));
    held["metadata"]["finalizers"] = json!(["example.com/hold"]);
    fixture.post(WIDGETS, &held).await.expect(201);
    let elsewhere = WIDGETS.replace("default", "kube-system");
    fixture.post(&elsewhere, &widget("b", json!({}))).await.expect(201);
    let mut events = Events::open(&fixture, "/apis/example.com/v1/widgets?watch=true", "application/json").await;
    assert_eq!([events.short().await, events.short().await], ["ADDED a", "ADDED b"]);
    let gone = fixture.delete(&format!("{CRDS}/widgets.example.com"), Value::Null).await.expect(200);
    assert!(gone["metadata"]["deletionTimestamp"].is_string(), "{gone}");
    // Nothing new comes.
    let message = fixture.post(WIDGETS, &widget("c", json!({}))).await.refused(405, "MethodNotAllowed");
    assert_eq!(message, "create not allowed while custom resource definition is terminating");
    let apply = format!("{WIDGETS}/c?fieldManager=m");
    fixture.patch("apply", &apply, &widget("c", json!({}))).await.refused(405, "MethodNotAllowed");
    // What is there goes, unless it is held.
    let ending = until(&fixture, "widgets", |a| condition(&a.body, "Terminating") == "True").await;
    assert_eq!(condition(&ending, "Established"), "True");
    let mut seen = vec![events.short().await, events.short().await];
    seen.sort();
    assert_eq!(seen, ["DELETED b", "MODIFIED a"]);
    let verbs = fixture.get("/apis/example.com/v1").await.expect(200)["resources"][0]["verbs"].clone();
    assert_eq!(verbs, json!(["delete", "deletecollection", "get", "list", "watch"]));
    fixture.patch("merge", &format!("{WIDGETS}/a"), &json!({"metadata": {"finalizers": []}})).await.expect(200);
    assert_eq!(events.short().await, "DELETED a");
    until(&fixture, "widgets", |answer| answer.code == 404).await;
    assert_eq!(events.next().await, None, "its watches end");
    fixture.get(WIDGETS).await.refused(404, "NotFound");
    assert_eq!(fixture.get("/apis/example.com").await.code, 404);
    // It may come back, with nothing in it.
    establish(&fixture, &definition("widgets", "Widget")).await;
    assert_eq!(names(&fixture.get(WIDGETS).await.expect(200)), [""; 0]);
}

#[tokio::test]
async fn names_that_clash_wait_until_they_are_free() {
    let fixture = Fixture::new().await;
    establish(&fixture, &definition("widgets", "Widget")).await;
    fixture.post(CRDS, &definition("gadgets", "Widget")).await.expect(201);
    let refused = until(&fixture, "gadgets", |a| condition(&a.body, "NamesAccepted") == "False").await;
    assert_eq!(condition(&refused, "Established"), "False");
    assert_eq!(refused["status"]["conditions"][0]["reason"], "ListKindConflict");
    fixture.get("/apis/example.com/v1/gadgets").await.refused(404, "NotFound");
    fixture.delete(&format!("{CRDS}/widgets.example.com"), Value::Null).await.expect(200);
    until(&fixture, "gadgets", |a| condition(&a.body, "Established") == "True").await;
    fixture.get("/apis/example.com/v1/gadgets").await.expect(200);
}

#[tokio::test]
async fn a_restart_has_the_rows_before_it_answers_and_servers_agree() {
    let store = Arc::new(MemoryStore::default());
    let fixture = Fixture::over(store.clone()).await;
    establish(&fixture, &definition("widgets", "Widget")).await;
    fixture.post(WIDGETS, &widget("a", json!({"color": "red"}))).await.expect(201);
    let (stop, tasks) = Default::default();
    let server = crate::ApiServer::start(super::config(store), stop, &tasks).await.unwrap();
    let second = Fixture { server, stop: Default::default(), tasks, user: fixture.user.clone() };
    assert_eq!(names(&second.get(WIDGETS).await.expect(200)), ["a"]);
    // What one of them establishes, the other serves at once.
    establish(&second, &definition("gadgets", "Gadget")).await;
    fixture.get("/apis/example.com/v1/gadgets").await.expect(200);
    // Of two that clash one is taken, whoever decides.
    let (a, b) = (definition("these", "Thing"), definition("those", "Thing"));
    let (a, b) = tokio::join!(fixture.post(CRDS, &a), second.post(CRDS, &b));
    a.expect(201);
    b.expect(201);
    let settled = |a: &Answer| !condition(&a.body, "Established").is_empty();
    let states = [until(&fixture, "these", settled).await, until(&second, "those", settled).await];
    let mut states = states.each_ref().map(|state| condition(state, "Established"));
    states.sort_unstable();
    assert_eq!(states, ["False", "True"]);
}

#[tokio::test]
async fn conditions_that_users_write_survive() {
    let fixture = Fixture::new().await;
    let made = establish(&fixture, &definition("widgets", "Widget")).await;
    let mut told = made.clone();
    let mine = json!({"type": "Mine", "status": "True", "reason": "R", "message": "m"});
    told["status"]["conditions"].as_array_mut().unwrap().push(mine);
    let one = format!("{CRDS}/widgets.example.com");
    fixture.put(&format!("{one}/status"), &told).await.expect(200);
    let short = json!({"spec": {"names": {"shortNames": ["w"]}}});
    fixture.patch("merge", &one, &short).await.expect(200);
    let named = until(&fixture, "widgets", |a| a.body["status"]["acceptedNames"]["shortNames"][0] == "w").await;
    assert_eq!(condition(&named, "Mine"), "True");
    assert_eq!(condition(&named, "Established"), "True");
    let found = fixture.get("/apis/example.com/v1").await.expect(200);
    assert_eq!(found["resources"][0]["shortNames"], json!(["w"]));
    // A status without conditions is put right.
    fixture.patch("merge", &format!("{one}/status"), &json!({"status": {"conditions": null}})).await.expect(200);
    until(&fixture, "widgets", |a| condition(&a.body, "Established") == "True").await;
}

#[tokio::test]
async fn a_definition_named_as_what_is_built_in_leaves_its_objects_alone() {
    let fixture = Fixture::new().await;
    let classes = "/apis/networking.k8s.io/v1/ingressclasses";
    let class = json!({"metadata": {"name": "a"}, "spec": {"controller": "example.com/c"}});
    fixture.post(classes, &class).await.expect(201);
    let mut over = definition("ingressclasses", "IngressClass");
    over["metadata"] = json!({"name": "ingressclasses.networking.k8s.io",
        "annotations": {"api-approved.kubernetes.io": "https://example.com/approved"}});
    over["spec"]["group"] = "networking.k8s.io".into();
    over["spec"]["scope"] = "Cluster".into();
    fixture.post(CRDS, &over).await.expect(201);
    let one = format!("{CRDS}/ingressclasses.networking.k8s.io");
    let until = async |done: &dyn Fn(&Answer) -> bool| {
        for _ in 0..500 {
            if done(&fixture.get(&one).await) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("never came");
    };
    until(&|answer| condition(&answer.body, "Established") == "True").await;
    fixture.delete(&one, Value::Null).await.expect(200);
    until(&|answer| answer.code == 404).await;
    fixture.get(&format!("{classes}/a")).await.expect(200);
}

#[tokio::test]
async fn a_slow_create_left_its_object_behind_the_definition() {
    let fixture = Fixture::new().await;
    establish(&fixture, &definition("widgets", "Widget")).await;
    let mut slow = Vec::new();
    for name in ["a", "b"] {
        // The body comes when the test says so; the row is taken before.
        let (sender, body) = tokio::sync::mpsc::channel::<Frame<bytes::Bytes>>(1);
        let stream = futures::stream::unfold(body, |mut body| async move {
            body.recv().await.map(|frame| (Ok::<_, std::convert::Infallible>(frame), body))
        });
        let request = http::Request::post(WIDGETS)
            .header("content-type", "application/json")
            .extension(fixture.user.clone())
            .body(StreamBody::new(Box::pin(stream)))
            .unwrap();
        let answer = tokio::spawn(fixture.server.clone().oneshot(request));
        slow.push((sender, answer, widget(name, json!({})).to_string()));
    }
    tokio::time::sleep(Duration::from_millis(100)).await;
    let mut held = widget("held", json!({}));
    held["metadata"]["finalizers"] = json!(["example.com/hold"]);
    fixture.post(WIDGETS, &held).await.expect(201);
    fixture.delete(&format!("{CRDS}/widgets.example.com"), Value::Null).await.expect(200);
    let finish = async |(sender, answer, body): (tokio::sync::mpsc::Sender<_>, tokio::task::JoinHandle<_>, String)| {
        sender.send(Frame::data(bytes::Bytes::from(body))).await.unwrap();
        drop(sender);
        let answer: Result<http::Response<crate::Body>, std::convert::Infallible> = answer.await.unwrap();
        answer.unwrap().status().as_u16()
    };
    let mut slow = slow.into_iter();
    assert_eq!(finish(slow.next().unwrap()).await, 405, "it is going");
    fixture.patch("merge", &format!("{WIDGETS}/held"), &json!({"metadata": {"finalizers": []}})).await.expect(200);
    until(&fixture, "widgets", |answer| answer.code == 404).await;
    fixture.get(WIDGETS).await.refused(404, "NotFound");
    assert_eq!(finish(slow.next().unwrap()).await, 404, "it is gone");
    establish(&fixture, &definition("widgets", "Widget")).await;
    assert_eq!(names(&fixture.get(WIDGETS).await.expect(200)), [""; 0]);
}

#[tokio::test]
async fn short_names_and_categories_could_not_be_taken_back() {
    let fixture = Fixture::new().await;
    let mut wanted = definition("widgets", "Widget");
    wanted["spec"]["names"]["shortNames"] = json!(["wd"]);
    wanted["spec"]["names"]["categories"] = json!(["all"]);
    establish(&fixture, &wanted).await;
    let resource = async || fixture.get("/apis/example.com/v1").await.expect(200)["resources"][0].clone();
    assert_eq!(resource().await["shortNames"], json!(["wd"]));
    let uri = format!("{CRDS}/widgets.example.com");
    let less = json!({"spec": {"names": {"shortNames": null, "categories": null}}});
    fixture.patch("merge", &uri, &less).await.expect(200);
    let left = until(&fixture, "widgets", |a| a.body["status"]["acceptedNames"]["shortNames"].is_null()).await;
    assert!(left["status"]["acceptedNames"]["categories"].is_null(), "{left}");
    assert_eq!((&resource().await["shortNames"], &resource().await["categories"]), (&Value::Null, &Value::Null));
    // What was freed is free for others.
    let mut other = definition("gadgets", "Gadget");
    other["spec"]["names"]["shortNames"] = json!(["wd"]);
    assert_eq!(condition(&establish(&fixture, &other).await, "NamesAccepted"), "True");
}
