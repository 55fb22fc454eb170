//! What runs: rollouts, pods and their streams, nodes, rights, deletion.

use std::{
    fs,
    io::{BufRead as _, BufReader, Lines},
    process::{Child, ChildStdout},
};

use testkit::run;

use crate::client::Client;

pub fn rollouts(k: &Client) {
    k.says("rollout status deployment/web --timeout=120s", "successfully rolled out");
    k.ok("wait --for=condition=Available deployment/web --timeout=60s");
    k.ok("wait --for=jsonpath={.status.readyReplicas}=2 deployment/web --timeout=60s");
    k.ok("annotate deployment/web kubernetes.io/change-cause=second");
    k.ok("set env deployment/web X=1");
    k.ok("rollout status deployment/web --timeout=120s");
    k.says("rollout history deployment/web", "second");
    k.says("rollout history deployment/web --revision=2", "X:\t1");
    assert_eq!(k.ok("rollout pause deployment/web"), "deployment.apps/web paused\n");
    k.refuses("rollout pause deployment/web", "is already paused");
    assert_eq!(k.ok("rollout resume deployment/web"), "deployment.apps/web resumed\n");
    assert_eq!(k.ok("rollout undo deployment/web"), "deployment.apps/web rolled back\n");
    k.ok("rollout status deployment/web --timeout=120s");
    assert_eq!(k.ok("rollout restart deployment/web"), "deployment.apps/web restarted\n");
    k.ok("rollout status deployment/web --timeout=120s");
}

pub fn scaling(k: &Client) {
    assert_eq!(k.ok("scale deployment/web --replicas=1 --current-replicas=2"), "deployment.apps/web scaled\n");
    k.refuses("scale deployment/web --replicas=3 --current-replicas=2", "Expected replicas to be 2, was 1");
    k.says("get deployment web -o jsonpath={.spec.replicas}", "1");
    k.ok("autoscale deployment web --min=1 --max=3 --cpu-percent=50");
    assert_eq!(k.ok("get hpa web -o jsonpath={.spec.maxReplicas}"), "3");
    k.says("get horizontalpodautoscalers.v1.autoscaling web -o jsonpath={.spec.targetCPUUtilizationPercentage}", "50");
    k.says("get hpa", "Deployment/web");
    k.says("describe hpa web", "Deployment/web");
    k.ok("delete hpa web");
    k.ok("expose deployment web --port=80 --name=exposed");
    assert_eq!(k.ok("get service exposed -o jsonpath={.spec.selector.app}"), "web");
    k.cluster.wait("the service has its endpoint", || {
        !k.cluster.get("endpoints exposed", "{.subsets[0].addresses}").is_empty()
    });
}

pub fn pods(k: &Client) {
    assert_eq!(k.ok("run one --image=kinglet.dev/shell:1 --labels=run=one -- sleep 1000"), "pod/one created\n");
    k.ok("wait --for=condition=Ready pod/one --timeout=60s");
    assert_eq!(k.ok("exec one -- echo hello"), "hello\n");
    assert_eq!(k.answer("exec -i one -- cat", "through").success(), "through");
    assert_eq!(k.ask("exec one -- sh -c 'exit 7'").code, 7);
    k.says(
        "run quick --image=kinglet.dev/shell:1 --restart=Never --rm -i --quiet -- sh -c 'sleep 1; echo done'",
        "done\n",
    );
    k.ok("run talk --image=kinglet.dev/shell:1 --restart=Never -- sh -c 'echo first; echo second'");
    k.ok("wait --for=jsonpath={.status.phase}=Succeeded pod/talk --timeout=60s");
    assert_eq!(k.ok("logs talk"), "first\nsecond\n");
    assert_eq!(k.ok("logs talk --tail=1 --prefix"), "[pod/talk/talk] second\n");
    assert_eq!(k.ok("logs -l run=talk --all-containers"), "first\nsecond\n");
    k.says("logs deployment/web --limit-bytes=10", "");
    k.says("get pod talk", "Completed");
    k.says("events --for pod/talk", "Scheduled");
    k.says("events --types=Normal", "Started");
    k.says("get events --field-selector=involvedObject.name=talk,reason=Scheduled -o name", "event/");
    k.ok("debug one --image=kinglet.dev/shell:1 --copy-to=copy --container=more -- sleep 1000");
    assert_eq!(k.ok("get pod copy -o jsonpath={.spec.containers[*].name}"), "one more");
    k.says("cluster-info dump --namespaces=default", "\"kind\": \"PodList\"");
    k.refuses("logs nothing", "pods \"nothing\" not found");
}

/// Ports of a pod on the loopback interface of the server, until dropped.
pub struct Forward {
    kubectl: Child,
    /// kubectl prints more later, which somebody must take.
    _printed: Lines<BufReader<ChildStdout>>,
    port: String,
}

impl Forward {
    pub fn open(k: &Client, what: &str) -> Self {
        let mut kubectl = k.spawn(&format!("port-forward {what} :80"));
        let mut printed = BufReader::new(kubectl.stdout.take().expect("piped")).lines();
        let Some(Ok(line)) = printed.next() else { panic!("{:?}", kubectl.wait_with_output()) };
        let port = line.trim_start_matches("Forwarding from 127.0.0.1:").split(' ').next().expect("a port").to_owned();
        Forward { kubectl, _printed: printed, port }
    }

    /// What a web server behind it answers.
    pub fn page(&self, k: &Client) -> String {
        k.cluster.server().run(&format!("curl -s -m 10 http://127.0.0.1:{}/", self.port)).success()
    }
}

impl Drop for Forward {
    fn drop(&mut self) {
        self.kubectl.kill().expect("kubectl can be ended");
        self.kubectl.wait().expect("kubectl ends");
    }
}

