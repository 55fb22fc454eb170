//! Changes of what is there: apply, edit, patch, label, set, replace.

use std::process::Command;

use testkit::run;

use crate::client::Client;

const PLAIN: &str = "\
apiVersion: v1
kind: ConfigMap
metadata: {name: applied, labels: {set: one}}
data: {a: '1', b: '2'}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: applied, labels: {set: one}}
spec:
  replicas: 0
  selector: {matchLabels: {app: applied}}
  template:
    metadata: {labels: {app: applied}}
    spec:
      containers:
      - {name: c, image: 'kinglet.dev/shell:1', env: [{name: A, value: '1'}, {name: B, value: '2'}]}
      - {name: d, image: 'kinglet.dev/shell:1'}
---
apiVersion: v1
kind: Service
metadata: {name: applied, labels: {set: one}}
spec: {selector: {app: applied}, ports: [{name: a, port: 80}, {name: b, port: 81}]}
";

pub fn apply(k: &Client) {
    assert_eq!(
        k.give("apply -f -", PLAIN),
        "configmap/applied created\ndeployment.apps/applied created\nservice/applied created\n"
    );
    let again = k.give("apply -f -", PLAIN);
    assert_eq!(again.matches(" unchanged\n").count(), 3, "{again}");
    assert_eq!(k.answer("diff -f -", PLAIN).code, 0);

    // An environment variable, a container and a port go; a value changes.
    let changed = PLAIN.replace("b: '2'", "b: '3'").replace(", {name: B, value: '2'}", "");
    let changed =
        changed.replace("      - {name: d, image: 'kinglet.dev/shell:1'}\n", "").replace(", {name: b, port: 81}", "");
    let difference = k.answer("diff -f -", &changed);
    assert_eq!(difference.code, 1, "{difference}");
    for line in ["-  b: \"2\"", "+  b: \"3\"", "-        - name: B", "-    - name: b"] {
        let line = line.trim_start_matches(['-', '+']).trim();
        assert!(
            difference.stdout.lines().any(|l| l.starts_with(['-', '+']) && l.contains(line)),
            "{line}: {difference}"
        );
    }
    k.refuses_input("diff -f -", "{apiVersion: v1, kind: Bogus, metadata: {name: a}}", "no matches for kind");
    let server = k.answer("diff --server-side --force-conflicts -f -", &changed);
    assert!(server.code == 1 && server.stdout.contains("+  b: \"3\""), "{server}");
    assert_eq!(k.give("apply -f - --dry-run=server", &changed).matches("(server dry run)").count(), 3);
    let configured = k.give("apply -f -", &changed);
    assert_eq!(configured.matches(" configured\n").count(), 3, "{configured}");
    assert_eq!(k.ok("get deployment applied -o jsonpath={..containers[*].env[*].name}{..containers[*].name}"), "Ac");
    assert_eq!(k.ok("get service applied -o jsonpath={.spec.ports[*].port}"), "80");

    k.says("apply view-last-applied configmap/applied", "b: \"3\"");
    let file = k.file("applied.yaml", &PLAIN[..PLAIN.find("---").expect("three documents")]);
    k.says(&format!("apply set-last-applied -f {file}"), "configmap/applied configured");
    k.says("apply view-last-applied configmap/applied -o json", "\"b\": \"2\"");
    let mut edit = k.command("apply edit-last-applied configmap/applied");
    edit.env("KUBE_EDITOR", "sed -i s/set:/sets:/");
    assert!(run(&mut edit, "").success().contains("edited"));
    // What was not created by apply, yet is applied: a warning, once.
    k.ok("create configmap bare --from-literal=a=1");
    let bare = "{apiVersion: v1, kind: ConfigMap, metadata: {name: bare}, data: {a: '2'}}";
    let warned = k.answer("apply -f -", bare);
    assert!(
        warned.code == 0 && warned.stderr.contains("missing the kubectl.kubernetes.io/last-applied-configuration"),
        "{warned}"
    );
    assert_eq!(k.answer("apply -f -", bare).stderr, "");
    let immutable = PLAIN
        .replace("matchLabels: {app: applied}", "matchLabels: {app: other}")
        .replace("labels: {app: applied}", "labels: {app: other}");
    k.refuses_input("apply -f -", &immutable, "field is immutable");
    kustomize(k);
}

