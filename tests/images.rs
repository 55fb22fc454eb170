//! Images without a network: archives in a folder and by hand; and from a registry.

use std::time::Duration;

use testkit::{Cluster, Registry, eventually, image, run};

fn pod(cluster: &Cluster, name: &str, image: &str) {
    cluster.apply(&format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\nspec:\n  terminationGracePeriodSeconds: 0\n  containers:\n  \
         - {{name: c, image: '{image}', imagePullPolicy: Never, command: [sleep, infinity]}}\n"
    ));
}

#[test]
fn archives_of_every_form_are_imported() {
    // An OCI archive, plain, from the folder at start.
    let cluster = Cluster::start_with("images", 0, &["shell"], &[]);
    pod(&cluster, "from-folder", "kinglet.dev/shell:1");
    cluster.kubectl("wait --for=condition=Ready pod/from-folder --timeout=120s");

    // What nobody has imported is not there.
    pod(&cluster, "missing", "nginx:1.25");
    cluster.wait("the reason", || {
        cluster.get("pod missing", "{.status.containerStatuses[0].state.waiting.reason}") == "ErrImageNeverPull"
    });

    // A docker archive, gzip, by hand; the pod that waits for it starts.
    let mut import = cluster.server().kinglet("images import");
    let imported = run(import.arg(image("nginx")), "").success();
    assert_eq!(imported, "imported docker.io/library/nginx:1.25\n");
    cluster.kubectl("wait --for=condition=Ready pod/missing --timeout=120s");

    // The same, zstd.
    let zstd = cluster.server().dir().join("shell.tar.zst");
    run(std::process::Command::new("zstd").args(["-q", "-o"]).arg(&zstd).arg(image("shell")), "").success();
    let imported = run(cluster.server().kinglet("images import").arg(&zstd), "").success();
    assert_eq!(imported, "imported kinglet.dev/shell:1\n");

    // Garbage is refused by name.
    let garbage = cluster.server().dir().join("garbage.tar");
    std::fs::write(&garbage, "no archive").unwrap();
    let refused = run(cluster.server().kinglet("images import").arg(&garbage), "").failure();
    assert!(refused.contains("garbage.tar"), "{refused}");
}

/// User `node`, password `secret`.
const HTPASSWD: &str = "node:$2b$04$k3ij1KDsgGwlEaPWtdOTI.cctlGEarp3oMnm2m4XgjUQ/LHA8hrC.\n";

fn pulled_pod(cluster: &Cluster, name: &str, secret: &str) {
    cluster.apply(&format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\nspec:\n  terminationGracePeriodSeconds: 0\n  \
         imagePullSecrets: [{{name: {secret}}}]\n  containers:\n  \
         - {{name: c, image: 'hub.test/shell:1', imagePullPolicy: Always, command: [sleep, infinity]}}\n"
    ));
}

#[test]
fn a_registry_is_reached_by_its_mirror_and_with_credentials() {
    let mut cluster = Cluster::start_with("registry", 0, &[], &[]);
    let data = cluster.server().dir().join("registry/data");
    let registry = Registry::start(cluster.server(), &data, Some(HTPASSWD));
    let mut copy = cluster.server().command("skopeo");
    copy.args(["--insecure-policy", "copy", "--quiet", "--preserve-digests", "--dest-tls-verify=false"]);
    copy.args(["--dest-creds", "node:secret"]).arg(format!("oci-archive:{}", image("shell").display()));
    run(copy.arg(format!("docker://{}/team/shell:1", registry.address())), "").success();

    // A wrong file keeps the server from starting, and says where it is wrong.
    let file = cluster.server().dir().join("etc/registries.yaml");
    let mirrors = format!("mirrors:\n  hub.test:\n    endpoint: ['{}team']\n", registry.url());
    std::fs::write(&file, format!("{mirrors}    rewrite: {{'^': team/}}\n")).unwrap();
    cluster.server_mut().stop();
    cluster.server_mut().start();
    cluster.server().wait_for_log("etc/registries.yaml: mirrors.\"hub.test\".rewrite: containerd cannot");
    eventually("the end", Duration::from_secs(30), || !cluster.server_mut().is_running());
    cluster.server_mut().kill();

    // The mirror is asked, and wants to know by whom; the event says so.
    std::fs::write(&file, &mirrors).unwrap();
    cluster.server_mut().start();
    cluster.wait_ready();
    pulled_pod(&cluster, "stranger", "none");
    cluster.wait("the reason", || {
        let reason = cluster.get("pod stranger", "{.status.containerStatuses[0].state.waiting.reason}");
        ["ErrImagePull", "ImagePullBackOff"].contains(&&*reason)
    });
    cluster.wait("an event", || {
        let said = cluster.get("events --field-selector=involvedObject.name=stranger,reason=Failed", "{..message}");
        said.contains("hub.test/shell:1")
            && said.contains(&format!("{} failed", registry.address()))
            && said.contains("401")
    });

    // A pod may bring its own.
    cluster.kubectl(
        "create secret docker-registry own --docker-server=hub.test --docker-username=node --docker-password=secret",
    );
    pulled_pod(&cluster, "own", "own");
    cluster.kubectl("wait --for=condition=Ready pod/own --timeout=120s");

    // The node has them for all.
    let access = format!("configs:\n  '{}': {{auth: {{username: node, password: secret}}}}\n", registry.address());
    std::fs::write(&file, mirrors + &access).unwrap();
    cluster.server_mut().stop();
    cluster.server_mut().start();
    cluster.wait_ready();
    pulled_pod(&cluster, "any", "none");
    cluster.kubectl("wait --for=condition=Ready pod/any --timeout=120s");
}
