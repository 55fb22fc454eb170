//! install.sh and kinglet-uninstall.sh, in a network namespace, but with the real paths.

use std::{fs, path::Path, process::Command};

use testkit::{Lan, Output, binary, repository, run};

/// Everything that an installation may leave on the machine.
fn traces(host: &str) -> Vec<String> {
    let paths = [
        "/usr/local/bin/kinglet",
        "/usr/local/bin/kinglet-uninstall.sh",
        "/etc/kinglet",
        "/var/lib/kinglet",
        "/run/kinglet",
        "/var/log/kinglet.log",
    ];
    let mut found: Vec<String> = paths.iter().filter(|p| Path::new(p).exists()).map(|p| (*p).to_owned()).collect();
    let mounts = fs::read_to_string("/proc/mounts").unwrap();
    found.extend(
        mounts.lines().filter(|l| l.contains("/var/lib/kinglet") || l.contains("/run/kinglet")).map(str::to_owned),
    );
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let command = fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default();
        if command.contains("/var/lib/kinglet")
            || command.contains("/run/kinglet")
            || command.contains("/usr/local/bin/kinglet")
        {
            found.push(command.replace('\0', " "));
        }
    }
    let inside = |program: &str, args: &[&str]| run(in_host(host, program).args(args), "").stdout;
    let links = inside("ip", &["-o", "link"]);
    found.extend(links.lines().filter(|l| l.contains("kinglet") || l.contains("veth")).map(str::to_owned));
    found.extend(inside("ip", &["route"]).lines().filter(|l| l.contains("10.4")).map(str::to_owned));
    found.extend(inside("nft", &["list", "tables"]).lines().map(str::to_owned));
    found.extend(pod_cgroups());
    found
}

fn pod_cgroups() -> Vec<String> {
    let roots = fs::read_dir("/sys/fs/cgroup").unwrap().flatten().map(|e| e.path().join("kubepods"));
    roots
        .chain([Path::new("/sys/fs/cgroup/kubepods").to_owned()])
        .filter(|p| p.exists())
        .map(|p| p.display().to_string())
        .collect()
}

fn in_host(host: &str, program: &str) -> Command {
    let mut command = Command::new("nsenter");
    command.arg(format!("--net=/run/netns/{host}")).arg("--").arg(program);
    command
}

fn script(host: &str, path: &Path) -> Output {
    run(in_host(host, path.to_str().unwrap()).env("KINGLET_BINARY", binary()), "")
}

#[test]
fn install_twice_use_and_uninstall() {
    let lan = Lan::new();
    let (host, ip) = lan.host();
    assert_eq!(traces(&host), Vec::<String>::new(), "Kinglet is installed on this machine already");
    let install = repository().join("install.sh");

    let first = script(&host, &install).success();
    assert!(first.contains("Ready") && first.contains("export KUBECONFIG=/etc/kinglet/kubeconfig.yaml"), "{first}");
    let kubectl = |line: &str| {
        let mut command = in_host(&host, "kubectl");
        command.args(["--kubeconfig", "/etc/kinglet/kubeconfig.yaml"]).args(line.split_whitespace());
        run(&mut command, "").success()
    };
    assert!(kubectl("get nodes -o wide").contains(&ip.to_string()));
    kubectl("create configmap kept --from-literal=a=1");
    let shell = testkit::image("shell");
    run(in_host(&host, "/usr/local/bin/kinglet").args(["images", "import"]).arg(shell), "").success();
    run(
        in_host(&host, "kubectl").args(["--kubeconfig", "/etc/kinglet/kubeconfig.yaml", "apply", "-f", "-"]),
        blackbox::SHELL,
    )
    .success();
    kubectl("wait --for=condition=Ready pod/shell --timeout=120s");
    let container = kubectl("get pod shell -o jsonpath={.status.containerStatuses[0].containerID}");

    // Again: nothing breaks, nothing is lost, nothing restarts.
    script(&host, &install).success();
    assert!(kubectl("get configmap kept -o jsonpath={.data.a}").contains('1'));
    assert_eq!(kubectl("get pod shell -o jsonpath={.status.containerStatuses[0].containerID}"), container);

    let uninstall = Path::new("/usr/local/bin/kinglet-uninstall.sh");
    let output = script(&host, uninstall).success();
    assert!(output.contains("Kinglet is gone."), "{output}");
    assert_eq!(traces(&host), Vec::<String>::new());
}
