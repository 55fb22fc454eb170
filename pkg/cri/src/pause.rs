//! The pause program and its image: what holds a pod's namespaces open.
//!
//! The program is a static ELF of about 250 bytes, written here instruction by instruction so that no cross compiler
//! and no download is needed. It does four things, the same on each architecture:
//!
//! 1. ignore SIGCHLD, so that the kernel reaps every child: in a pod with a shared PID namespace, orphans become
//!    children of this program;
//! 2. block SIGTERM and SIGINT. As PID 1 of a namespace it would not get them at all with the default action;
//!    blocked, they queue;
//! 3. wait for one of the two, and begin again when the wait ends for another reason;
//! 4. exit with 0.

use std::path::Path;

use crate::images;
use crate::images::store::sha256;

/// The name of the pause image.
pub const IMAGE: &str = "kinglet.dev/pause:1";

/// Where the program is mapped; any page boundary of 64 KiB pages will do.
const BASE: u64 = 0x40_0000;
/// ELF header and two program headers; the code follows.
const CODE: usize = 64 + 2 * 56;

/// Processors that the program exists for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Architecture {
    /// x86_64.
    Amd64,
    /// aarch64.
    Arm64,
}

impl Architecture {
    /// The processor of this machine; none if there is no pause program for it.
    pub fn here() -> Option<Self> {
        match std::env::consts::ARCH {
            "x86_64" => Some(Self::Amd64),
            "aarch64" => Some(Self::Arm64),
            _ => None,
        }
    }

    /// As image configurations name it.
    fn name(self) -> &'static str {
        match self {
            Self::Amd64 => "amd64",
            Self::Arm64 => "arm64",
        }
    }

    /// `e_machine` of the ELF header.
    fn machine(self) -> u16 {
        match self {
            Self::Amd64 => 62,
            Self::Arm64 => 183,
        }
    }
}

/// `struct sigaction` of the kernel: handler SIG_IGN (1), then flags, restorer and mask, all zero.
const IGNORE: [u64; 4] = [1, 0, 0, 0];
/// A signal set with SIGINT (2) and SIGTERM (15): bit n-1 for signal n.
const SIGNALS: u64 = 1 << (2 - 1) | 1 << (15 - 1);

/// x86_64 code. Each row is one instruction. The data follow the code: `IGNORE` at 0x4c, `SIGNALS` at 0x6c.
#[rustfmt::skip]
const AMD64: &[&[u8]] = &[
    &[0xb8, 13, 0, 0, 0],                         // 00  mov eax, 13 (rt_sigaction)
    &[0xbf, 17, 0, 0, 0],                         // 05  mov edi, 17 (SIGCHLD)
    &[0x48, 0x8d, 0x35, 0x3b, 0, 0, 0],           // 0a  lea rsi, [rip + 0x3b] (0x4c: IGNORE)
    &[0x31, 0xd2],                                // 11  xor edx, edx (no old action)
    &[0x41, 0xba, 8, 0, 0, 0],                    // 13  mov r10d, 8 (bytes in a signal set; stays)
    &[0x0f, 0x05],                                // 19  syscall
    &[0xb8, 14, 0, 0, 0],                         // 1b  mov eax, 14 (rt_sigprocmask)
    &[0x31, 0xff],                                // 20  xor edi, edi (SIG_BLOCK)
    &[0x48, 0x8d, 0x35, 0x43, 0, 0, 0],           // 22  lea rsi, [rip + 0x43] (0x6c: SIGNALS)
    &[0x0f, 0x05],                                // 29  syscall
    &[0xb8, 128, 0, 0, 0],                        // 2b  mov eax, 128 (rt_sigtimedwait)
    &[0x48, 0x8d, 0x3d, 0x35, 0, 0, 0],           // 30  lea rdi, [rip + 0x35] (0x6c: SIGNALS)
    &[0x31, 0xf6],                                // 37  xor esi, esi (no details wanted)
    &[0x0f, 0x05],                                // 39  syscall
    &[0x85, 0xc0],                                // 3b  test eax, eax
    &[0x7e, 0xec],                                // 3d  jle 0x2b (an error: interrupted)
    &[0xb8, 231, 0, 0, 0],                        // 3f  mov eax, 231 (exit_group)
    &[0x31, 0xff],                                // 44  xor edi, edi
    &[0x0f, 0x05],                                // 46  syscall
    &[0x90, 0x90, 0x90, 0x90],                    // 48  nop, to 0x4c
];

