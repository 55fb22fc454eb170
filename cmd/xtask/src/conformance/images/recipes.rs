//! The images that tests of the conformance suite name (upstream's `test/utils/image/manifest.go`
//! of v1.37.2), and what is in them. Those that no conformance test uses are left out.

use crate::images::{GROUP, Layer, NGINX, NGINX_COMMAND, PASSWD, archive::Start};

/// An image as the registry has it.
#[derive(Debug)]
pub struct Recipe {
    /// Path in the registry.
    pub name: &'static str,
    pub tag: &'static str,
    /// Lowest first.
    pub layers: &'static [&'static Layer],
    pub start: Start,
}

/// Where the registries of upstream's list are in ours. One is left as upstream has it: the
/// invalid one, which is to fail.
pub const REGISTRIES: &[(&str, &str)] = &[
    ("promoterE2eRegistry", "/e2e-test-images"),
    ("buildImageRegistry", "/build-image"),
    ("gcEtcdRegistry", ""),
    ("gcRegistry", ""),
    ("sigStorageRegistry", "/sig-storage"),
    ("privateRegistry", "/private"),
    ("dockerLibraryRegistry", "/library"),
    ("cloudProviderGcpRegistry", "/cloud-provider-gcp"),
];

const fn agnhost(command: &'static [&'static str]) -> Start {
    Start { entrypoint: &["/agnhost"], command, user: "" }
}

/// The images. An older and a newer one of the same program are the same files here: tests see
/// that a pod goes from one to the other, not what is in them.
pub const RECIPES: &[Recipe] = &[
    Recipe { name: "e2e-test-images/agnhost", tag: "2.66.1", layers: &[&TOOLS, &AGNHOST], start: agnhost(&["pause"]) },
    Recipe { name: "e2e-test-images/agnhost", tag: "2.55", layers: &[&TOOLS, &AGNHOST], start: agnhost(&["pause"]) },
    Recipe {
        name: "e2e-test-images/kitten",
        tag: "1.8",
        layers: &[&TOOLS, &AGNHOST, &KITTEN],
        start: agnhost(&["test-webserver"]),
    },
    Recipe {
        name: "e2e-test-images/nautilus",
        tag: "1.8",
        layers: &[&TOOLS, &AGNHOST, &NAUTILUS],
        start: agnhost(&["test-webserver"]),
    },
    Recipe { name: "e2e-test-images/busybox", tag: "1.37.0-2", layers: &[&BUSYBOX], start: Start::command(&["sh"]) },
    Recipe {
        name: "e2e-test-images/nonroot",
        tag: "1.5",
        layers: &[&BUSYBOX],
        start: Start { user: "1234", ..Start::command(&["sh"]) },
    },
    Recipe {
        name: "pause",
        tag: "3.10.2",
        layers: &[&PAUSE],
        start: Start { entrypoint: &["/pause"], command: &[], user: "65535:65535" },
    },
    Recipe { name: "e2e-test-images/nginx", tag: "1.27.0-2", layers: &[&NGINX], start: Start::command(NGINX_COMMAND) },
    Recipe { name: "e2e-test-images/nginx", tag: "1.28.0-2", layers: &[&NGINX], start: Start::command(NGINX_COMMAND) },
    Recipe {
        name: "e2e-test-images/glibc-dns-testing",
        tag: "2.1.1",
        layers: &[&TOOLS],
        start: Start::command(&["sh"]),
    },
    Recipe {
        name: "e2e-test-images/nonewprivs",
        tag: "1.4",
        layers: &[&NONEWPRIVS],
        start: Start::command(&["/usr/local/bin/nnp"]),
    },
    Recipe {
        name: "e2e-test-images/sample-apiserver",
        tag: "1.29.2",
        layers: &[&SAMPLE_APISERVER],
        start: Start { entrypoint: &["/sample-apiserver"], ..Start::command(&[]) },
    },
    Recipe { name: "etcd", tag: "3.7.0-0", layers: &[&ETCD], start: Start::command(&["/usr/local/bin/etcd"]) },
];

/// The C library asks DNS first without it, and finds nothing of `/etc/hosts`.
const NSSWITCH: (&str, u32, &str) = ("/etc/nsswitch.conf", 0o644, "hosts: files dns\n");

