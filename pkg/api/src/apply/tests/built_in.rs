//! Merges with the schema of the built-in types, as clients see them on a real cluster.

use super::*;
use crate::schema::builtin;

fn deployment() -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default", "labels": {"app": "web"}},
        "spec": {
            "replicas": 3, "selector": {"matchLabels": {"app": "web"}},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {
                    "containers": [{
                        "name": "web", "image": "nginx:1.25",
                        "ports": [{"containerPort": 80, "protocol": "TCP"}],
                        "resources": {"limits": {"cpu": "100m"}},
                        "env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
                    }],
                    "volumes": [{"name": "v", "emptyDir": {}}],
                },
            },
        },
    })
}

fn server() -> Server {
    let mut server = Server::new();
    server.schema = builtin();
    server.root = server.schema.find("io.k8s.api.apps.v1.Deployment").unwrap();
    server
}

#[test]
fn a_deployment_by_create() {
    let mut server = server();
    server.update("kubectl-create", |o| *o = deployment());
    let container = json!({
        ".": {}, "f:image": {}, "f:name": {},
        "f:env": {".": {}, "k:{\"name\":\"A\"}": {".": {}, "f:name": {}, "f:valueFrom": {".": {}, "f:fieldRef": {}}}},
        "f:ports": {".": {}, "k:{\"containerPort\":80,\"protocol\":\"TCP\"}": {
            ".": {}, "f:containerPort": {}, "f:protocol": {},
        }},
        "f:resources": {".": {}, "f:limits": {".": {}, "f:cpu": {}}},
    });
    assert_eq!(
        server.owners()["kubectl-create/Update"],
        json!({
            "f:metadata": {"f:labels": {".": {}, "f:app": {}}},
            "f:spec": {
                "f:replicas": {}, "f:selector": {},
                "f:strategy": {"f:rollingUpdate": {".": {}, "f:maxSurge": {}}, "f:type": {}},
                "f:template": {
                    "f:metadata": {"f:labels": {".": {}, "f:app": {}}},
                    "f:spec": {
                        "f:containers": {"k:{\"name\":\"web\"}": container},
                        "f:volumes": {".": {}, "k:{\"name\":\"v\"}": {".": {}, "f:emptyDir": {}, "f:name": {}}},
                    },
                },
            },
        })
    );
}

#[test]
fn a_deployment_by_apply() {
    let mut server = server();
    let mut applied = deployment();
    applied["status"] = json!({"replicas": 7});
    server.apply("kubectl", applied);
    assert_eq!(server.object.as_ref().unwrap().get("status"), None, "the main resource has no say in the status");
    server.update("kubectl-scale", |o| o["spec"]["replicas"] = 5.into());
    let status = server.refuse("kubectl", deployment());
    assert_eq!(
        status.message,
        "Apply failed with 1 conflict: conflict with \"kubectl-scale\" using apps/v1: .spec.replicas"
    );
    let mut without = deployment();
    without["spec"].as_object_mut().unwrap().remove("replicas");
    without["spec"]["template"]["spec"].as_object_mut().unwrap().remove("volumes");
    server.apply("kubectl", without);
    let spec = &server.content()["spec"];
    assert_eq!(spec["replicas"], 5);
    assert_eq!(spec["template"]["spec"].get("volumes"), None);

    server
        .try_apply(
            "ctl",
            json!({"kind": "Deployment", "spec": {"replicas": 9}, "status": {"replicas": 5}}),
            false,
            "status",
        )
        .unwrap();
    assert_eq!(server.owners()["ctl/Apply"], json!({"f:status": {"f:replicas": {}}}));
    assert_eq!(server.content()["status"], json!({"replicas": 5}));
}