fn kustomize(k: &Client) {
    k.file("kustom/base.yaml", "{apiVersion: v1, kind: Service, metadata: {name: made}, spec: {ports: [{port: 80}]}}");
    let text =
        "namePrefix: kustom-\nresources: [base.yaml]\nconfigMapGenerator: [{name: generated, literals: [a=1]}]\n";
    let folder = k.file("kustom/kustomization.yaml", text).replace("/kustomization.yaml", "");
    k.says(&format!("kustomize {folder}"), "name: kustom-made");
    k.says(&format!("apply -k {folder}"), "service/kustom-made created");
    k.says(&format!("get -k {folder} -o name"), "configmap/kustom-generated-");
    assert_eq!(k.answer(&format!("diff -k {folder}"), "").code, 0);
    k.says(&format!("delete -k {folder}"), "service \"kustom-made\" deleted");
}

pub fn apply_on_the_server(k: &Client) {
    // From client-side to server-side, without a conflict with oneself.
    let text = &PLAIN[..PLAIN.find("---").expect("three documents")];
    let sided = k.give("apply --server-side -f -", &PLAIN.replace("name: applied", "name: sided"));
    assert_eq!(sided.matches(" serverside-applied\n").count(), 3, "{sided}");
    k.give("apply -f -", text);
    k.give("apply --server-side -f -", text);
    let managers =
        k.ok("get configmap applied --show-managed-fields -o jsonpath={.metadata.managedFields[*].operation}");
    assert!(managers.contains("Apply"), "{managers}");
    k.give("apply --server-side -f -", &text.replace(", b: '2'", ""));
    assert_eq!(k.ok("get configmap applied -o jsonpath={.data}"), "{\"a\":\"1\"}");
    let other = text.replace("a: '1'", "a: other");
    let refused = k.answer("apply --server-side --field-manager=other -f -", &other);
    assert!(refused.code != 0, "{refused}");
    for part in ["Apply failed with ", "conflict with \"kubectl\"", ".data.a", "--force-conflicts"] {
        assert!(refused.stderr.contains(part), "{part}: {refused}");
    }
    k.give("apply --server-side --field-manager=other --force-conflicts -f -", &other);
    assert_eq!(k.ok("get configmap applied -o jsonpath={.data.a}"), "other");
    let lists = "{apiVersion: v1, kind: Service, metadata: {name: sided}, spec: {ports: [{name: c, port: 82}]}}";
    k.give("apply --server-side --field-manager=third -f -", lists);
    assert_eq!(k.ok("get service sided -o jsonpath={.spec.ports[*].name}"), "a b c");
    k.give("apply --server-side -f - --dry-run=server", &PLAIN.replace("name: applied", "name: sided"));
}

pub fn apply_with_pruning(k: &Client) {
    let two = "{apiVersion: v1, kind: ConfigMap, metadata: {name: kept, labels: {prune: yes-please}}}\n---\n\
               {apiVersion: v1, kind: ConfigMap, metadata: {name: pruned, labels: {prune: yes-please}}}\n";
    let one = two.split("---").next().expect("two documents");
    k.give("apply -f -", two);
    let pruned = k.give("apply -f - --prune -l prune=yes-please --prune-allowlist=core/v1/ConfigMap", one);
    assert_eq!(pruned, "configmap/kept unchanged\nconfigmap/pruned pruned\n");
    // The same by an apply set.
    let set = |text: &str| {
        let mut command = k.command("apply -n default -f - --prune --applyset=birds");
        run(command.env("KUBECTL_APPLYSET", "true"), &format!("---\n{text}")).success()
    };
    let set_of = |text: &str| text.replace("kept", "set-kept").replace("pruned", "set-pruned");
    set(&set_of(two));
    assert!(set(&set_of(one)).contains("configmap/set-pruned pruned"));
}

