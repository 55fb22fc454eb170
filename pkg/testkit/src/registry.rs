//! A registry of images on a machine: Debian's `docker-registry`, plain HTTP.

use std::{
    fs::{self, File},
    net::{IpAddr, SocketAddr},
    path::Path,
    process::{Child, Stdio},
    time::Duration,
};

use crate::{Machine, eventually, run};

/// A registry that runs; ended when dropped.
pub struct Registry {
    address: SocketAddr,
    child: Child,
}

impl Registry {
    /// Serves the directory `data` on port 5000 of a machine. With `htpasswd` (lines `USER:BCRYPT`) only to those users.
    #[track_caller]
    pub fn start(machine: &Machine, data: &Path, htpasswd: Option<&str>) -> Self {
        let IpAddr::V4(ip) = machine.ip else { panic!("machines have IPv4 addresses") };
        let address = SocketAddr::from((ip, 5000));
        let dir = machine.dir().join("registry");
        fs::create_dir_all(&dir).expect("the test directory can be written");
        let mut config = format!(
            "version: 0.1\nlog: {{level: warn, accesslog: {{disabled: true}}}}\nhttp: {{addr: '{address}'}}\n\
             storage: {{filesystem: {{rootdirectory: '{}'}}}}\n",
            data.display()
        );
        if let Some(users) = htpasswd {
            let path = dir.join("htpasswd");
            fs::write(&path, users).expect("the test directory can be written");
            config += &format!("auth: {{htpasswd: {{realm: test, path: '{}'}}}}\n", path.display());
        }
        fs::write(dir.join("config.yml"), config).expect("the test directory can be written");
        let log = File::create(dir.join("log")).expect("the test directory can be written");
        let mut command = machine.command("docker-registry");
        command.arg("serve").arg(dir.join("config.yml")).stdin(Stdio::null());
        command.stdout(log.try_clone().expect("log can be shared")).stderr(log);
        let registry = Registry { address, child: command.spawn().expect("docker-registry can be started") };
        eventually("the registry answers", Duration::from_secs(30), || {
            run(machine.command("curl").args(["-s", &registry.url()]), "").code == 0
        });
        registry
    }

    /// `HOST:PORT`.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The root of its API.
    pub fn url(&self) -> String {
        format!("http://{}/v2/", self.address)
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
