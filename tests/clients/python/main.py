"""A client of Kinglet that is made of the Python client library.

Each check prints a line, `ok NAME` or `FAILED NAME: why`; the exit code says whether all are well.
Arguments choose checks by name; `tour` chooses the tour of the client matrix, whose objects are those of `$TOUR`.
"""

import os
import sys
import threading
import time
import traceback

from kubernetes import client, config, dynamic, informer, utils, watch
from kubernetes.client.rest import ApiException
from kubernetes.leaderelection import electionconfig, leaderelection
from kubernetes.leaderelection.resourcelock.leaselock import LeaseLock
from kubernetes.stream import portforward, stream

NAMESPACE = "python"
SHELL = "kinglet.dev/shell:1"


def eventually(what, done, patience=60):
    end = time.monotonic() + patience
    while not done():
        assert time.monotonic() < end, f"{what}: not within {patience} s"
        time.sleep(0.05)


def refused(status, reason, call, *args, **options):
    try:
        call(*args, **options)
    except ApiException as error:
        assert error.status == status and reason in (error.body or ""), error
        return error
    raise AssertionError(f"{call.__name__} should have been refused with {status}")


def config_map(name, data=None, labels=None):
    return client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name, labels=labels), data=data)


def version(_):
    found = client.VersionApi().get_code()
    assert found.major == "1" and found.minor.startswith("37"), found
    groups = {group.name for group in client.ApisApi().get_api_versions().groups}
    assert {"apps", "batch", "rbac.authorization.k8s.io"} <= groups, groups


def typed(core):
    made = core.create_namespaced_config_map(NAMESPACE, config_map("typed", {"a": "1"}))
    assert made.metadata.uid and made.metadata.creation_timestamp.tzinfo, made
    made.data["b"] = "2"
    core.replace_namespaced_config_map("typed", NAMESPACE, made)
    refused(409, "the object has been modified", core.replace_namespaced_config_map, "typed", NAMESPACE, made)
    core.patch_namespaced_config_map("typed", NAMESPACE, {"data": {"a": None, "c": "3"}})
    core.patch_namespaced_config_map("typed", NAMESPACE, [{"op": "add", "path": "/data/d", "value": "4"}])
    got = core.read_namespaced_config_map("typed", NAMESPACE)
    assert got.data == {"b": "2", "c": "3", "d": "4"}, got.data
    refused(404, 'configmaps \\"nothing\\" not found', core.read_namespaced_config_map, "nothing", NAMESPACE)
    refused(409, "AlreadyExists", core.create_namespaced_config_map, NAMESPACE, config_map("typed"))
    refused(422, "Invalid", core.create_namespaced_config_map, NAMESPACE, config_map("Not_A_Name"))
    core.create_namespaced_config_map(NAMESPACE, config_map("dry"), dry_run="All")
    refused(404, "NotFound", core.read_namespaced_config_map, "dry", NAMESPACE)
    core.delete_namespaced_config_map("typed", NAMESPACE)


def lists(core):
    for number in range(12):
        core.create_namespaced_config_map(NAMESPACE, config_map(f"list-{number:02}", labels={"list": "yes"}))
    names, token = [], None
    while token != "":
        page = core.list_namespaced_config_map(NAMESPACE, label_selector="list=yes", limit=5, _continue=token)
        names += [item.metadata.name for item in page.items]
        token = page.metadata._continue or ""
    assert len(names) == 12, names
    core.delete_collection_namespaced_config_map(NAMESPACE, label_selector="list=yes")
    assert core.list_namespaced_config_map(NAMESPACE, label_selector="list=yes").items == []


def watches(core):
    start = core.list_namespaced_config_map(NAMESPACE).metadata.resource_version
    core.create_namespaced_config_map(NAMESPACE, config_map("watched"))
    core.patch_namespaced_config_map("watched", NAMESPACE, {"data": {"a": "1"}})
    core.delete_namespaced_config_map("watched", NAMESPACE)
    watcher, seen = watch.Watch(), []
    for event in watcher.stream(core.list_namespaced_config_map, NAMESPACE, resource_version=start, timeout_seconds=30):
        seen.append((event["type"], event["object"].metadata.name))
        if event["type"] == "DELETED":
            watcher.stop()
    assert seen == [(kind, "watched") for kind in ("ADDED", "MODIFIED", "DELETED")], seen


