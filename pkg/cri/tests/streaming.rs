//! Exec, attach and port-forward through the streaming server of a real containerd.

#![allow(clippy::unwrap_used)]

#[allow(dead_code)]
mod support;

use std::time::Duration;

use cri::streaming::{self, Error, Streams};
use cri::v1;
use support::Runtime;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const OUTPUTS: Streams = Streams { stdin: false, stdout: true, stderr: true, tty: false };

async fn exec_url(runtime: &Runtime, container: &str, command: &[&str], streams: Streams) -> String {
    let request = v1::ExecRequest {
        container_id: container.into(),
        cmd: command.iter().map(|word| word.to_string()).collect(),
        tty: streams.tty,
        stdin: streams.stdin,
        stdout: streams.stdout,
        stderr: streams.stderr,
    };
    runtime.cri.clone().runtime.exec(request).await.unwrap().into_inner().url
}

async fn run(runtime: &Runtime, container: &str, command: &[&str]) -> (String, String, Result<i32, Error>) {
    let url = exec_url(runtime, container, command, OUTPUTS).await;
    let stream = streaming::exec(&url, OUTPUTS).await.unwrap();
    let (mut out, mut err) = (String::new(), String::new());
    let (mut stdout, mut stderr) = (stream.stdout.unwrap(), stream.stderr.unwrap());
    let both = tokio::join!(stdout.read_to_string(&mut out), stderr.read_to_string(&mut err));
    both.0.unwrap();
    both.1.unwrap();
    (out, err, stream.status.await.map(|status| status.code))
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_run_with_their_streams_and_exit_codes() {
    let runtime = Runtime::with_images().await;
    let sandbox = runtime.sandbox().await;
    let id = runtime.container(&sandbox, "main", &["sleep", "1000"], |_| {}).await;

    let (out, err, status) = run(&runtime, &id, &["sh", "-c", "echo out; echo err >&2; exit 42"]).await;
    assert_eq!((out.as_str(), err.as_str(), status.unwrap()), ("out\n", "err\n", 42));
    let (_, _, status) = run(&runtime, &id, &["true"]).await;
    assert_eq!(status.unwrap(), 0);
    let (_, _, status) = run(&runtime, &id, &["no-such-program"]).await;
    let message = status.unwrap_err().to_string();
    assert!(message.contains("no-such-program"), "{message}");

    // A used token is refused, with a message.
    let url = exec_url(&runtime, &id, &["true"], OUTPUTS).await;
    streaming::exec(&url, OUTPUTS).await.unwrap().status.await.unwrap();
    assert!(matches!(streaming::exec(&url, OUTPUTS).await, Err(Error::Refused { status, .. }) if status == 404));
    runtime.clear().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_megabytes_of_binary_go_through_cat_and_back() {
    const SIZE: usize = 50 << 20;
    let runtime = Runtime::with_images().await;
    let sandbox = runtime.sandbox().await;
    let id = runtime.container(&sandbox, "main", &["sleep", "1000"], |_| {}).await;
    let streams = Streams { stdin: true, stdout: true, stderr: false, tty: false };
    let url = exec_url(&runtime, &id, &["cat"], streams).await;
    let mut stream = streaming::exec(&url, streams).await.unwrap();
    let mut stdin = stream.stdin.take().unwrap();
    let mut stdout = stream.stdout.take().unwrap();
    let byte = |i: usize| ((i as u32).wrapping_mul(2_654_435_761) >> 24) as u8;
    let sending = tokio::spawn(async move {
        let mut sent = 0;
        while sent < SIZE {
            let piece: Vec<u8> = (sent..(sent + 100_000).min(SIZE)).map(byte).collect();
            stdin.write_all(&piece).await.unwrap();
            sent += piece.len();
        }
        stdin.shutdown().await.unwrap();
        stdin
    });
    let (mut received, mut buffer) = (0, vec![0; 1 << 16]);
    loop {
        let n = stdout.read(&mut buffer).await.unwrap();
        if n == 0 {
            break;
        }
        for (at, got) in buffer[..n].iter().enumerate() {
            assert!(*got == byte(received + at), "byte {} is wrong", received + at);
        }
        received += n;
    }
    assert_eq!(received, SIZE);
    assert_eq!(stream.status.await.unwrap().code, 0);
    sending.await.unwrap();
    runtime.clear().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_terminal_has_the_size_it_is_given() {
    let runtime = Runtime::with_images().await;
    let sandbox = runtime.sandbox().await;
    let id = runtime.container(&sandbox, "main", &["sleep", "1000"], |_| {}).await;
    let streams = Streams { stdin: true, stdout: true, stderr: false, tty: true };
    let url = exec_url(&runtime, &id, &["sh"], streams).await;
    let mut stream = streaming::exec(&url, streams).await.unwrap();
    stream.resize.as_ref().unwrap().send((123, 45)).await.unwrap();
    let mut stdin = stream.stdin.take().unwrap();
    // Until the size has arrived, then the end.
    stdin
        .write_all(b"until [ \"$(stty size)\" = '45 123' ]; do usleep 20000; done; stty size; exit 3\n")
        .await
        .unwrap();
    let mut out = String::new();
    stream.stdout.take().unwrap().read_to_string(&mut out).await.unwrap();
    assert!(out.contains("\n45 123\r\n"), "{out}");
    assert_eq!(stream.status.await.unwrap().code, 3);
    runtime.clear().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn attaching_shows_what_the_container_prints() {
    let runtime = Runtime::with_images().await;
    let sandbox = runtime.sandbox().await;
    let command = ["sh", "-c", "while read line; do echo \"got $line\"; done; echo over >&2; exit 5"];
    let id = runtime.container(&sandbox, "main", &command, |config| config.stdin = true).await;
    let request = v1::AttachRequest { container_id: id.clone(), stdin: true, tty: false, stdout: true, stderr: true };
    let url = runtime.cri.clone().runtime.attach(request).await.unwrap().into_inner().url;
    let streams = Streams { stdin: true, stdout: true, stderr: true, tty: false };
    let mut stream = streaming::attach(&url, streams).await.unwrap();
    let (mut stdin, mut stdout) = (stream.stdin.take().unwrap(), stream.stdout.take().unwrap());
    stdin.write_all(b"hello\n").await.unwrap();
    let mut line = [0; 10];
    stdout.read_exact(&mut line).await.unwrap();
    assert_eq!(&line, b"got hello\n");
    drop((stdin, stdout, stream));
    assert_eq!(runtime.status(&id).await.state(), v1::ContainerState::ContainerRunning);
    runtime.clear().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ports_are_forwarded_and_closed_ones_told() {
    let runtime = Runtime::with_images().await;
    let sandbox = runtime.sandbox().await;
    // The sandbox is on the host's network, so this listener is in it.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            tokio::spawn(async move {
                let (mut reader, mut writer) = socket.split();
                let _ = tokio::io::copy(&mut reader, &mut writer).await;
                let _ = writer.shutdown().await;
            });
        }
    });
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let request = v1::PortForwardRequest { pod_sandbox_id: sandbox.0.clone(), port: vec![port.into()] };
    let url = runtime.cri.clone().runtime.port_forward(request).await.unwrap().into_inner().url;
    let forward = streaming::port_forward(&url).await.unwrap();
    for round in 0..3u8 {
        let mut connection = forward.connect(port).await.unwrap();
        let sent = vec![round; 1 << 20];
        let expected = sent.clone();
        let sending = tokio::spawn(async move {
            connection.writer.write_all(&sent).await.unwrap();
            connection.writer.shutdown().await.unwrap();
            connection.writer
        });
        let mut received = Vec::new();
        connection.reader.read_to_end(&mut received).await.unwrap();
        assert!(received == expected);
        sending.await.unwrap();
        connection.status.await.unwrap();
    }
    let connection = forward.connect(closed).await.unwrap();
    let status = tokio::time::timeout(Duration::from_secs(20), connection.status).await.expect("a closed port is told");
    assert!(status.unwrap_err().to_string().contains(&closed.to_string()));
    runtime.clear().await;
}
