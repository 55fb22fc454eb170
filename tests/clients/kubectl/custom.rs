//! Custom resources, from their definition to their end.

use testkit::run;

use crate::client::Client;

pub const DEFINITION: &str = include_str!("../birds.yaml");

const WREN: &str = "\
apiVersion: kinglet.dev/v1
kind: Bird
metadata: {name: wren}
spec:
  color: brown
  songs: [{name: dawn, seconds: 5}, {name: dusk, seconds: 7}]
  pruned: 1
";

pub fn definition(k: &Client) {
    assert_eq!(
        k.give("apply -f -", DEFINITION),
        "customresourcedefinition.apiextensions.k8s.io/birds.kinglet.dev created\n"
    );
    k.ok("wait --for=condition=Established crd/birds.kinglet.dev --timeout=30s");
    k.says("api-resources --api-group=kinglet.dev", "bd");
    k.says("explain birds.spec.color", "What one sees first.");
    k.says("explain birds --recursive --api-version=kinglet.dev/v1", "seconds");

    k.refuses_input("create -f -", WREN, "unknown field \"spec.pruned\"");
    let wren = WREN.replace("  pruned: 1\n", "");
    assert_eq!(k.give("apply -f -", &wren), "bird.kinglet.dev/wren created\n");
    assert_eq!(k.give("apply -f -", &wren), "bird.kinglet.dev/wren unchanged\n");
    assert_eq!(k.ok("get birds -o jsonpath={.items[0].spec.replicas}"), "1");
    let table = k.ok("get bd");
    let cells: Vec<&str> = table.split_whitespace().take(7).collect();
    assert_eq!(cells[..6], ["NAME", "COLOR", "AGE", "wren", "brown", cells[5]], "{table}");
    k.says("get bd -o wide", "SONGS");
    k.says("get all", "bird.kinglet.dev/wren");
    k.says("get birds --field-selector=spec.color=brown -o name", "bird.kinglet.dev/wren");
    assert_eq!(k.ok("get birds.v1beta1.kinglet.dev wren -o jsonpath={.apiVersion}"), "kinglet.dev/v1beta1");
    k.says("describe bird wren", "Color:");

    k.refuses("patch bird wren -p '{\"spec\":{}}'", "is not supported by kinglet.dev/v1, Kind=Bird");
    k.says("patch bird wren --type=merge -p '{\"spec\":{\"color\":\"red\"}}'", "patched");
    k.refuses("patch bird wren --type=merge -p '{\"spec\":{\"color\":\"x\"}}'", "Unsupported value: \"x\"");
    k.ok("scale bird wren --replicas=3");
    assert_eq!(k.ok("get bird wren -o jsonpath={.spec.replicas}/{.metadata.generation}"), "3/3");
    k.ok("patch bird wren --subresource=status --type=merge -p '{\"status\":{\"replicas\":3}}'");
    k.ok("wait --for=jsonpath={.status.replicas}=3 bird/wren --timeout=10s");
    let sing = |manager: &str, bird: &str, songs: &str| {
        let bird = format!(
            "{{apiVersion: kinglet.dev/v1, kind: Bird, metadata: {{name: {bird}}}, spec: {{songs: [{songs}]}}}}"
        );
        k.give(&format!("apply --server-side --field-manager={manager} -f -"), &bird);
    };
    let songs = |bird: &str| k.ok(&format!("get bird {bird} -o jsonpath={{.spec.songs[*].name}}"));
    sing("one", "robin", "{name: dawn}, {name: dusk}");
    sing("two", "robin", "{name: noon}");
    assert_eq!(songs("robin"), "dawn dusk noon");
    sing("one", "robin", "{name: dusk}");
    assert_eq!(songs("robin"), "dusk noon");
    k.ok("delete bird robin");
    // What client-side apply made, kubectl gives to the first that applies at the server.
    sing("other", "wren", "{name: noon, seconds: 1}");
    assert_eq!(songs("wren"), "noon");
    let diff = k.answer("diff -f -", &wren.replace("brown", "grey"));
    assert!(diff.code == 1 && diff.stdout.contains("grey"), "{diff}");
    let mut edit = k.command("edit bird wren");
    assert_eq!(run(edit.env("KUBE_EDITOR", "sed -i s/red/grey/"), "").success(), "bird.kinglet.dev/wren edited\n");

    k.ok("delete bird wren");
    k.give("apply -f -", &wren);
    k.ok("delete crd birds.kinglet.dev --timeout=60s");
    k.refuses("get birds", "");
}