def workloads(core):
    apps = client.AppsV1Api()
    labels = {"app": "python"}
    pod = client.V1PodSpec(containers=[client.V1Container(name="c", image=SHELL, command=["sleep", "1000"])], termination_grace_period_seconds=0)
    template = client.V1PodTemplateSpec(metadata=client.V1ObjectMeta(labels=labels), spec=pod)
    spec = client.V1DeploymentSpec(replicas=1, selector=client.V1LabelSelector(match_labels=labels), template=template)
    apps.create_namespaced_deployment(NAMESPACE, client.V1Deployment(metadata=client.V1ObjectMeta(name="python"), spec=spec))
    eventually("a ready pod", lambda: apps.read_namespaced_deployment_status("python", NAMESPACE).status.ready_replicas == 1)
    name = core.list_namespaced_pod(NAMESPACE, label_selector="app=python").items[0].metadata.name
    printed = stream(core.connect_get_namespaced_pod_exec, name, NAMESPACE, command=["echo", "hello"], stdout=True, stderr=True, stdin=False, tty=False)
    assert printed == "hello\n", printed
    shell = stream(core.connect_get_namespaced_pod_exec, name, NAMESPACE, command=["sh"], stdin=True, stdout=True, stderr=True, tty=False, _preload_content=False)
    shell.write_stdin("echo from stdin; exit 3\n")
    shell.run_forever(timeout=30)
    assert shell.read_stdout() == "from stdin\n" and shell.returncode == 3, shell.returncode
    assert core.read_namespaced_pod_log(name, NAMESPACE) == ""
    scale = apps.patch_namespaced_deployment_scale("python", NAMESPACE, {"spec": {"replicas": 0}})
    assert scale.spec.replicas == 0, scale
    apps.delete_namespaced_deployment("python", NAMESPACE, propagation_policy="Foreground")
    eventually("all is gone", lambda: not core.list_namespaced_pod(NAMESPACE, label_selector="app=python").items)


def manifests(core):
    documents = [
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "made"}, "spec": {"ports": [{"port": 80}]}},
        {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "made"}, "spec": {"schedule": "@daily", "suspend": True, "jobTemplate": {
            "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": SHELL}]}}}}}},
        {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"name": "made"}, "spec": {"podSelector": {}}},
        {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "made"}, "spec": {
            "maxReplicas": 2, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "made"}}},
    ]
    for document in documents:
        utils.create_from_dict(client.ApiClient(), document, namespace=NAMESPACE)
    made = client.BatchV1Api().read_namespaced_cron_job("made", NAMESPACE)
    assert made.spec.successful_jobs_history_limit == 3, made.spec
    assert core.read_namespaced_service("made", NAMESPACE).spec.cluster_ip


def dynamically(_):
    api = dynamic.DynamicClient(client.ApiClient())
    maps = api.resources.get(api_version="v1", kind="ConfigMap")
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "dynamic"}, "data": {"a": "1"}}
    applied = maps.server_side_apply(body=body, name="dynamic", namespace=NAMESPACE, field_manager="python")
    assert applied.metadata.managedFields[0].manager == "python", applied
    try:
        body["data"]["a"] = "2"
        maps.server_side_apply(body=body, name="dynamic", namespace=NAMESPACE, field_manager="other")
        raise AssertionError("no conflict")
    except dynamic.exceptions.ConflictError as error:
        assert 'conflict with \\"python\\": .data.a' in error.body, error.body
    maps.patch(body={"data": {"b": "2"}}, name="dynamic", namespace=NAMESPACE, content_type="application/merge-patch+json")
    assert maps.get(name="dynamic", namespace=NAMESPACE).data.b == "2"
    assert [item.metadata.name for item in maps.get(namespace=NAMESPACE, label_selector="!none").items if item.metadata.name == "dynamic"]
    maps.delete(name="dynamic", namespace=NAMESPACE)


