//! Both ends against each other, over a pipe.

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::*;

fn pair() -> (Session, Session) {
    let (client, server) = tokio::io::duplex(64 << 10);
    (Session::new(client, Role::Client).unwrap(), Session::new(server, Role::Server).unwrap())
}

fn named(name: &str) -> Headers {
    vec![("streamtype".to_owned(), name.to_owned())]
}

#[tokio::test]
async fn many_megabytes_go_both_ways_at_once() {
    let (client, server) = pair();
    tokio::spawn(async move {
        let stream = server.accept().await.unwrap();
        let (mut reader, mut writer) = (stream.reader, stream.writer);
        tokio::io::copy(&mut reader, &mut writer).await.unwrap();
        writer.shutdown().await.unwrap();
    });
    let Stream { mut reader, mut writer, .. } = client.open(named("data")).await.unwrap();
    const SIZE: usize = 20 << 20;
    let sent: Vec<u8> = (0..SIZE).map(|i| ((i * 31) >> 3) as u8).collect();
    let expected = sent.clone();
    let sending = tokio::spawn(async move {
        writer.write_all(&sent).await.unwrap();
        writer.shutdown().await.unwrap();
        writer
    });
    let mut received = Vec::with_capacity(SIZE);
    reader.read_to_end(&mut received).await.unwrap();
    assert!(received == expected);
    sending.await.unwrap();
}

/// With credit, a stream that nobody reads does not hold up another one.
#[tokio::test]
async fn a_stream_that_is_not_read_stops_only_its_own_sender() {
    let (client, server) = pair();
    let mut stuck = client.open(named("stuck")).await.unwrap();
    let not_read = server.accept().await.unwrap();
    let sending = tokio::spawn(async move { stuck.writer.write_all(&vec![0; 8 << 20]).await });
    let mut free = client.open(named("free")).await.unwrap();
    let mut read = server.accept().await.unwrap();
    assert_eq!(read.header("streamType"), Some("free"));
    free.writer.write_all(b"passes").await.unwrap();
    free.writer.shutdown().await.unwrap();
    let mut text = String::new();
    read.reader.read_to_string(&mut text).await.unwrap();
    assert_eq!(text, "passes");
    assert!(!sending.is_finished());
    drop((not_read, read, server));
    assert!(sending.await.unwrap().is_err());
}

#[tokio::test]
async fn the_end_of_a_connection_is_told_to_all() {
    let (client, server) = pair();
    let mut stream = client.open(named("data")).await.unwrap();
    let accepted = server.accept().await.unwrap();
    let Stream { mut writer, reader, .. } = accepted;
    writer.write_all(b"last words").await.unwrap();
    writer.shutdown().await.unwrap();
    drop((writer, reader, server));
    let mut text = String::new();
    stream.reader.read_to_string(&mut text).await.unwrap();
    assert_eq!(text, "last words");
    assert!(client.accept().await.is_none());
    assert!(matches!(client.open(named("more")).await, Err(Error::Closed)));
    assert!(stream.writer.write_all(&vec![0; 1 << 20]).await.is_err());
}

#[test]
fn exit_statuses_are_read_from_what_runtimes_say() {
    let failure = |reason: &str, causes: &str| {
        format!(
            r#"{{"metadata":{{}},"status":"Failure","message":"m","reason":"{reason}","details":{{"causes":[{causes}]}}}}"#
        )
    };
    let table = [
        (r#"{"metadata":{},"status":"Success"}"#.to_owned(), Ok(0)),
        (String::new(), Ok(0)),
        (failure("NonZeroExitCode", r#"{"reason":"ExitCode","message":"42"}"#), Ok(42)),
        (failure("InternalError", ""), Err("m")),
        ("not json".to_owned(), Err("not json")),
    ];
    for (text, want) in table {
        let got = exit_status(text.as_bytes()).map(|status| status.code).map_err(|error| error.to_string());
        assert_eq!(got, want.map_err(str::to_owned), "{text}");
    }
}

#[test]
fn the_best_common_protocol_is_chosen() {
    let request = |upgrade: &'static str, protocols: &[&'static str]| {
        let mut headers = http::HeaderMap::new();
        headers.insert("connection", http::HeaderValue::from_static("keep-alive, Upgrade"));
        headers.insert("upgrade", http::HeaderValue::from_static(upgrade));
        for protocol in protocols {
            headers.append("x-stream-protocol-version", http::HeaderValue::from_static(protocol));
        }
        headers
    };
    let table = [
        (request("SPDY/3.1", &["v5.channel.k8s.io", "v4.channel.k8s.io", "v3.channel.k8s.io"]), Some(REMOTE_COMMAND)),
        (request("spdy/3.1", &["v3.channel.k8s.io, v4.channel.k8s.io"]), Some(REMOTE_COMMAND)),
        (request("websocket", &["v4.channel.k8s.io"]), None),
        (request("SPDY/3.1", &["channel.k8s.io"]), None),
    ];
    for (headers, want) in table {
        let got = server::respond(&headers, &[REMOTE_COMMAND]).map(|(_, protocol)| protocol);
        assert_eq!(got, want, "{headers:?}");
    }
}

#[tokio::test]
async fn ports_are_paired_whatever_the_order() {
    let (client, server) = pair();
    let headers = |kind: &str, id: &str| -> Headers {
        [("streamtype", kind), ("port", "80"), ("requestid", id)].map(|(n, v)| (n.to_owned(), v.to_owned())).to_vec()
    };
    tokio::spawn(async move {
        let mut kept = Vec::new();
        for (kind, id) in [("error", "0"), ("data", "1"), ("data", "0"), ("error", "1")] {
            kept.push(client.open(headers(kind, id)).await.unwrap());
        }
        std::future::pending::<()>().await;
    });
    let mut forwarding = server::Forwarding::default();
    for id in ["0", "1"] {
        let forwarded = forwarding.next(&server).await.unwrap().unwrap();
        assert_eq!((forwarded.port, forwarded.data.header("requestid")), (80, Some(id)));
        assert_eq!(forwarded.data.header("streamtype"), Some("data"));
    }
}