/// By kubectl 1.`minor`.
pub fn edit(k: &Client, minor: u32) {
    let edit = |line: &str, editor: &str| {
        let mut command: Command = k.command(line);
        command.env("KUBE_EDITOR", editor);
        run(&mut command, "")
    };
    let done = edit("edit configmap settings", "sed -i s/b:.*2.*/b:\\ edited/").success();
    assert_eq!(done, "configmap/settings edited\n");
    assert_eq!(k.ok("get configmap settings -o jsonpath={.data.b}"), "edited");
    let idle = |line: &str| {
        let idle = edit(line, "true");
        assert!(idle.code == 0 && idle.stderr.contains("no changes made"), "{idle}");
    };
    idle("edit configmap settings");
    // Changes it once: old kubectl opens what is invalid again until nothing changes any more.
    let bad = edit("edit deployment applied", "sed -i s/matchLabels:$/matchLabels:\\ {a:\\ b}\\\\n\\ \\ \\ \\ x:/");
    assert!(bad.code != 0, "{bad}");
    let scale = "edit deployment applied --subresource=scale";
    if minor < 32 {
        k.refuses(scale, "invalid subresource value");
    } else {
        idle(scale);
    }
    edit("edit deployment applied -o json --windows-line-endings=false", "sed -i s/\\\"set\\\"/\\\"sets\\\"/")
        .success();
}

pub fn patches(k: &Client) {
    for (line, path, value) in [
        ("configmap settings --type=merge -p '{\"data\":{\"c\":\"3\",\"a\":null}}'", "{.data.c}{.data.a}", "3"),
        (
            "configmap settings --type=json -p '[{\"op\":\"replace\",\"path\":\"/data/c\",\"value\":\"4\"}]'",
            "{.data.c}",
            "4",
        ),
        (
            "configmap settings --type=json -p '[{\"op\":\"test\",\"path\":\"/data/c\",\"value\":\"4\"},{\"op\":\"move\",\"from\":\"/data/c\",\"path\":\"/data/d\"}]'",
            "{.data.c}{.data.d}",
            "4",
        ),
        (
            "deployment applied -p '{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"e\",\"image\":\"x\"}]}}}}'",
            "{..containers[*].name}",
            "e c",
        ),
        (
            "deployment applied -p '{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"e\",\"$patch\":\"delete\"}]}}}}'",
            "{..containers[*].name}",
            "c",
        ),
        (
            "deployment applied -p '{\"spec\":{\"strategy\":{\"$retainKeys\":[\"type\"],\"type\":\"Recreate\"}}}'",
            "{.spec.strategy}",
            "{\"type\":\"Recreate\"}",
        ),
        (
            "deployment applied --subresource=scale --type=merge -p '{\"spec\":{\"replicas\":0}}'",
            "{.spec.replicas}",
            "0",
        ),
        (
            "deployment applied --subresource=status --type=merge -p '{\"status\":{\"observedGeneration\":7}}'",
            "{.metadata.name}",
            "applied",
        ),
    ] {
        k.says(&format!("patch {line}"), "patched");
        let what = line.split(" -").next().expect("a name");
        assert_eq!(k.ok(&format!("get {what} -o jsonpath={path}")), value, "{line}");
    }
    k.says("patch configmap settings --type=merge -p '{}'", "patched (no change)");
    k.refuses("patch configmap settings --type=json -p '[{\"op\":\"test\",\"path\":\"/data/d\",\"value\":\"x\"}]'", "");
    k.refuses(
        "patch configmap settings --type=json -p '[{\"op\":\"remove\",\"path\":\"/data/nothing\"}]'",
        "The request is invalid",
    );
    let file = k.file("patch.yaml", "data: {f: '6'}\n");
    k.says(&format!("patch configmap settings --patch-file={file} -o yaml"), "f: \"6\"");
}

