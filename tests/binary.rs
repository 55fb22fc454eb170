//! One static binary.

use std::fs;

use testkit::{binary, repository, run};

/// Program headers of a 64-bit little-endian ELF file, by type.
fn program_headers(elf: &[u8]) -> Vec<u32> {
    let number =
        |at: usize, size: usize| elf[at..at + size].iter().rev().fold(0, |n, byte| n << 8 | usize::from(*byte));
    let (start, size, count) = (number(0x20, 8), number(0x36, 2), number(0x38, 2));
    (0..count).map(|n| number(start + n * size, 4) as u32).collect()
}

#[test]
fn it_needs_no_loader_and_no_library() {
    const INTERPRETER: u32 = 3;
    let elf = fs::read(binary()).unwrap();
    assert!(elf.starts_with(b"\x7fELF"));
    assert!(!program_headers(&elf).contains(&INTERPRETER));
}

#[test]
fn it_never_calls_getaddrinfo() {
    // The C library's getaddrinfo reads this file; its name is in every program that has the function.
    let elf = fs::read(binary()).unwrap();
    let mark = b"/etc/gai.conf";
    assert!(!elf.windows(mark.len()).any(|window| window == mark));
}

#[test]
fn its_size_is_within_the_budget() {
    let size = fs::metadata(binary()).unwrap().len();
    assert!(size < 40 << 20, "{size} bytes");
}

#[test]
fn its_help_names_every_way_to_set_an_option() {
    let help = run(std::process::Command::new(binary()).args(["server", "--help"]), "").success();
    for word in ["--node-name", "KINGLET_NODE_NAME", "config.yaml", "--cluster-cidr", "10.42.0.0/16", "--data-dir"] {
        assert!(help.contains(word), "{word} is missing in\n{help}");
    }
    let help = run(std::process::Command::new(binary()).args(["agent", "--help"]), "").success();
    assert!(help.contains("--server") && help.contains("--token") && !help.contains("--cluster-cidr"));
}

#[test]
fn the_manifest_of_this_package_lists_every_test() {
    let tests = repository().join("tests");
    let manifest = fs::read_to_string(tests.join("Cargo.toml")).unwrap();
    for entry in fs::read_dir(tests).unwrap().flatten() {
        let name = entry.file_name().into_string().unwrap();
        if name.ends_with(".rs") {
            assert!(manifest.contains(&format!("path = \"{name}\"")), "{name} is not run");
        }
    }
}

#[test]
fn a_flag_wins_over_its_variable_and_that_over_the_file() {
    let dir = std::env::temp_dir().join(format!("kinglet-options-{}", std::process::id()));
    fs::create_dir_all(&dir).unwrap();
    let server = |variable: Option<&str>, flags: &[&str]| {
        let mut command = std::process::Command::new(binary());
        command.arg("server").args(flags).env("KINGLET_CONFIG_DIR", &dir);
        command.env("KINGLET_DATA_DIR", dir.join("data")).env("KINGLET_RUN_DIR", dir.join("run"));
        if let Some(name) = variable {
            command.env("KINGLET_NODE_NAME", name);
        }
        // No node can have any of these names, so the error tells which of them counts.
        run(&mut command, "").failure()
    };
    fs::write(dir.join("config.yaml"), "node-name: From File\n").unwrap();
    assert!(server(None, &[]).contains("From File"));
    assert!(server(Some("From Variable"), &[]).contains("From Variable"));
    assert!(server(Some("From Variable"), &["--node-name=From Flag"]).contains("From Flag"));
    fs::write(dir.join("config.yaml"), "node-nmae: pi1\n").unwrap();
    let unknown = server(None, &[]);
    assert!(
        unknown.contains("config.yaml") && unknown.contains("node-nmae") && unknown.contains("node-name"),
        "{unknown}"
    );
    fs::remove_dir_all(&dir).unwrap();
}
