//! `kubectl create` in each of its forms.

use crate::client::Client;

/// What is created, how it is called then, and a value in it.
const GENERATORS: &[(&str, &str, &str, &str)] = &[
    ("namespace made", "namespace/made", "{.status.phase}", "Active"),
    ("configmap settings --from-literal=a=1 --from-literal=b=2", "configmap/settings", "{.data.b}", "2"),
    ("configmap from-file --from-file=text=FILE", "configmap/from-file", "{.data.text}", "x=y\n"),
    ("configmap from-env --from-env-file=FILE", "configmap/from-env", "{.data.x}", "y"),
    ("secret generic word --from-literal=k=v", "secret/word", "{.data.k}", "dg=="),
    (
        "secret docker-registry registry --docker-server=r.example --docker-username=u --docker-password=p",
        "secret/registry",
        "{.type}",
        "kubernetes.io/dockerconfigjson",
    ),
    ("secret tls pair --cert=ETC/pki/admin.crt --key=ETC/pki/admin.key", "secret/pair", "{.type}", "kubernetes.io/tls"),
    ("serviceaccount robot", "serviceaccount/robot", "{.metadata.name}", "robot"),
    (
        "deployment web --image=nginx:1.25 --replicas=2 --port=80",
        "deployment.apps/web",
        "{.spec.template.spec.containers[0].ports[0].containerPort}",
        "80",
    ),
    ("job once --image=kinglet.dev/shell:1 -- true", "job.batch/once", "{.spec.backoffLimit}", "6"),
    (
        "cronjob often --image=kinglet.dev/shell:1 --schedule '*/5 * * * *' -- true",
        "cronjob.batch/often",
        "{.spec.concurrencyPolicy}",
        "Allow",
    ),
    ("job manual --from=cronjob/often", "job.batch/manual", "{.metadata.ownerReferences[0].name}", "often"),
    ("service clusterip inside --tcp=80:8080", "service/inside", "{.spec.ports[0].targetPort}", "8080"),
    ("service nodeport ported --tcp=80", "service/ported", "{.spec.type}", "NodePort"),
    ("service loadbalancer balanced --tcp=80", "service/balanced", "{.spec.allocateLoadBalancerNodePorts}", "true"),
    ("service externalname away --external-name=example.org", "service/away", "{.spec.externalName}", "example.org"),
    (
        "role reader --verb=get,list --resource=pods,deployments.apps",
        "role.rbac.authorization.k8s.io/reader",
        "{.rules[1].apiGroups[0]}",
        "apps",
    ),
    (
        "rolebinding reader --role=reader --serviceaccount=default:robot",
        "rolebinding.rbac.authorization.k8s.io/reader",
        "{.roleRef.name}",
        "reader",
    ),
    (
        "clusterrole looker --verb=get --resource=nodes",
        "clusterrole.rbac.authorization.k8s.io/looker",
        "{.rules[0].verbs[0]}",
        "get",
    ),
    (
        "clusterrolebinding looker --clusterrole=looker --user=bob --group=birds",
        "clusterrolebinding.rbac.authorization.k8s.io/looker",
        "{.subjects[1].kind}",
        "Group",
    ),
    ("quota limit --hard=pods=10,requests.cpu=4 -n made", "resourcequota/limit", "{.spec.hard.pods}", "10"),
    (
        "poddisruptionbudget cautious --selector=app=web --min-available=1",
        "poddisruptionbudget.policy/cautious",
        "{.spec.minAvailable}",
        "1",
    ),
    (
        "priorityclass high --value=1000 --description=x",
        "priorityclass.scheduling.k8s.io/high",
        "{.preemptionPolicy}",
        "PreemptLowerPriority",
    ),
    (
        "ingress outside --class=none --rule=example.org/*=inside:80",
        "ingress.networking.k8s.io/outside",
        "{.spec.rules[0].http.paths[0].pathType}",
        "Prefix",
    ),
];

pub fn generators(k: &Client) {
    let file = k.file("file", "x=y\n");
    let etc = k.cluster.server().dir().join("etc").to_string_lossy().into_owned();
    for (line, name, path, value) in GENERATORS {
        let line = format!("create {line}").replace("FILE", &file).replace("ETC", &etc);
        let (before, rest) = line.split_once(" -- ").map_or((&*line, String::new()), |(b, r)| (b, format!(" -- {r}")));
        k.says(&format!("{before} --dry-run=client -o name{rest}"), name);
        k.says(&format!("{before} --dry-run=server -o yaml{rest}"), "uid:");
        assert_eq!(k.ok(&line), format!("{name} created\n"));
        let namespace = if line.contains("-n made") { " -n made" } else { "" };
        assert_eq!(k.ok(&format!("get {name}{namespace} -o jsonpath={path}")), *value, "{line}");
        k.refuses(&line, "already exists");
    }
    let token = k.ok("create token robot --duration=1h --audience=birds");
    assert_eq!(token.trim().split('.').count(), 3, "{token}");
    k.ok("create deployment several --image=nginx:1.25 --image=kinglet.dev/shell:1 --replicas=0 --save-config");
    k.refuses("create configmap BAD", "a lowercase RFC 1123 subdomain must consist of");
    k.refuses("create deployment x --image=y -n nowhere", "namespaces \"nowhere\" not found");
    k.refuses_input(
        "create -f -",
        "{apiVersion: v1, kind: Bogus, metadata: {name: a}}",
        "no matches for kind \"Bogus\"",
    );
    let loose = "{apiVersion: v1, kind: ConfigMap, metadata: {name: loose}, data: {a: '1'}, bogus: 1}";
    k.refuses_input("create -f -", loose, "strict decoding error: unknown field \"bogus\"");
    let warned = k.answer("create -f - --validate=warn", loose);
    assert!(warned.code == 0 && warned.stderr.contains("Warning: unknown field \"bogus\""), "{warned}");
    let silent = k.answer("replace -f - --validate=ignore", loose);
    assert!(silent.code == 0 && silent.stderr.is_empty(), "{silent}");
}