pub fn labels_and_annotations(k: &Client) {
    assert_eq!(k.ok("label configmap settings x=1 y=2"), "configmap/settings labeled\n");
    assert_eq!(k.ok("label configmap settings x=1"), "configmap/settings not labeled\n");
    k.refuses("label configmap settings x=3", "already has a value");
    k.ok("label configmap settings x=3 --overwrite");
    assert_eq!(k.ok("label configmap settings x- y-"), "configmap/settings unlabeled\n");
    k.says("label configmap settings --list", "kind=a");
    k.ok("label configmaps --all everywhere=yes");
    k.refuses("label configmap settings 'x=a b'", "a valid label must be an empty string");
    k.says("annotate configmap settings note=x", "configmap/settings annotate");
    k.refuses("annotate configmap settings note=y", "");
    k.ok("annotate configmap settings note=y --overwrite");
    assert_eq!(k.ok("get configmap settings -o jsonpath={.metadata.annotations.note}"), "y");
    k.says("annotate configmap settings note-", "configmap/settings annotate");
    k.refuses("label configmap settings a=b --resource-version=1", "the object has been modified");
}

pub fn set(k: &Client) {
    for (line, path, value) in [
        ("image deployment/applied c=kinglet.dev/shell:2", "{..containers[0].image}", "kinglet.dev/shell:2"),
        ("env deployment/applied NEW=1 A-", "{..env[*].name}", "NEW"),
        (
            "env deployment/applied --from=configmap/settings --prefix=P_",
            "{..env[?(@.name=='P_D')].valueFrom.configMapKeyRef.key}",
            "d",
        ),
        (
            "resources deployment/applied --limits=cpu=100m,memory=64Mi --requests=cpu=10m",
            "{..resources.requests.cpu}",
            "10m",
        ),
        ("serviceaccount deployment/applied robot", "{..serviceAccountName}", "robot"),
    ] {
        let what = line.split(' ').nth(1).expect("an object");
        let output = k.ask(&format!("set {line}"));
        assert!(output.code == 0, "{output}");
        let found =
            k.command(&format!("get {what}")).arg("-o").arg(format!("jsonpath={path}")).output().expect("kubectl runs");
        assert_eq!(String::from_utf8_lossy(&found.stdout), value, "{line}");
    }
    k.says("set env deployment/applied --list", "NEW=1");
    k.says("set selector service applied app=other", "selector updated");
    k.says("set subject rolebinding reader --user=eve", "subjects updated");
    assert_eq!(k.ok("get rolebinding reader -o jsonpath={.subjects[*].name}"), "robot eve");
}

pub fn replace(k: &Client) {
    let text = k.ok("get configmap settings -o yaml");
    let replaced = text.replacen("\ndata:\n", "\ndata:\n  replaced: '1'\n", 1);
    assert_eq!(k.give("replace -f -", &replaced), "configmap/settings replaced\n");
    k.refuses_input(
        "replace -f -",
        &replaced,
        "the object has been modified; please apply your changes to the latest version and try again",
    );
    let before = k.ok("get configmap settings -o jsonpath={.metadata.uid}");
    let anew = "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, labels: {kind: a}}, data: {b: '2'}}";
    let forced = k.give("replace --force -f -", anew);
    assert!(forced.contains("deleted") && forced.contains("configmap/settings replaced\n"), "{forced}");
    assert_ne!(k.ok("get configmap settings -o jsonpath={.metadata.uid}"), before);
    k.refuses_input("replace -f -", &anew.replace("settings", "nothing"), "(NotFound)");
}