/// aarch64 code. The data follow the code: `IGNORE` at 0x50, `SIGNALS` at 0x70.
#[rustfmt::skip]
const ARM64: &[u32] = &[
    movz(8, 134),       // 00  rt_sigaction
    movz(0, 17),        // 04  SIGCHLD
    adr(1, 0x50 - 0x08),// 08  IGNORE
    movz(2, 0),         // 0c  no old action
    movz(3, 8),         // 10  bytes in a signal set; stays
    SVC,                // 14
    movz(8, 135),       // 18  rt_sigprocmask
    movz(0, 0),         // 1c  SIG_BLOCK
    adr(1, 0x70 - 0x20),// 20  SIGNALS
    SVC,                // 24
    movz(8, 137),       // 28  rt_sigtimedwait
    adr(0, 0x70 - 0x2c),// 2c  SIGNALS
    movz(1, 0),         // 30  no details wanted
    movz(2, 0),         // 34  no time limit
    SVC,                // 38
    CMP_W0_0,           // 3c
    branch_le(-0x18),   // 40  an error (interrupted): back to 0x28
    movz(8, 94),        // 44  exit_group
    movz(0, 0),         // 48
    SVC,                // 4c
];

/// `svc #0`: call the kernel.
const SVC: u32 = 0xd400_0001;
/// `cmp w0, #0`.
const CMP_W0_0: u32 = 0x7100_001f;

/// `movz xREGISTER, #VALUE`.
const fn movz(register: u32, value: u32) -> u32 {
    0xd280_0000 | (value & 0xffff) << 5 | register
}

/// `adr xREGISTER, . + OFFSET`, for offsets that are multiples of four.
const fn adr(register: u32, offset: u32) -> u32 {
    0x1000_0000 | (offset >> 2) << 5 | register
}

/// `b.le . + OFFSET`.
const fn branch_le(offset: i32) -> u32 {
    0x5400_000d | ((offset >> 2) as u32 & 0x7_ffff) << 5
}

/// The pause program for a processor.
pub fn program(architecture: Architecture) -> Vec<u8> {
    let mut code: Vec<u8> = match architecture {
        Architecture::Amd64 => AMD64.concat(),
        Architecture::Arm64 => ARM64.iter().flat_map(|word| word.to_le_bytes()).collect(),
    };
    code.extend(IGNORE.iter().chain([&SIGNALS]).flat_map(|word| word.to_le_bytes()));
    let size = (CODE + code.len()) as u64;

    let mut elf = Vec::with_capacity(size as usize);
    elf.extend([0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]); // 64 bits, little endian, version 1
    elf.extend(2u16.to_le_bytes()); // ET_EXEC
    elf.extend(architecture.machine().to_le_bytes());
    elf.extend(1u32.to_le_bytes()); // version
    elf.extend((BASE + CODE as u64).to_le_bytes()); // entry
    elf.extend(64u64.to_le_bytes()); // program headers follow at once
    elf.extend(0u64.to_le_bytes()); // no section headers
    elf.extend(0u32.to_le_bytes()); // no flags
    for half in [64u16, 56, 2, 64, 0, 0] {
        elf.extend(half.to_le_bytes()); // sizes and counts of headers
    }
    // The whole file, readable and executable; and a stack that is not executable.
    for (kind, flags, address, bytes) in [(1u32, 5u32, BASE, size), (0x6474_e551, 6, 0, 0)] {
        elf.extend(kind.to_le_bytes());
        elf.extend(flags.to_le_bytes());
        for word in [0, address, address, bytes, bytes, 0x1_0000] {
            elf.extend(word.to_le_bytes());
        }
    }
    elf.extend(code);
    elf
}

/// The pause image as an OCI layout in a tar. The same bytes at every call, so the same digests on every node.
pub fn archive(architecture: Architecture) -> std::io::Result<Vec<u8>> {
    let layer = tar(&[("pause", 0o755, program(architecture))])?;
    let config = serde_json::json!({
        "architecture": architecture.name(),
        "os": "linux",
        "config": {"Entrypoint": ["/pause"], "User": "65535:65535", "WorkingDir": "/"},
        "rootfs": {"type": "layers", "diff_ids": [sha256(&layer)]},
    });
    let config = config.to_string().into_bytes();
    let manifest = serde_json::json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": descriptor("application/vnd.oci.image.config.v1+json", &config),
        "layers": [descriptor("application/vnd.oci.image.layer.v1.tar", &layer)],
    });
    let manifest = manifest.to_string().into_bytes();
    let mut root = descriptor("application/vnd.oci.image.manifest.v1+json", &manifest);
    root["annotations"] = serde_json::json!({"io.containerd.image.name": IMAGE});
    let index = serde_json::json!({"schemaVersion": 2, "manifests": [root]}).to_string().into_bytes();
    let blob = |bytes: &[u8]| format!("blobs/{}", sha256(bytes).replacen(':', "/", 1));
    let (layer_path, config_path, manifest_path) = (blob(&layer), blob(&config), blob(&manifest));
    tar(&[
        ("oci-layout", 0o644, br#"{"imageLayoutVersion":"1.0.0"}"#.to_vec()),
        ("index.json", 0o644, index),
        (&layer_path, 0o644, layer),
        (&config_path, 0o644, config),
        (&manifest_path, 0o644, manifest),
    ])
}

