//! Images without a network: archives in a folder, and by hand.

use testkit::{Cluster, image, run};

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
