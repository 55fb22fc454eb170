//! Snapshots of a cluster: saved under load, restored, and noticed by clients.

use std::process::Stdio;

use testkit::{Cluster, Output, run};

/// ConfigMaps that are created while the snapshot is saved, in this order.
const MANY: usize = 300;

#[test]
fn what_was_saved_comes_back_and_clients_begin_again() {
    let mut cluster = Cluster::start_with("snapshot", 0, &[], &[]);
    let during = save_under_load(&cluster);
    refusals(&cluster);

    // What the snapshot does not know.
    cluster.kubectl("delete configmap many-000");
    cluster.kubectl("create configmap later --from-literal=a=1");
    let configmaps = "/api/v1/namespaces/default/configmaps";
    let page = cluster.kubectl(&format!("get --raw {configmaps}?limit=2"));
    let (revision, token) = (text(&page, "resourceVersion"), text(&page, "continue"));
    let before: i64 = revision.parse().unwrap();

    cluster.server_mut().stop();
    let check = kinglet(&cluster, "store check");
    assert!(check.code == 0 && check.stdout.contains("its server ended in order"), "{check}");
    assert!(check.stdout.contains("snapshot    during at revision"), "{check}");
    let restored = kinglet(&cluster, "snapshot restore during").success();
    assert!(restored.contains("the old database is"), "{restored}");
    cluster.server_mut().start();
    cluster.wait_ready();

    assert_eq!(many(&cluster), during);
    assert!(cluster.get("configmap later", "{.metadata.name}").is_empty());
    cluster.kubectl("create configmap after --from-literal=a=1");
    let after: i64 = cluster.get("configmap after", "{.metadata.resourceVersion}").parse().unwrap();
    assert!(after > before + 1_000_000_000, "{after} after {before}");

    // Whoever remembers the time before lists again.
    let expired = |query: &str| {
        let answer = cluster.try_kubectl(&format!("get --raw {configmaps}?{query}"));
        let said = format!("{}{}", answer.stdout, answer.stderr);
        assert!(said.contains("410") || said.contains("Expired") || said.contains("too old"), "{query}: {said}");
    };
    expired(&format!("watch=true&resourceVersion={revision}"));
    expired(&format!("resourceVersion={revision}&resourceVersionMatch=Exact"));
    expired(&format!("limit=2&continue={token}"));
    assert_eq!(cluster.kubectl("get configmaps --no-headers -o name").matches("/many-").count(), during.len());

    let check = kinglet(&cluster, "store check");
    assert!(check.code == 0 && check.stdout.contains("a server has it open"), "{check}");
    kinglet(&cluster, "snapshot delete during").success();
    assert!(!kinglet(&cluster, "snapshot list").success().contains("during"));
}

/// Saves while objects are being created; answers with those that are in the snapshot: the first ones,
/// without a gap.
fn save_under_load(cluster: &Cluster) -> Vec<String> {
    let file = cluster.server().dir().join("many.yaml");
    let one =
        |n| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: many-{n:03}}}\ndata: {{n: '{n}'}}\n---\n");
    std::fs::write(&file, (0..MANY).map(one).collect::<String>()).unwrap();
    let mut command = cluster.kubectl_command();
    let mut creating = command.args(["create", "-f"]).arg(&file).stdout(Stdio::null()).spawn().unwrap();
    cluster.wait("the first objects", || !many(cluster).is_empty());
    let acknowledged = many(cluster).len();
    let saved = kinglet(cluster, "snapshot save --name during").success();
    assert!(saved.contains("/server/snapshots/during, "), "{saved}");
    let so_far = many(cluster).len();
    assert!(creating.wait().unwrap().success());
    assert_eq!(many(cluster).len(), MANY);

    let listed = kinglet(cluster, "snapshot list -o json").success();
    let inside = objects_of(cluster, "during");
    assert!(listed.contains("\"during\"") && listed.contains("\"state\": \"ok\""), "{listed}");
    assert!((acknowledged..=so_far).contains(&inside), "{acknowledged} ≤ {inside} ≤ {so_far}");
    (0..inside).map(|n| format!("configmap/many-{n:03}")).collect()
}

fn refusals(cluster: &Cluster) {
    let running = kinglet(cluster, "snapshot restore during").failure();
    assert!(running.contains("state.db is in use; stop kinglet"), "{running}");
    let twice = kinglet(cluster, "snapshot save --name during").failure();
    assert!(twice.contains("exists already"), "{twice}");
    for (line, says) in [
        ("snapshot delete ../state.db", "is no name of a snapshot"),
        ("snapshot delete nothing", "there is no snapshot nothing"),
        ("snapshot restore nothing", "there is no snapshot nothing"),
        ("server --snapshot-schedule-cron often", "is no schedule"),
    ] {
        let error = kinglet(cluster, line).failure();
        assert!(error.contains(says), "{line}: {error}");
    }
    let named = kinglet(cluster, "snapshot save --node-name server-0").success();
    assert!(named.contains("/on-demand-server-0-"), "{named}");
    let name = named.split([' ', '/', ',']).find(|part| part.starts_with("on-demand-")).unwrap();
    kinglet(cluster, &format!("snapshot delete {name}")).success();

    // A copy with a hole, and a file that is no database.
    let snapshots = cluster.server().dir().join("data/server/snapshots");
    let mut bytes = std::fs::read(snapshots.join("during")).unwrap();
    let half = bytes.len() / 2 / 4096 * 4096;
    bytes[half..half + 4096].fill(0x5a);
    std::fs::write(snapshots.join("holed"), bytes).unwrap();
    let check = kinglet(cluster, &format!("store check {}", snapshots.join("holed").display()));
    assert!(check.code == 1 && check.stdout.contains("damaged"), "{check}");
    std::fs::write(snapshots.join("holed"), "a diary").unwrap();
    assert!(kinglet(cluster, "snapshot list").success().contains("not a snapshot"));
    kinglet(cluster, "snapshot delete holed").success();
}

/// Number of our ConfigMaps in a snapshot, whose keys and values are bytes of the file.
fn objects_of(cluster: &Cluster, snapshot: &str) -> usize {
    let bytes = std::fs::read(cluster.server().dir().join("data/server/snapshots").join(snapshot)).unwrap();
    let key = b"/configmaps/default/many-";
    let found: std::collections::BTreeSet<&[u8]> =
        bytes.windows(key.len() + 3).filter(|window| window.starts_with(key)).collect();
    found.len()
}

fn many(cluster: &Cluster) -> Vec<String> {
    let names = cluster.kubectl("get configmaps -o name");
    names.lines().filter(|name| name.contains("/many-")).map(str::to_owned).collect()
}

fn kinglet(cluster: &Cluster, line: &str) -> Output {
    run(&mut cluster.server().kinglet(line), "")
}

/// The first text of that name in a JSON document.
fn text(json: &str, name: &str) -> String {
    let rest = json.split(&format!("\"{name}\":\"")).nth(1).unwrap_or_else(|| panic!("no {name} in {json}"));
    rest.split('"').next().unwrap_or_default().to_owned()
}
