//! Certificates are kept while they are good; tokens say what is wrong with them.

use std::{net::IpAddr, sync::Arc};

use super::*;

fn server_usage(address: &str) -> Usage {
    let address: IpAddr = address.parse().unwrap();
    Usage::server("kube-apiserver", vec!["localhost".into(), "kubernetes.default.svc".into()], vec![address])
}

#[test]
fn a_leaf_is_kept_until_its_use_or_its_ca_changes() {
    let dir = tempfile::tempdir().unwrap();
    let ca = Ca::load_or_create(dir.path(), "ca").unwrap();
    let first = ca.leaf(dir.path(), "apiserver", &server_usage("10.0.0.1")).unwrap();
    let again = Ca::load_or_create(dir.path(), "ca").unwrap();
    assert_eq!(ca.certificate_pem(), again.certificate_pem());
    let same = again.leaf(dir.path(), "apiserver", &server_usage("10.0.0.1")).unwrap();
    assert_eq!(first.certificate_pem, same.certificate_pem);
    let moved = again.leaf(dir.path(), "apiserver", &server_usage("10.0.0.2")).unwrap();
    assert_ne!(first.certificate_pem, moved.certificate_pem, "the address changed");
    let other = tempfile::tempdir().unwrap();
    let other_ca = Ca::load_or_create(other.path(), "ca").unwrap();
    let resigned = other_ca.leaf(dir.path(), "apiserver", &server_usage("10.0.0.2")).unwrap();
    assert_ne!(moved.certificate_pem, resigned.certificate_pem, "the CA changed");
}

#[test]
fn half_a_ca_is_an_error_and_not_a_new_one() {
    let dir = tempfile::tempdir().unwrap();
    Ca::load_or_create(dir.path(), "ca").unwrap();
    fs::remove_file(dir.path().join("ca.key")).unwrap();
    let error = Ca::load_or_create(dir.path(), "ca").err().unwrap().to_string();
    assert!(error.contains("ca.key"), "{error}");
}

#[test]
fn keys_are_for_root_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    Ca::load_or_create(dir.path(), "ca").unwrap();
    assert_eq!(fs::metadata(dir.path().join("ca.key")).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn both_ends_of_tls_agree() {
    let dir = tempfile::tempdir().unwrap();
    let ca = Ca::load_or_create(dir.path(), "ca").unwrap();
    let server = ca.leaf(dir.path(), "server", &server_usage("127.0.0.1")).unwrap();
    let client = ca.leaf(dir.path(), "admin", &Usage::client("admin", &["system:masters"])).unwrap();
    let server = tls::server(&server, ca.certificate_pem(), tls::ClientCertificates::Required, &["h2"]).unwrap();
    let client = tls::client(Some(&client), ca.certificate_pem(), &["h2"]).unwrap();
    let (server, _) = shake(server, client).unwrap();
    assert_eq!(server.peer_certificates().unwrap().len(), 1);
    assert_eq!(server.alpn_protocol(), Some(&b"h2"[..]));
}

#[test]
fn a_public_key_is_signed_without_its_private_half() {
    let dir = tempfile::tempdir().unwrap();
    let ca = Ca::load_or_create(dir.path(), "ca").unwrap();
    let (key_pem, public) = public_key_pem(&dir.path().join("node.key")).unwrap();
    let usage = Usage::client("system:node:pi1", &["system:nodes"]);
    let certificate_pem = ca.sign(&public, &usage).unwrap();
    assert_eq!(machine_id(&public).unwrap(), machine_id_of_certificate(&certificate_pem).unwrap());
    tls::client(Some(&KeyAndCertificate { key_pem, certificate_pem }), ca.certificate_pem(), &[]).unwrap();
}

#[test]
fn tokens_say_what_is_wrong_with_them() {
    let dir = tempfile::tempdir().unwrap();
    let ca = Ca::load_or_create(dir.path(), "ca").unwrap();
    let token = Token::generate(ca.certificate_pem()).unwrap();
    let text = token.to_string();
    assert!(text.parse::<Token>().unwrap() == token);
    assert!(format!("{text}\n").parse::<Token>().unwrap() == token);

    let wrong = |text: &str| text.parse::<Token>().unwrap_err();
    assert_eq!(wrong(""), TokenError::Foreign);
    assert_eq!(wrong("K10abc::server:def"), TokenError::Foreign);
    assert_eq!(wrong(&text[..40]), TokenError::Truncated { part: "CA hash", found: 31, wanted: 64 });
    assert_eq!(wrong(&text[..80]), TokenError::Truncated { part: "secret", found: 6, wanted: 32 });
    assert_eq!(wrong(&format!("{text}x")), TokenError::Foreign);
}

#[test]
fn a_joining_agent_trusts_the_ca_of_its_token_and_no_other() {
    let (mine, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (mine, other) =
        (Ca::load_or_create(mine.path(), "ca").unwrap(), Ca::load_or_create(other.path(), "ca").unwrap());
    let leaf = mine.leaf(tempfile::tempdir().unwrap().path(), "server", &server_usage("127.0.0.1")).unwrap();
    let server = tls::server(&leaf, mine.certificate_pem(), tls::ClientCertificates::Optional, &[]).unwrap();

    let (client, learned) = tls::joining(&Token::generate(mine.certificate_pem()).unwrap()).unwrap();
    shake(server.clone(), Arc::new(client)).unwrap();
    let certificate = learned.get().unwrap().clone().unwrap();
    assert_eq!(certificate.replace('\n', ""), mine.certificate_pem().replace(['\r', '\n'], ""));

    let (client, learned) = tls::joining(&Token::generate(other.certificate_pem()).unwrap()).unwrap();
    shake(server, Arc::new(client)).unwrap_err();
    assert!(matches!(learned.get(), Some(Err(TokenError::OtherCluster { .. }))));
}

type Shaken = (rustls::ServerConnection, rustls::ClientConnection);

fn shake(server: Arc<rustls::ServerConfig>, client: Arc<rustls::ClientConfig>) -> Result<Shaken, rustls::Error> {
    let mut server = rustls::ServerConnection::new(server)?;
    let mut client = rustls::ClientConnection::new(client, "localhost".try_into().unwrap())?;
    while server.is_handshaking() || client.is_handshaking() {
        let mut wire = Vec::new();
        client.write_tls(&mut wire).unwrap();
        server.read_tls(&mut &wire[..]).unwrap();
        server.process_new_packets()?;
        let mut wire = Vec::new();
        server.write_tls(&mut wire).unwrap();
        client.read_tls(&mut &wire[..]).unwrap();
        client.process_new_packets()?;
    }
    Ok((server, client))
}
