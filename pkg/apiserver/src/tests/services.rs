//! Services get addresses and ports, and give them back.

use serde_json::{Value, json};

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use store::{Error, KeyRange, LeaseStatus, MemoryStore, Op, Range, RangeResponse, Store, Txn, TxnResponse, Watch};

use super::Fixture;

const SERVICES: &str = "/api/v1/namespaces/default/services";

fn service(name: &str, spec: Value) -> Value {
    json!({"metadata": {"name": name}, "spec": spec})
}

#[tokio::test]
async fn addresses_are_allocated_and_released() {
    let fixture = Fixture::new().await;
    let made = fixture.post(SERVICES, &service("a", json!({"ports": [{"port": 80}]}))).await.expect(201);
    let ip = made["spec"]["clusterIP"].as_str().unwrap().to_owned();
    assert!(ip.starts_with("10.43."), "{ip}");
    assert_eq!(made["spec"]["clusterIPs"], json!([ip]));
    assert_eq!(
        (&made["spec"]["ipFamilies"], &made["spec"]["ipFamilyPolicy"]),
        (&json!(["IPv4"]), &json!("SingleStack"))
    );
    let same = service("b", json!({"clusterIP": ip, "ports": [{"port": 80}]}));
    let message = fixture.post(SERVICES, &same).await.refused(422, "Invalid");
    assert!(message.ends_with(&format!("failed to allocate IP {ip}: provided IP is already allocated")), "{message}");
    fixture.delete(&format!("{SERVICES}/a"), Value::Null).await.expect(200);
    assert_eq!(fixture.post(SERVICES, &same).await.expect(201)["spec"]["clusterIP"], ip.as_str());
    // Selected without decoding.
    let list = fixture.get(&format!("{SERVICES}?fieldSelector=spec.clusterIP%3D{ip}")).await.expect(200);
    assert_eq!(list["items"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn families_are_those_of_the_cluster() {
    let fixture = Fixture::new().await;
    let spec = json!({"ipFamilyPolicy": "RequireDualStack", "ports": [{"port": 80}]});
    let message = fixture.post(SERVICES, &service("a", spec)).await.refused(422, "Invalid");
    assert_eq!(
        message,
        "Service \"a\" is invalid: spec.ipFamilyPolicy: Invalid value: \"RequireDualStack\": \
         this cluster is not configured for dual-stack services"
    );
    let made = fixture.post(SERVICES, &service("b", json!({"clusterIP": "None"}))).await.expect(201);
    assert_eq!(made["spec"]["ipFamilies"], json!(["IPv4", "IPv6"]));
    // An update that changes nothing but the policy is looked at too.
    let policy = json!({"spec": {"ipFamilyPolicy": "SingleStack"}});
    let made = fixture.patch("merge", &format!("{SERVICES}/b"), &policy).await.expect(200);
    assert_eq!(made["spec"]["ipFamilies"], json!(["IPv4"]));
}

#[tokio::test]
async fn many_at_once_all_differ() {
    let fixture = Fixture::new().await;
    let fixture = &fixture;
    let made = futures::future::join_all((0..40).map(|n| async move {
        let spec = json!({"type": "NodePort", "ports": [{"port": 80}]});
        fixture.post(SERVICES, &service(&format!("s{n}"), spec)).await.expect(201)
    }))
    .await;
    for path in ["/spec/clusterIP", "/spec/ports/0/nodePort"] {
        let all: std::collections::HashSet<String> =
            made.iter().map(|s| s.pointer(path).unwrap().to_string()).collect();
        assert_eq!(all.len(), 40, "{path}");
    }
}

#[tokio::test]
async fn types_change() {
    let fixture = Fixture::new().await;
    let one = format!("{SERVICES}/a");
    let made = fixture.post(SERVICES, &service("a", json!({"ports": [{"port": 80}]}))).await.expect(201);
    let node_port = fixture.patch("merge", &one, &json!({"spec": {"type": "NodePort"}})).await.expect(200);
    assert_eq!(node_port["spec"]["clusterIP"], made["spec"]["clusterIP"]);
    let port = node_port["spec"]["ports"][0]["nodePort"].as_u64().unwrap();
    assert!((30000..=32767).contains(&port));
    let applied = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}, "spec": {"type": "NodePort", "ports": [{"port": 80}]}});
    let again = fixture.patch("apply", &format!("{one}?fieldManager=m"), &applied).await.expect(200);
    assert_eq!(again["spec"]["ports"][0]["nodePort"], port);
    let cluster = fixture.patch("merge", &one, &json!({"spec": {"type": "ClusterIP"}})).await.expect(200);
    assert!(cluster["spec"]["ports"][0]["nodePort"].is_null());
    let external = fixture
        .patch("merge", &one, &json!({"spec": {"type": "ExternalName", "externalName": "x.example"}}))
        .await
        .expect(200);
    assert!(external["spec"]["clusterIP"].is_null(), "{external}");
}