def custom(_):
    definition = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "eggs.python.kinglet.dev"}, "spec": {
        "group": "python.kinglet.dev", "scope": "Namespaced", "names": {"plural": "eggs", "singular": "egg", "kind": "Egg"},
        "versions": [{"name": "v1", "served": True, "storage": True, "subresources": {"status": {}}, "schema": {"openAPIV3Schema": {
            "type": "object", "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer", "maximum": 9}}},
                                             "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}}}]}}
    definitions = client.ApiextensionsV1Api()
    definitions.create_custom_resource_definition(definition)
    established = lambda: any(c.type == "Established" and c.status == "True" for c in definitions.read_custom_resource_definition("eggs.python.kinglet.dev").status.conditions or [])
    eventually("the kind is served", established)
    eggs, where = client.CustomObjectsApi(), ("python.kinglet.dev", "v1", NAMESPACE, "eggs")
    egg = {"apiVersion": "python.kinglet.dev/v1", "kind": "Egg", "metadata": {"name": "blue"}, "spec": {"size": 3, "pruned": 1}}
    made = eggs.create_namespaced_custom_object(*where, egg)
    assert made["spec"] == {"size": 3}, made
    egg["metadata"]["name"], egg["spec"]["size"] = "big", 10
    refused(422, "should be less than or equal to 9", eggs.create_namespaced_custom_object, *where, egg)
    eggs.patch_namespaced_custom_object(*where, "blue", {"spec": {"size": 4}})
    eggs.patch_namespaced_custom_object_status(*where, "blue", {"status": {"laid": True}})
    seen = eggs.list_namespaced_custom_object(*where)["items"]
    assert len(seen) == 1 and seen[0]["spec"]["size"] == 4 and seen[0]["status"] == {"laid": True}, seen
    # The dynamic client finds the new kind by discovery.
    found = dynamic.DynamicClient(client.ApiClient()).resources.get(api_version="python.kinglet.dev/v1", kind="Egg")
    assert found.get(name="blue", namespace=NAMESPACE).spec.size == 4
    definitions.delete_custom_resource_definition("eggs.python.kinglet.dev")
    gone = lambda: all(d.metadata.name != "eggs.python.kinglet.dev" for d in definitions.list_custom_resource_definition().items)
    eventually("the kind is gone", gone)


def election(_):
    leading = threading.Event()
    lock = LeaseLock("python-leader", NAMESPACE, "one")
    wanted = electionconfig.Config(lock, lease_duration=6, renew_deadline=4, retry_period=1, onstarted_leading=leading.set, onstopped_leading=None)
    threading.Thread(target=leaderelection.LeaderElection(wanted).run, daemon=True).start()
    assert leading.wait(60), "nobody leads"
    lease = client.CoordinationV1Api().read_namespaced_lease("python-leader", NAMESPACE)
    assert lease.spec.holder_identity == "one", lease


def tour_create(_):
    made = utils.create_from_yaml(client.ApiClient(), os.environ["TOUR"], namespace=NAMESPACE)
    assert made, made


def tour_json(core):
    patch = [{"op": "test", "path": "/data/a", "value": "1"}, {"op": "replace", "path": "/data/a", "value": "2"}]
    patched = core.patch_namespaced_config_map("tour", NAMESPACE, patch, _content_type="application/json-patch+json")
    assert patched.data == {"a": "2"}, patched.data


def tour_merge(core):
    patch = {"data": {"a": None, "b": "3"}}
    patched = core.patch_namespaced_config_map("tour", NAMESPACE, patch, _content_type="application/merge-patch+json")
    assert patched.data == {"b": "3"}, patched.data


def tour_strategic(core):
    patch = {"spec": {"ports": [{"name": "more", "port": 81}]}}
    patched = core.patch_namespaced_service("tour", NAMESPACE, patch, _content_type="application/strategic-merge-patch+json")
    assert len(patched.spec.ports) == 2, patched.spec.ports


def tour_apply(core):
    def by(manager, value):
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "tour"}, "data": {"c": value}}
        return core.patch_namespaced_config_map("tour", NAMESPACE, body, field_manager=manager, _content_type="application/apply-patch+yaml")

    assert by("tour", "4").data["c"] == "4"
    refused(409, 'conflict with \\"tour\\": .data.c', by, "other", "5")


def rolled_out(replicas):
    def done():
        found = client.AppsV1Api().read_namespaced_deployment("tour", NAMESPACE)
        status = found.status
        counts = [status.replicas, status.updated_replicas, status.available_replicas]
        return (status.observed_generation or 0) >= found.metadata.generation and counts == [replicas] * 3

    eventually("all replicas", done)


def tour_pod(core):
    rolled_out(1)
    [pod] = core.list_namespaced_pod(NAMESPACE, label_selector="app=tour").items
    return pod.metadata.name


