//! Files as users write them, and what becomes of them.

use super::*;

fn parse(text: &str) -> Registries {
    Registries::parse(text).unwrap_or_else(|fault| panic!("{fault}\n{text}"))
}

/// All `hosts.toml`, each under its folder's name, without the first line.
fn written(text: &str) -> String {
    let registries = parse(text);
    let folders = registries.folders().into_iter();
    folders.map(|(folder, text)| format!("{folder}: {}", text.split_once('\n').unwrap().1)).collect()
}

#[test]
fn files_that_say_nothing_are_fine() {
    for text in ["", "# later\n", "mirrors:\nconfigs:\n", "{}", "mirrors: {docker.io: }", "configs: {a.example: {}}"] {
        assert_eq!(written(text), "", "{text}");
    }
    let none = Registries::load(Path::new("/nowhere/registries.yaml")).unwrap();
    assert!(none.folders().is_empty());
}

#[test]
fn each_registry_gets_its_file() {
    let table = [
        (
            "mirrors: {'registry.test:5000': {endpoint: ['http://10.77.0.1:5000']}}",
            r#"registry.test:5000: server = "https://registry.test:5000"

[host."http://10.77.0.1:5000"]
capabilities = ["pull", "resolve"]
"#,
        ),
        // In the order of the file, each once; a path is the root of the API.
        (
            "mirrors: {docker.io: {endpoint: ['https://b.example/v2/hub', 'https://a.example/', 'https://a.example/v2']}}",
            r#"docker.io: server = "https://registry-1.docker.io"

[host."https://b.example/v2/hub"]
capabilities = ["pull", "resolve"]
override_path = true

[host."https://a.example"]
capabilities = ["pull", "resolve"]
"#,
        ),
        // TLS goes with the host that is asked, and not to plain HTTP.
        (
            "mirrors: {'*': {endpoint: ['https://m.example:5000', 'http://m.example:5000']}}
configs: {'m.example:5000': {tls: {ca_file: /ca, cert_file: /c, key_file: /k}}, '*': {tls: {insecure_skip_verify: true}}}",
            r#"_default: skip_verify = true

[host."https://m.example:5000"]
capabilities = ["pull", "resolve"]
ca = ["/ca"]
client = [["/c", "/k"]]

[host."http://m.example:5000"]
capabilities = ["pull", "resolve"]
m.example:5000: server = "https://m.example:5000"
ca = ["/ca"]
client = [["/c", "/k"]]

[host]
"#,
        ),
        (
            "configs: {'localhost:5000': {auth: {username: u, password: p}}}",
            "localhost:5000: server = \"http://localhost:5000\"\n\n[host]\n",
        ),
    ];
    for (text, want) in table {
        assert_eq!(written(text), want, "{text}");
    }
}

#[test]
fn credentials_are_for_one_host_each() {
    let registries = parse(
        "mirrors:
  docker.io: {endpoint: ['https://m.example/v2/hub', 'https://m.example', 'https://other.example']}
  '*': {endpoint: ['http://m.example']}
configs:
  m.example: {auth: {username: mirror, password: p}}
  registry-1.docker.io: {auth: {auth: dTpw}}
  own.example: {auth: {identity_token: t}}
",
    );
    let table: [(&str, &[(&str, &str)]); 4] = [
        ("docker.io", &[("mirror", "https://m.example"), ("dTpw", "https://registry-1.docker.io")]),
        ("any.example", &[("mirror", "https://m.example")]),
        ("own.example", &[("t", "https://own.example")]),
        ("m.example", &[("mirror", "https://m.example")]),
    ];
    for (registry, want) in table {
        let found = registries.credentials(registry);
        let got = found.iter().map(|a| (a.username.clone() + &a.auth + &a.identity_token, a.server_address.clone()));
        let want = want.iter().map(|(auth, server)| ((*auth).to_owned(), (*server).to_owned()));
        assert_eq!(got.collect::<Vec<_>>(), want.collect::<Vec<_>>(), "{registry}");
    }
}

#[test]
fn what_is_not_understood_is_refused_with_its_place_and_without_its_values() {
    let table = [
        ("mirrors: [a]", "line 1"),
        ("mirrors:\n  a.example: {endpoints: []}", "endpoints"),
        ("mirror: {}", "mirror"),
        ("configs: {a.example: {auth: {user: u}}}", "user"),
        ("configs:\n  a.example:\n    auth:\n      pasword: SECRET\n", "line 4"),
        ("configs: {a.example: {auth: SECRET}}", "line 1"),
        ("configs: {a.example: {auth: {password: [SECRET]}}}", "line 1"),
        ("configs: {a.example: {auth: {password: *SECRET}}}", "line 1"),
        ("configs: {a.example: {auth: {password: \"SECRET\\q\"}}}", "line 1"),
        ("configs: {a.example: {auth: {username: u}, password: SECRET}}", "line 1"),
        ("configs: {a.example: [SECRET]}", "line 1"),
        ("SECRET", "line 1"),
        ("mirrors: {a.example: {endpoint: [m.example]}}", r#"mirrors."a.example".endpoint[0]: should look like"#),
        ("mirrors: {a.example: {endpoint: ['ftp://m.example']}}", "should look like https://"),
        (
            "mirrors: {a.example: {endpoint: ['https://m.example', 'https://u:SECRET@m.example']}}",
            "endpoint[1]: should",
        ),
        ("mirrors: {a.example: {endpoint: ['https://m.example/?ns=a']}}", "should look like https://"),
        ("mirrors: {a.example: {rewrite: {'^a': b}}}", r#"mirrors."a.example".rewrite: containerd cannot"#),
        ("mirrors: {'https://a.example': }", r#"mirrors."https://a.example": the name"#),
        ("mirrors: {'..': }", "HOST:PORT"),
        ("mirrors: {'_default': }", "HOST:PORT"),
        ("configs: {docker.io: , index.docker.io: }", "another entry for docker.io"),
        ("configs: {a.example: , a.example: }", "a.example"),
        ("configs: {'*': {auth: {username: u, password: SECRET}}}", r#"configs."*".auth: credentials are for one"#),
        ("configs: {a.example: {auth: {auth: '%SECRET'}}}", r#"configs."a.example".auth.auth: should be"#),
        ("configs: {a.example: {auth: {}}}", "should have username"),
        ("configs: {a.example: {tls: {cert_file: /c}}}", "belong together"),
        ("configs: {a.example: {tls: {ca_file: ca.crt}}}", "absolute"),
    ];
    for (text, want) in table {
        let Err(fault) = Registries::parse(text) else { panic!("{text} is taken") };
        assert!(fault.to_string().contains(want), "{text}: {fault}");
        assert!(!format!("{fault} {fault:?}").contains("SECRET"), "{text}: {fault:?}");
    }
}

#[test]
fn files_that_cannot_be_read_are_named_beside_the_one_that_names_them() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("registries.yaml");
    std::fs::write(&path, "configs: {a.example: {tls: {ca_file: /nowhere/ca.crt}}}").unwrap();
    let Err(error) = Registries::load(&path) else { panic!("taken") };
    let source = std::error::Error::source(&error).unwrap();
    assert_eq!(error.to_string(), path.display().to_string());
    assert_eq!(source.to_string(), "/nowhere/ca.crt cannot be read");
}