/// A shell, and what asks DNS.
const TOOLS: Layer = Layer {
    name: "tools",
    packages: &["busybox", "bind9-dnsutils", "libc-bin"],
    take: &["/bin/busybox", "/usr/bin/dig", "/usr/bin/nslookup", "/usr/bin/getent"],
    write: &[PASSWD, GROUP, NSSWITCH],
    folders: &["/tmp", "/root"],
    applets: true,
    ..Layer::EMPTY
};

/// Above the tools. Tests run `bash`, `curl`, `nc` and CoreDNS in it, and look for its user and groups.
const AGNHOST: Layer = Layer {
    name: "agnhost",
    packages: &["bash", "curl", "netcat-openbsd", "iproute2", "iperf", "socat"],
    take: &["/bin/bash", "/usr/bin/curl", "/bin/nc.openbsd", "/bin/ip", "/bin/ss", "/usr/bin/iperf", "/usr/bin/socat"],
    copy: &[
        ("/agnhost", 0o755, "agnhost"),
        ("/coredns", 0o755, "coredns"),
        ("/localhost.crt", 0o644, "kubernetes/test/images/agnhost/porter/localhost.crt"),
        ("/localhost.key", 0o644, "kubernetes/test/images/agnhost/porter/localhost.key"),
    ],
    write: &[
        (
            PASSWD.0,
            PASSWD.1,
            "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\nuser-defined-in-image:x:1000:1000::/home/user-defined-in-image:/bin/sh\n",
        ),
        (
            GROUP.0,
            GROUP.1,
            "root:x:0:\nnogroup:x:65534:\nuser-defined-in-image:x:1000:\ngroup-defined-in-image:x:50000:user-defined-in-image\n",
        ),
    ],
    link: &[("/agnhost-2", "agnhost"), ("/bin/nc", "/bin/nc.openbsd")],
    folders: &["/uploads", "/home/user-defined-in-image"],
    ..Layer::EMPTY
};

/// The suite asks for this name in an image that it mounts as a volume.
const ALPINE: (&str, u32, &str) = ("/etc/os-release", 0o644, "NAME=\"Alpine Linux\"\nID=alpine\n");

const KITTEN: Layer = Layer {
    name: "kitten",
    copy: &[
        ("/kitten.jpg", 0o644, "kubernetes/test/images/kitten/html/kitten.jpg"),
        ("/data.json", 0o644, "kubernetes/test/images/kitten/html/data.json"),
    ],
    write: &[ALPINE],
    ..Layer::EMPTY
};

const NAUTILUS: Layer = Layer {
    name: "nautilus",
    copy: &[
        ("/nautilus.jpg", 0o644, "kubernetes/test/images/nautilus/html/nautilus.jpg"),
        ("/data.json", 0o644, "kubernetes/test/images/nautilus/html/data.json"),
    ],
    ..Layer::EMPTY
};

const BUSYBOX: Layer = Layer {
    name: "busybox",
    packages: &["busybox"],
    take: &["/bin/busybox"],
    write: &[PASSWD, GROUP, NSSWITCH],
    folders: &["/tmp", "/root", "/home", "/var/run"],
    applets: true,
    ..Layer::EMPTY
};

const PAUSE: Layer = Layer { name: "pause", copy: &[("/pause", 0o755, "pause")], ..Layer::EMPTY };

/// Set-user-ID, to show whether that is let through.
const NONEWPRIVS: Layer =
    Layer { name: "nonewprivs", copy: &[("/usr/local/bin/nnp", 0o4755, "nonewprivs")], ..Layer::EMPTY };

const SAMPLE_APISERVER: Layer =
    Layer { name: "sample-apiserver", copy: &[("/sample-apiserver", 0o755, "sample-apiserver")], ..Layer::EMPTY };

/// The distribution's, which is older than the tag says: only the sample API server uses it.
const ETCD: Layer = Layer {
    name: "etcd",
    packages: &["etcd-server"],
    take: &["/usr/bin/etcd"],
    link: &[("/usr/local/bin/etcd", "/usr/bin/etcd")],
    folders: &["/tmp"],
    ..Layer::EMPTY
};