#[tokio::test]
async fn addresses_have_objects_of_their_own() {
    let fixture = Fixture::new().await;
    let (addresses, ranges) = ("/apis/networking.k8s.io/v1/ipaddresses", "/apis/networking.k8s.io/v1/servicecidrs");
    let made = fixture.post(SERVICES, &service("a", json!({"ports": [{"port": 80}]}))).await.expect(201);
    let ip = made["spec"]["clusterIP"].as_str().unwrap().to_owned();
    let object = fixture.get(&format!("{addresses}/{ip}")).await.expect(200);
    let parent = json!({"resource": "services", "namespace": "default", "name": "a"});
    assert_eq!(object["spec"]["parentRef"], parent);
    // It may be put back as it is.
    assert_eq!(fixture.put(&format!("{addresses}/{ip}"), &object).await.expect(200), object);
    assert_eq!(object["metadata"]["labels"]["ipaddress.kubernetes.io/managed-by"], "ipallocator.k8s.io");
    // An address that somebody holds otherwise is not given.
    let held = json!({"metadata": {"name": "10.43.0.77"}, "spec": {"parentRef": {"resource": "services", "namespace": "x", "name": "y"}}});
    fixture.post(addresses, &held).await.expect(201);
    let wanted = service("b", json!({"clusterIP": "10.43.0.77", "ports": [{"port": 80}]}));
    let message = fixture.post(SERVICES, &wanted).await.refused(422, "Invalid");
    assert!(message.ends_with("provided IP is already allocated"), "{message}");
    // A further range.
    let far = service("c", json!({"clusterIP": "10.99.0.7", "ports": [{"port": 80}]}));
    let message = fixture.post(SERVICES, &far).await.refused(422, "Invalid");
    assert!(message.ends_with("the provided network does not match the current range"), "{message}");
    let range = json!({"metadata": {"name": "more"}, "spec": {"cidrs": ["10.99.0.0/24"]}});
    fixture.post(ranges, &range).await.expect(201);
    fixture.post(SERVICES, &far).await.expect(201);
    fixture.get(&format!("{addresses}/10.99.0.7")).await.expect(200);
    // They go with the Service, or when it needs none.
    let external = json!({"spec": {"type": "ExternalName", "externalName": "x.example"}});
    fixture.patch("merge", &format!("{SERVICES}/c"), &external).await.expect(200);
    fixture.get(&format!("{addresses}/10.99.0.7")).await.refused(404, "NotFound");
    fixture.delete(&format!("{SERVICES}/a"), Value::Null).await.expect(200);
    fixture.get(&format!("{addresses}/{ip}")).await.refused(404, "NotFound");
    fixture.get(&format!("{addresses}/10.43.0.77")).await.expect(200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_repair_removed_the_address_of_a_service_that_was_made_meanwhile() {
    let fixture = Fixture::new().await;
    let server = &fixture.server.server;
    let creates = futures::future::join_all((0..60).map(|n| {
        let fixture = &fixture;
        async move {
            let made = fixture.post(SERVICES, &service(&format!("s{n}"), json!({"ports": [{"port": 80}]}))).await;
            made.expect(201)["spec"]["clusterIP"].as_str().unwrap().to_owned()
        }
    }));
    let (server, stop) = (server.clone(), fixture.stop.child_token());
    let ended = stop.clone();
    let repairs = tokio::spawn(async move {
        while !ended.is_cancelled() {
            crate::service_ips::repair(&server).await.unwrap();
        }
    });
    let made = creates.await;
    stop.cancel();
    repairs.await.unwrap();
    for ip in made {
        fixture.get(&format!("/apis/networking.k8s.io/v1/ipaddresses/{ip}")).await.expect(200);
    }
}

/// A store in which somebody else is always faster with what is written along with Services.
#[derive(Default)]
struct Faster {
    store: MemoryStore,
    tried: AtomicUsize,
}

#[async_trait::async_trait]
impl Store for Faster {
    async fn txn(&self, mut txn: Txn) -> Result<TxnResponse, Error> {
        let is_address = |op: &Op| format!("{op:?}").contains("ipaddresses/");
        if txn.then.len() > 1 && txn.then.iter().any(is_address) {
            self.tried.fetch_add(1, Ordering::Relaxed);
            txn.when.push(store::Compare::mod_revision("/nobody/has/this", 1));
        }
        self.store.txn(txn).await
    }
    async fn range(&self, range: Range) -> Result<RangeResponse, Error> {
        self.store.range(range).await
    }
    async fn watch(&self, keys: KeyRange, from: i64) -> Result<Watch, Error> {
        self.store.watch(keys, from).await
    }
    async fn progress(&self) -> Result<(), Error> {
        self.store.progress().await
    }
    async fn revision(&self) -> Result<i64, Error> {
        self.store.revision().await
    }
    fn compacted(&self) -> i64 {
        self.store.compacted()
    }
    async fn compact(&self, revision: i64) -> Result<(), Error> {
        self.store.compact(revision).await
    }
    async fn lease_grant(&self, id: i64, ttl: i64) -> Result<i64, Error> {
        self.store.lease_grant(id, ttl).await
    }
    async fn lease_keep_alive(&self, id: i64) -> Result<i64, Error> {
        self.store.lease_keep_alive(id).await
    }
    async fn lease_revoke(&self, id: i64) -> Result<(), Error> {
        self.store.lease_revoke(id).await
    }
    async fn lease_time_to_live(&self, id: i64) -> Result<LeaseStatus, Error> {
        self.store.lease_time_to_live(id).await
    }
    async fn leases(&self) -> Result<Vec<i64>, Error> {
        self.store.leases().await
    }
    async fn close(&self) -> Result<(), Error> {
        self.store.close().await
    }
}

#[tokio::test]
async fn an_apply_whose_address_was_always_taken_by_others_never_ended() {
    let store = Arc::new(Faster::default());
    let fixture = Fixture::over(store.clone()).await;
    let wanted = service("a", json!({"ports": [{"port": 80}]}));
    let message = fixture.post(SERVICES, &wanted).await.refused(409, "Conflict");
    assert!(!message.contains("unique name"), "{message}");
    assert!(store.tried.load(Ordering::Relaxed) > 1);
    let mut applied = json!({"apiVersion": "v1", "kind": "Service"});
    applied.as_object_mut().unwrap().extend(wanted.as_object().unwrap().clone());
    let uri = format!("{SERVICES}/a?fieldManager=m");
    let apply = fixture.patch("apply", &uri, &applied);
    let answer = tokio::time::timeout(std::time::Duration::from_secs(20), apply).await.expect("an end");
    answer.refused(409, "Conflict");
    fixture.put(&format!("{SERVICES}/a"), &wanted).await.refused(409, "Conflict");
}

/// The keys of node ports, as `PORT/PROTOCOL NAMESPACE/NAME`.
async fn port_keys(store: &dyn Store) -> Vec<String> {
    let prefix = "/registry/services/nodeports/";
    let found = store.range(Range::head(KeyRange::prefix(prefix))).await.unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    found.kvs.iter().map(|kv| format!("{} {}", text(&kv.key[prefix.len()..]), text(&kv.value))).collect()
}

#[tokio::test]
async fn two_servers_gave_one_node_port_to_two_services() {
    let store = Arc::new(MemoryStore::default());
    let one = Fixture::over(store.clone()).await;
    let other = one.beside(store.clone()).await;
    for port in 30000..30010 {
        let spec = json!({"type": "NodePort", "ports": [{"port": 80, "nodePort": port}]});
        let (first, second) = (service(&format!("a{port}"), spec.clone()), service(&format!("b{port}"), spec));
        let (first, second) = tokio::join!(one.post(SERVICES, &first), other.post(SERVICES, &second));
        let mut answers = [first, second];
        answers.sort_by_key(|answer| answer.code);
        let [taken, refused] = answers;
        taken.expect(201);
        let message = refused.refused(422, "Invalid");
        assert!(message.ends_with("provided port is already allocated"), "{message}");
    }
    assert_eq!(port_keys(&*store).await.len(), 10);
}

#[tokio::test]
async fn node_ports_are_held_by_keys_and_go_with_them() {
    let store = Arc::new(MemoryStore::default());
    let fixture = Fixture::over(store.clone()).await;
    let dns = json!([
        {"name": "tcp", "port": 53, "nodePort": 30053},
        {"name": "udp", "port": 53, "nodePort": 30053, "protocol": "UDP"},
    ]);
    let made = service("a", json!({"type": "NodePort", "ports": dns}));
    fixture.post(&format!("{SERVICES}?dryRun=All"), &made).await.expect(201);
    assert!(port_keys(&*store).await.is_empty());
    fixture.post(SERVICES, &made).await.expect(201);
    assert_eq!(port_keys(&*store).await, ["30053/TCP default/a", "30053/UDP default/a"]);
    // One more for health checks, and one less.
    let one = format!("{SERVICES}/a");
    let local = json!({"spec": {"type": "LoadBalancer", "externalTrafficPolicy": "Local", "healthCheckNodePort": 30054, "ports": [dns[0]]}});
    fixture.patch("merge", &one, &local).await.expect(200);
    assert_eq!(port_keys(&*store).await, ["30053/TCP default/a", "30054/TCP default/a"]);
    // A type without ports, in earnest only.
    let plain = json!({"spec": {"type": "ClusterIP", "externalTrafficPolicy": null}});
    fixture.patch("merge", &format!("{one}?dryRun=All"), &plain).await.expect(200);
    assert_eq!(port_keys(&*store).await.len(), 2);
    fixture.patch("merge", &one, &plain).await.expect(200);
    assert!(port_keys(&*store).await.is_empty());
    fixture.delete(&one, Value::Null).await.expect(200);
    fixture.post(SERVICES, &made).await.expect(201);
    fixture.delete(&one, Value::Null).await.expect(200);
    assert!(port_keys(&*store).await.is_empty());
}

#[tokio::test]
async fn keys_of_node_ports_are_mended_at_the_start() {
    let store = Arc::new(MemoryStore::default());
    let fixture = Fixture::over(store.clone()).await;
    let spec = json!({"type": "NodePort", "ports": [{"port": 80, "nodePort": 30080}]});
    fixture.post(SERVICES, &service("a", spec)).await.expect(201);
    // As an older version has left them.
    let key = |port: &str| format!("/registry/services/nodeports/{port}/TCP");
    let then = vec![Op::Delete(KeyRange::key(key("30080"))), Op::put(key("30081"), "default/gone")];
    store.txn(Txn { then, ..Txn::default() }).await.unwrap();
    crate::service_ports::repair(&fixture.server.server).await.unwrap();
    assert_eq!(port_keys(&*store).await, ["30080/TCP default/a"]);
}

#[tokio::test]
async fn a_key_that_was_left_behind_made_its_port_unobtainable() {
    let store = Arc::new(MemoryStore::default());
    let fixture = Fixture::over(store.clone()).await;
    let with =
        |name: &str, port: u16| service(name, json!({"type": "NodePort", "ports": [{"port": 80, "nodePort": port}]}));
    fixture.post(SERVICES, &with("there", 30001)).await.expect(201);
    for (port, holder) in
        [(30002, "default/gone"), (30003, "default/there"), (30004, "no name"), (30005, "default/own")]
    {
        let then = vec![Op::put(format!("/registry/services/nodeports/{port}/TCP"), holder)];
        store.txn(Txn { then, ..Txn::default() }).await.unwrap();
        fixture.post(SERVICES, &with("own", port)).await.expect(201);
        assert_eq!(port_keys(&*store).await, ["30001/TCP default/there".to_owned(), format!("{port}/TCP default/own")]);
        fixture.delete(&format!("{SERVICES}/own"), Value::Null).await.expect(200);
    }
}

/// A Service with as many node ports as it says.
fn ports(name: &str, count: u16) -> Value {
    let ports: Vec<Value> =
        (0..count).map(|n| json!({"name": format!("p{n}"), "port": 1000 + n, "nodePort": 30000 + n})).collect();
    service(name, json!({"type": "NodePort", "ports": ports}))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_of_more_ports_than_a_transaction_of_etcd_takes_could_not_be_deleted() {
    let dir = tempfile::tempdir().unwrap();
    let etcds = testkit::Etcds::new(1, dir.path()).start();
    let store: Arc<dyn Store> =
        Arc::new(store::EtcdStore::connect(store::etcd::Settings::plain(etcds.urls())).await.unwrap());
    let fixture = Fixture::over(store.clone()).await;
    let message = fixture.post(SERVICES, &ports("a", 130)).await.refused(422, "Invalid");
    assert!(message.ends_with("spec.ports: Too many: 130: must have at most 120 items"), "{message}");
    fixture.post(SERVICES, &ports("a", 120)).await.expect(201);
    fixture.patch("merge", &format!("{SERVICES}/a"), &ports("a", 130)).await.expect(200);
    assert_eq!(port_keys(&*store).await.len(), 130);
    fixture.delete(&format!("{SERVICES}/a"), Value::Null).await.expect(200);
    assert!(port_keys(&*store).await.is_empty());
    fixture.post(SERVICES, &ports("b", 120)).await.expect(201);
}
