//! etcd processes on loopback, gone when dropped.

use std::{
    net::TcpListener,
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use tempfile::TempDir;

use crate::etcd::Settings;

struct Member {
    client: u16,
    peer: u16,
    child: Option<Child>,
}

/// A cluster.
pub struct Etcds {
    members: Vec<Member>,
    dir: TempDir,
}

/// A member that does nothing until this is dropped.
pub struct Stopped(u32);

fn signal(name: &str, id: u32) {
    assert!(Command::new("kill").args([name, &id.to_string()]).status().unwrap().success());
}

impl Drop for Stopped {
    fn drop(&mut self) {
        signal("-CONT", self.0);
    }
}

/// Free ports; others may take them before etcd does, which then ends, and the test with it.
fn free_ports(count: usize) -> Vec<u16> {
    let listeners: Vec<TcpListener> = (0..count).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    listeners.iter().map(|listener| listener.local_addr().unwrap().port()).collect()
}

impl Etcds {
    /// Starts a cluster and waits until all members listen.
    pub fn start(count: usize) -> Self {
        let ports = free_ports(2 * count);
        let members = ports.chunks(2).map(|pair| Member { client: pair[0], peer: pair[1], child: None }).collect();
        let mut etcds = Etcds { members, dir: tempfile::tempdir().unwrap() };
        for at in 0..count {
            etcds.spawn(at);
        }
        for at in 0..count {
            etcds.wait(at);
        }
        etcds
    }

    /// For a store on all members, the first one first.
    pub fn settings(&self) -> Settings {
        Settings::plain(self.members.iter().map(|member| format!("http://127.0.0.1:{}", member.client)))
    }

    fn spawn(&mut self, at: usize) {
        let cluster: Vec<String> =
            self.members.iter().enumerate().map(|(at, m)| format!("m{at}=http://127.0.0.1:{}", m.peer)).collect();
        let dir = self.dir.path().join(format!("m{at}"));
        let log = std::fs::File::options().create(true).append(true).open(dir.with_extension("log")).unwrap();
        let member = &mut self.members[at];
        let (client, peer) =
            (format!("http://127.0.0.1:{}", member.client), format!("http://127.0.0.1:{}", member.peer));
        let mut command = Command::new("etcd");
        command.args(["--name", &format!("m{at}"), "--data-dir"]).arg(dir);
        command.args(["--listen-client-urls", &client, "--advertise-client-urls", &client]);
        command.args(["--listen-peer-urls", &peer, "--initial-advertise-peer-urls", &peer]);
        command.args(["--initial-cluster", &cluster.join(",")]);
        command.args(["--heartbeat-interval=50", "--election-timeout=500", "--logger=zap"]);
        command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
        member.child = Some(command.spawn().expect("etcd is installed"));
    }

    /// Waits until a member serves clients, which it does once there is a leader.
    fn wait(&self, at: usize) {
        let (member, begun) = (&self.members[at], Instant::now());
        while std::net::TcpStream::connect(("127.0.0.1", member.client)).is_err() {
            assert!(begun.elapsed() < Duration::from_secs(30), "{}", self.log(at));
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn log(&self, at: usize) -> String {
        let path = self.dir.path().join(format!("m{at}.log"));
        std::fs::read_to_string::<&Path>(&path).unwrap_or_default()
    }

    /// `kill -9`.
    pub fn kill(&mut self, at: usize) {
        if let Some(mut child) = self.members[at].child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// Starts a member that was killed; does not wait for it.
    pub fn start_again(&mut self, at: usize) {
        self.spawn(at);
    }

    /// Keeps a member from doing anything; its connections stay.
    pub fn stop(&self, at: usize) -> Stopped {
        let id = self.members[at].child.as_ref().expect("runs").id();
        signal("-STOP", id);
        Stopped(id)
    }
}

impl Drop for Etcds {
    fn drop(&mut self) {
        for at in 0..self.members.len() {
            self.kill(at);
        }
    }
}