pub fn files(k: &Client) {
    let file = k.file("copied", &"0123456789".repeat(5000));
    k.ok(&format!("cp {file} one:/tmp/copied"));
    k.ok(&format!("cp one:/tmp/copied {file}.back"));
    assert!(fs::read(&file).expect("our file") == fs::read(format!("{file}.back")).expect("the copy"));
}

/// What is open at the end stays open: a cluster that is stopped ends in time all the same.
#[must_use]
pub fn ports(k: &Client) -> Forward {
    let pod = k.ok("get pods -l app=web -o jsonpath={.items[0].metadata.name}");
    k.says(&format!("get --raw /api/v1/namespaces/default/pods/{pod}:80/proxy/"), "Welcome to nginx!");
    k.says("get --raw /api/v1/namespaces/default/services/exposed:80/proxy/", "Welcome to nginx!");
    let [_, of_pod] = ["service/exposed", &*format!("pod/{pod}")].map(|what| {
        let forward = Forward::open(k, what);
        let page = forward.page(k);
        assert!(page.contains("Welcome to nginx!"), "{page}");
        forward
    });
    of_pod
}

/// Who the client is. (Before 1.28 kubectl asks a version of the API that upstream has dropped.)
pub fn identity(k: &Client) {
    k.says("auth whoami", "kinglet-admin");
    k.says("auth whoami --as=bob --as-group=birds", "birds");
}

pub fn rights(k: &Client) {
    k.says("auth can-i create pods", "yes");
    assert_eq!(k.ask("auth can-i create pods --as=system:serviceaccount:default:robot").stdout, "no\n");
    k.says("auth can-i list pods --as=system:serviceaccount:default:robot", "yes");
    k.says("auth can-i get /metrics", "yes");
    k.says("auth can-i --list --as=system:serviceaccount:default:robot", "deployments.apps");
    k.says("auth can-i get pods --subresource=log -A", "yes");
    let role = "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: looker}, \
                rules: [{apiGroups: [''], resources: [nodes, pods], verbs: [get]}]}";
    assert!(k.give("auth reconcile -f -", role).contains("reconciled"));
    assert_eq!(k.ok("get clusterrole looker -o jsonpath={.rules[*].resources}").matches("pods").count(), 1);
    let token = k.ok("create token robot");
    let token = token.trim();
    let refused = "User \"system:serviceaccount:default:robot\" cannot list resource \"secrets\" in API group \"\" in the namespace \"default\"";
    let field = |path: &str| k.ok(&format!("config view --raw -o jsonpath={path}"));
    let bot = format!(
        "apiVersion: v1\nkind: Config\nclusters: [{{name: c, cluster: {{server: '{}', certificate-authority-data: {}}}}}]\n\
         users: [{{name: u, user: {{token: {token}}}}}]\ncontexts: [{{name: x, context: {{cluster: c, user: u}}}}]\ncurrent-context: x\n",
        field("{.clusters[0].cluster.server}"),
        field("{.clusters[0].cluster.certificate-authority-data}"),
    );
    let file = k.file("robot.yaml", &bot);
    let ask = |line: &str| run(k.command(line).env("KUBECONFIG", &file), "");
    assert!(ask("get pods").success().contains("one"));
    assert!(ask("get secrets").failure().contains(refused));
}

pub fn nodes(k: &Client) {
    assert_eq!(k.ok("taint nodes server-0 kinglet.dev/x=y:NoSchedule"), "node/server-0 tainted\n");
    k.refuses("taint nodes server-0 kinglet.dev/x=z:NoSchedule", "already has");
    assert_eq!(k.ok("taint nodes server-0 kinglet.dev/x-"), "node/server-0 untainted\n");
    assert_eq!(k.ok("cordon server-0"), "node/server-0 cordoned\n");
    k.says("get nodes", "Ready,SchedulingDisabled");
    assert_eq!(k.ok("uncordon server-0"), "node/server-0 uncordoned\n");
    k.refuses("drain server-0 --timeout=60s", "declare no controller");
    k.ok("delete pdb cautious");
    let drained = k.ok("drain server-0 --force --ignore-daemonsets --delete-emptydir-data --timeout=120s");
    assert!(drained.contains("node/server-0 drained"), "{drained}");
    k.ok("uncordon server-0");
    k.ok("rollout status deployment/web --timeout=120s");
}

pub fn deletion(k: &Client) {
    assert_eq!(k.ok("delete configmap from-env from-file --dry-run=server").matches("(server dry run)").count(), 2);
    k.says("delete configmaps -l kind=b", "configmap \"from-file\" deleted");
    k.says("delete configmap nothing --ignore-not-found", "");
    k.refuses("delete configmap nothing", "(NotFound)");
    k.ok("delete deployment web --cascade=orphan");
    assert!(!k.ok("get replicasets -l app=web -o name").is_empty());
    k.ok("delete replicasets -l app=web --cascade=foreground --timeout=60s");
    assert_eq!(k.ok("get pods -l app=web -o name"), "");
    k.ok("run short --image=kinglet.dev/shell:1 -- sleep 1000");
    k.ok("delete pod short --now --wait=false");
    k.ok("wait --for=delete pod/short --timeout=60s");
    k.ok("run shorter --image=kinglet.dev/shell:1 -- sleep 1000");
    let forced = k.ask("delete pod shorter --grace-period=0 --force");
    assert!(forced.code == 0 && forced.stderr.contains("Immediate deletion does not wait"), "{forced}");
    k.ok("delete job once manual");
    k.ok("delete cronjobs,ingresses,priorityclasses --all");
    k.ok("delete namespace made --timeout=60s");
    k.refuses("get namespace made", "(NotFound)");
}