def tour_exec(core):
    command = ["sh", "-c", "read line; echo $line; exit 3"]
    shell = stream(core.connect_get_namespaced_pod_exec, tour_pod(core), NAMESPACE, command=command, stdin=True, stdout=True, stderr=True, tty=False, _preload_content=False)
    shell.write_stdin("hello\n")
    shell.run_forever(timeout=10)
    printed, code = shell.read_stdout(timeout=1), shell.returncode
    assert (printed, code) == ("hello\n", 3), (printed, code)


def tour_logs(core):
    log = core.read_namespaced_pod_log(tour_pod(core), NAMESPACE)
    assert "started" in log.splitlines(), log


def tour_forward(core):
    forward = portforward(core.connect_get_namespaced_pod_portforward, tour_pod(core), NAMESPACE, ports="80")
    connection, page = forward.socket(80), b""
    connection.settimeout(30)
    connection.sendall(b"GET / HTTP/1.0\r\nHost: tour\r\n\r\n")
    while part := connection.recv(4096):
        page += part
    assert b"Welcome to nginx!" in page and forward.error(80) is None, (page, forward.error(80))


def tour_scale(_):
    apps = client.AppsV1Api()
    scale = apps.patch_namespaced_deployment_scale("tour", NAMESPACE, {"spec": {"replicas": 2}})
    assert scale.spec.replicas == 2, scale
    rolled_out(2)


def tour_rollout(_):
    apps = client.AppsV1Api()
    again = {"metadata": {"annotations": {"kubectl.kubernetes.io/restartedAt": str(time.time())}}}
    apps.patch_namespaced_deployment("tour", NAMESPACE, {"spec": {"template": again}})
    rolled_out(2)
    sets = apps.list_namespaced_replica_set(NAMESPACE, label_selector="app=tour").items
    assert len(sets) == 2, sets


def tour_delete(core):
    apps = client.AppsV1Api()
    apps.delete_namespaced_deployment("tour", NAMESPACE, propagation_policy="Foreground")
    core.delete_namespaced_service("tour", NAMESPACE)
    core.delete_namespaced_config_map("tour", NAMESPACE)
    eventually("the deployment is gone", lambda: not apps.list_namespaced_deployment(NAMESPACE).items)
    assert not core.list_namespaced_pod(NAMESPACE, label_selector="app=tour").items


def tour_informer(core):
    seen = []
    follower = informer.SharedInformer(core.list_namespaced_config_map, namespace=NAMESPACE, label_selector="informed")
    for event in (informer.ADDED, informer.MODIFIED, informer.DELETED):
        follower.add_event_handler(event, lambda _, event=event: seen.append(event))
    follower.start()
    core.create_namespaced_config_map(NAMESPACE, config_map("informed", labels={"informed": "yes"}))
    eventually("it is in the cache", lambda: follower.cache.list())
    core.patch_namespaced_config_map("informed", NAMESPACE, {"data": {"a": "1"}})
    core.delete_namespaced_config_map("informed", NAMESPACE)
    eventually("three events", lambda: len(seen) >= 3)
    follower.stop()
    assert seen == ["ADDED", "MODIFIED", "DELETED"] and not follower.cache.list(), seen


CHECKS = [version, typed, lists, watches, workloads, manifests, dynamically, election, custom]
TOUR = {
    "create": tour_create, "watch": watches, "json": tour_json, "merge": tour_merge, "strategic": tour_strategic, "apply": tour_apply,
    "exec": tour_exec, "logs": tour_logs, "forward": tour_forward, "scale": tour_scale, "rollout": tour_rollout, "delete": tour_delete,
    "informer": tour_informer, "election": election,
}


def chosen(names):
    if names == ["tour"]:
        return {f"tour/{name}": step for name, step in TOUR.items()}
    return {check.__name__: check for check in CHECKS if not names or check.__name__ in names}


def main():
    config.load_kube_config()
    core = client.CoreV1Api()
    core.create_namespace(client.V1Namespace(metadata=client.V1ObjectMeta(name=NAMESPACE)))
    service_account = lambda: core.list_namespaced_service_account(NAMESPACE).items
    eventually("the default service account", service_account)
    failed = False
    for name, check in chosen(sys.argv[1:]).items():
        try:
            check(core)
            print("ok", name, flush=True)
        except Exception:  # Whatever it is, it is told, and the next check begins.
            failed = True
            print("FAILED", name + ":", traceback.format_exc(limit=-3, chain=False), flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
