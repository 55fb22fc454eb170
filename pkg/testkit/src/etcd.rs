//! Real etcd clusters.

use std::{
    fs::{self, File},
    net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

use crate::{eventually, tail};

const START: Duration = Duration::from_secs(30);

/// Certificates of a cluster, for its members and its clients.
#[derive(Clone, Debug)]
pub struct EtcdTls {
    /// Who has signed the certificates of members and clients.
    pub ca: PathBuf,
    /// The members' certificate, for their address.
    pub certificate: PathBuf,
    /// Its key.
    pub key: PathBuf,
}

struct Member {
    client: SocketAddr,
    peer: SocketAddr,
    child: Option<Child>,
}

/// An etcd cluster on loopback; killed when dropped. Its directory is the caller's.
pub struct Etcds {
    members: Vec<Member>,
    dir: PathBuf,
    tls: Option<EtcdTls>,
    /// The command that etcd is an argument of, if it shall run elsewhere.
    within: Vec<String>,
}

/// A member that does nothing until this is dropped.
pub struct Stopped(Pid);

impl Drop for Stopped {
    fn drop(&mut self) {
        // It may be dead by now, which is for the test to notice.
        let _ = kill(self.0, Signal::SIGCONT);
    }
}

/// Ports that are free on loopback. They lie below those that the kernel gives to clients, and none
/// is given twice: a member that is down for a while finds its own free.
fn free(count: usize) -> Vec<u16> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let candidates = std::iter::repeat_with(|| {
        let next = std::process::id().wrapping_mul(101).wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed));
        u16::try_from(20_000 + next % 12_000).expect("below 32,000")
    });
    candidates.filter(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok()).take(count).collect()
}

impl Etcds {
    /// A cluster of `count` members, not started, with their data and logs below `dir`.
    pub fn new(count: usize, dir: &Path) -> Self {
        let at = |port| SocketAddr::new(IpAddr::from(Ipv4Addr::LOCALHOST), port);
        let member = |ports: &[u16]| Member { client: at(ports[0]), peer: at(ports[1]), child: None };
        let members = free(2 * count).chunks(2).map(member).collect();
        Etcds { members, dir: dir.to_owned(), tls: None, within: Vec::new() }
    }

    /// With TLS towards clients, who need a certificate.
    pub fn with_tls(mut self, tls: EtcdTls) -> Self {
        self.tls = Some(tls);
        self
    }

    /// In a machine's network namespace.
    pub fn within(mut self, machine: &crate::Machine) -> Self {
        let command = machine.command("etcd");
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        self.within = words.map(|word| word.to_string_lossy().into_owned()).collect();
        self.within.pop();
        self
    }

    /// Starts all members, and waits until they serve: who ends before that may not come back.
    #[track_caller]
    pub fn start(mut self) -> Self {
        for at in 0..self.members.len() {
            self.spawn(at);
        }
        for at in 0..self.members.len() {
            let serves = || self.log(at).contains("published local member to cluster");
            eventually(&format!("etcd {at} serves"), START, serves);
        }
        self
    }

    /// Where members listen for clients.
    pub fn urls(&self) -> Vec<String> {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        self.members.iter().map(|member| format!("{scheme}://{}", member.client)).collect()
    }

    /// Starts a member; does not wait for it.
    #[track_caller]
    pub fn spawn(&mut self, at: usize) {
        let all = self.members.iter().enumerate();
        let cluster: Vec<String> = all.map(|(at, m)| format!("m{at}=http://{}", m.peer)).collect();
        let (client, peer) = (self.urls().swap_remove(at), format!("http://{}", self.members[at].peer));
        let words: Vec<&str> = self.within.iter().map(|word| &**word).chain(["etcd"]).collect();
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).args(["--name", &format!("m{at}")]);
        command.arg("--data-dir").arg(self.dir.join(format!("m{at}")));
        command.args(["--listen-client-urls", &client, "--advertise-client-urls", &client]);
        command.args(["--listen-peer-urls", &peer, "--initial-advertise-peer-urls", &peer]);
        command.args(["--initial-cluster", &cluster.join(","), "--logger=zap", "--enable-grpc-gateway=false"]);
        command.args(["--heartbeat-interval=50", "--election-timeout=500"]);
        if let Some(tls) = &self.tls {
            command.arg("--client-cert-auth").arg("--trusted-ca-file").arg(&tls.ca);
            command.arg("--cert-file").arg(&tls.certificate).arg("--key-file").arg(&tls.key);
        }
        let log = self.dir.join(format!("m{at}.log"));
        let log = File::options().create(true).append(true).open(log).expect("the directory can be written");
        let member = &mut self.members[at];
        assert!(member.child.is_none(), "member {at} is running");
        command.stdin(Stdio::null()).stdout(log.try_clone().expect("log can be shared")).stderr(log);
        member.child = Some(command.spawn().expect("etcd can be started"));
    }

    /// `kill -9`.
    pub fn kill(&mut self, at: usize) {
        if let Some(mut child) = self.members[at].child.take() {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Keeps a member from doing anything; its connections stay.
    #[track_caller]
    pub fn stop(&self, at: usize) -> Stopped {
        let id = self.members[at].child.as_ref().expect("the member is running").id();
        let pid = Pid::from_raw(i32::try_from(id).expect("pids are small"));
        kill(pid, Signal::SIGSTOP).expect("the member is ours");
        Stopped(pid)
    }

    /// What a member has logged.
    pub fn log(&self, at: usize) -> String {
        fs::read_to_string(self.dir.join(format!("m{at}.log"))).unwrap_or_default()
    }
}

impl Drop for Etcds {
    fn drop(&mut self) {
        for at in 0..self.members.len() {
            self.kill(at);
            if std::thread::panicking() {
                eprintln!("--- log of etcd {at}\n{}", tail(&self.log(at), 10));
            }
        }
    }
}