/// Imports the pause image for this machine, pinned, under [`IMAGE`].
pub async fn import(socket: &Path) -> Result<(), images::Error> {
    let label = "the built-in pause image";
    let broken = |reason: String| images::Error::Archive { archive: label.to_owned(), reason };
    let Some(architecture) = Architecture::here() else {
        return Err(broken(format!("there is none for {} processors", std::env::consts::ARCH)));
    };
    let archive = archive(architecture).map_err(|error| broken(error.to_string()))?;
    images::import_from(socket, label, std::io::Cursor::new(archive)).await?;
    Ok(())
}

fn descriptor(media_type: &str, bytes: &[u8]) -> serde_json::Value {
    serde_json::json!({"mediaType": media_type, "digest": sha256(bytes), "size": bytes.len()})
}

fn tar(files: &[(&str, u32, Vec<u8>)]) -> std::io::Result<Vec<u8>> {
    let mut builder = tar::Builder::new(Vec::new());
    for (path, mode, data) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(data.len() as u64);
        header.set_mode(*mode);
        header.set_mtime(0);
        header.set_uid(0);
        header.set_gid(0);
        builder.append_data(&mut header, path, data.as_slice())?;
    }
    builder.into_inner()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Child, Command};
    use std::time::{Duration, Instant};

    fn written(directory: &Path, architecture: Architecture) -> std::path::PathBuf {
        let path = directory.join("pause");
        let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o755).open(&path).unwrap();
        file.write_all(&program(architecture)).unwrap();
        path
    }

    /// A pause process that does not outlive the test.
    struct Pause(Child);

    impl Drop for Pause {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    impl Pause {
        fn status(&self, field: &str) -> String {
            let status = std::fs::read_to_string(format!("/proc/{}/status", self.0.id())).unwrap();
            status.lines().find_map(|line| line.strip_prefix(field)).unwrap().trim().to_owned()
        }

        fn signal(&self, name: &str) {
            assert!(Command::new("kill").args([name, &self.0.id().to_string()]).status().unwrap().success());
        }

        /// Until it sleeps with SIGCHLD ignored: it sleeps nowhere but in its one wait.
        fn until(&self, state: char) {
            let start = Instant::now();
            let ignored = || u64::from_str_radix(&self.status("SigIgn:"), 16).unwrap() & 1 << 16 != 0;
            while !ignored() || !self.status("State:").starts_with(state) {
                assert!(start.elapsed() < Duration::from_secs(10), "the pause program is not in state {state}");
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }

    /// Sleeps, survives a stop and a signal that is not for it, has SIGCHLD ignored, and ends on SIGTERM and SIGINT.
    #[test]
    fn the_program_sleeps_until_it_is_told_to_end() {
        let directory = tempfile::tempdir().unwrap();
        let path = written(directory.path(), Architecture::here().unwrap());
        assert!(std::fs::metadata(&path).unwrap().len() < 400);
        for end in ["-TERM", "-INT"] {
            let mut pause = Pause(Command::new(&path).spawn().unwrap());
            pause.until('S');
            pause.signal("-STOP");
            pause.until('T');
            pause.signal("-CONT");
            pause.until('S');
            assert!(pause.0.try_wait().unwrap().is_none());
            pause.signal(end);
            let status = pause.0.wait().unwrap();
            assert_eq!((status.code(), status.signal()), (Some(0), None), "{end}");
        }
    }

    #[test]
    fn words_of_arm64_are_what_an_assembler_writes() {
        let table = [
            (movz(8, 134), 0xd28010c8),
            (movz(0, 0), 0xd2800000),
            (adr(1, 0x48), 0x10000241),
            (branch_le(-0x18), 0x54ffff4d),
        ];
        for (got, want) in table {
            assert_eq!(got, want, "{got:08x} {want:08x}");
        }
        assert_eq!(ARM64.len() * 4, 0x50);
        assert_eq!(AMD64.concat().len(), 0x4c);
    }

    #[test]
    fn the_image_is_the_same_each_time() {
        for architecture in [Architecture::Amd64, Architecture::Arm64] {
            assert_eq!(archive(architecture).unwrap(), archive(architecture).unwrap());
        }
    }
}
