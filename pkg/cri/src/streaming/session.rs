//! A SPDY/3.1 connection: streams of bytes in both directions, for a client or a server.
//!
//! Guarantees: bytes of a stream keep their order; memory for each stream is bounded; what was written before a
//! stream was shut down, or the last handle dropped, is sent.
//! Flow control: the receiver gives credit as its consumer reads. As a sender it keeps to the peer's window, once the
//! peer has shown (by SETTINGS or WINDOW_UPDATE) that it knows of windows. The implementation that kubectl and
//! containerd use does not: it neither gives nor heeds credit, and would leave a strict sender waiting after 64 KiB.
//! There the connection itself slows the sender, and a stream that is not read holds up the others.
//! The connection ends when the last handle (session or half of a stream) is dropped.

use std::collections::HashMap;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, ReadBuf, ReadHalf, WriteHalf};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::{CancellationToken, DropGuard, PollSender};

use super::Error;
use super::frame::{CANCEL, Decoder, Encoder, Frame, INITIAL_WINDOW};
use super::headers::Headers;

/// Pieces of a stream that may wait for their reader.
const QUEUE: usize = 32;
/// Bytes that a peer may send on one stream before it hears back.
const WINDOW: u32 = 512 << 10;
/// Credit is given in portions of this size.
const CREDIT: u32 = 64 << 10;
/// The window that a peer has when it has not said otherwise.
const DEFAULT_WINDOW: i64 = 64 << 10;
/// The largest data frame sent.
const FRAME: usize = 32 << 10;
/// Streams that one connection may have open.
const STREAMS: usize = 1024;

/// Which end of the connection this is. Clients' streams have odd numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Asked for the upgrade.
    Client,
    /// Granted it.
    Server,
}

const OPEN: u8 = 0;
const ENDED: u8 = 1;
const RESET: u8 = 2;

/// What both ends of the program know of one stream.
struct State {
    /// The peer's side: [`OPEN`], [`ENDED`] or [`RESET`].
    remote: AtomicU8,
    window: Mutex<Window>,
}

struct Window {
    left: i64,
    waker: Option<Waker>,
}

struct Entry {
    state: Arc<State>,
    received: Option<mpsc::Sender<Bytes>>,
    replied: Option<oneshot::Sender<()>>,
}

#[derive(Default)]
struct Table {
    entries: HashMap<u32, Entry>,
    /// The window with which streams begin.
    window: i64,
}

struct Shared {
    data: mpsc::Sender<Frame>,
    control: mpsc::UnboundedSender<Frame>,
    table: Mutex<Table>,
    /// The peer knows of windows.
    windows: AtomicBool,
    /// The connection has ended.
    closed: AtomicBool,
}

/// Held by every handle; the connection ends with the last.
struct Handle {
    shared: Arc<Shared>,
    _end: DropGuard,
}

/// A connection.
pub struct Session {
    handle: Arc<Handle>,
    next: tokio::sync::Mutex<u32>,
    incoming: tokio::sync::Mutex<mpsc::Receiver<Incoming>>,
}

/// A stream that the peer opened and that nobody has taken yet.
struct Incoming {
    id: u32,
    headers: Headers,
    state: Arc<State>,
    received: mpsc::Receiver<Bytes>,
}

/// A stream in both directions.
pub struct Stream {
    /// With what it was opened.
    pub headers: Headers,
    /// What the peer sends.
    pub reader: StreamReader,
    /// What is sent to the peer.
    pub writer: StreamWriter,
}

impl Stream {
    /// The value of a header, by its lower-case name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Session {
    /// Takes over a connection that has been upgraded.
    pub fn new(io: impl AsyncRead + AsyncWrite + Send + 'static, role: Role) -> Result<Self, Error> {
        let (read, write) = tokio::io::split(io);
        let encoder = Encoder::new()?;
        let (data, data_queue) = mpsc::channel(QUEUE);
        let (control, control_queue) = mpsc::unbounded_channel();
        let (accepted, incoming) = mpsc::channel(QUEUE);
        let table = Mutex::new(Table { window: DEFAULT_WINDOW, ..Table::default() });
        let [windows, closed] = [(); 2].map(|()| AtomicBool::new(false));
        let shared = Arc::new(Shared { data, control, table, windows, closed });
        // The writer task is gone only when the connection is.
        let _ = shared.control.send(Frame::Settings(vec![(INITIAL_WINDOW, WINDOW)]));
        let end = CancellationToken::new();
        tokio::spawn(write_frames(write, encoder, data_queue, control_queue, end.clone()));
        tokio::spawn(read_frames(read, shared.clone(), accepted, role, end.clone()));
        let handle = Arc::new(Handle { shared, _end: end.drop_guard() });
        let first = if role == Role::Client { 1 } else { 2 };
        Ok(Self { handle, next: tokio::sync::Mutex::new(first), incoming: tokio::sync::Mutex::new(incoming) })
    }

    /// Opens a stream and waits until the peer has accepted it.
    pub async fn open(&self, headers: Headers) -> Result<Stream, Error> {
        let shared = &self.handle.shared;
        let (replied, reply) = oneshot::channel();
        let (sender, received) = mpsc::channel(QUEUE);
        // Numbers must go out in order: the lock is held until the frame is queued.
        let mut next = self.next.lock().await;
        let id = *next;
        *next += 2;
        let state = {
            let mut table = lock(&shared.table);
            if shared.closed.load(Ordering::Acquire) {
                return Err(Error::Closed);
            }
            let state = Arc::new(State::new(table.window));
            let entry = Entry { state: state.clone(), received: Some(sender), replied: Some(replied) };
            table.entries.insert(id, entry);
            state
        };
        let frame = Frame::SynStream { id, fin: false, headers: headers.clone() };
        shared.data.send(frame).await.map_err(|_| Error::Closed)?;
        drop(next);
        reply.await.map_err(|_| Error::Closed)?;
        Ok(self.stream(Incoming { id, headers, state, received }))
    }

    /// The next stream that the peer opens; none when the connection has ended.
    pub async fn accept(&self) -> Option<Stream> {
        let incoming = self.incoming.lock().await.recv().await?;
        Some(self.stream(incoming))
    }

    fn stream(&self, incoming: Incoming) -> Stream {
        let Incoming { id, headers, state, received } = incoming;
        let (handle, sender) = (self.handle.clone(), PollSender::new(self.handle.shared.data.clone()));
        let half = Half { id, state, handle };
        let writer = StreamWriter { half: half.clone(), sender, ended: false };
        Stream { headers, reader: StreamReader { half, received, piece: Bytes::new(), owed: 0 }, writer }
    }
}

impl State {
    fn new(window: i64) -> Self {
        Self { remote: AtomicU8::new(OPEN), window: Mutex::new(Window { left: window, waker: None }) }
    }

    fn credit(&self, delta: i64) {
        let mut window = lock(&self.window);
        window.left += delta;
        if let Some(waker) = window.waker.take() {
            waker.wake();
        }
    }
}

#[derive(Clone)]
struct Half {
    id: u32,
    state: Arc<State>,
    handle: Arc<Handle>,
}

/// What the peer sends on a stream. The end of it is the end of the file; a lost connection is an error.
pub struct StreamReader {
    half: Half,
    received: mpsc::Receiver<Bytes>,
    piece: Bytes,
    /// Bytes read for which the peer has no credit yet.
    owed: u32,
}

impl AsyncRead for StreamReader {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        while self.piece.is_empty() {
            match ready!(self.received.poll_recv(cx)) {
                Some(piece) => self.piece = piece,
                None if self.half.state.remote.load(Ordering::Acquire) == OPEN => {
                    return Poll::Ready(Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the connection was lost")));
                }
                None => return Poll::Ready(Ok(())),
            }
        }
        let length = self.piece.len().min(buffer.remaining());
        buffer.put_slice(&self.piece[..length]);
        self.piece.advance(length);
        self.owed += length as u32;
        if self.owed >= CREDIT {
            let frame = Frame::WindowUpdate { id: self.half.id, delta: self.owed };
            self.owed = 0;
            // A connection that is gone needs no credit.
            let _ = self.half.handle.shared.control.send(frame);
        }
        Poll::Ready(Ok(()))
    }
}

/// What is sent on a stream; shutting it down ends this direction only.
pub struct StreamWriter {
    half: Half,
    sender: PollSender<Frame>,
    ended: bool,
}

impl StreamWriter {
    /// How many bytes may be sent now, at most `wanted`.
    fn poll_window(&self, cx: &mut Context<'_>, wanted: usize) -> Poll<io::Result<usize>> {
        // Under this lock, since whoever ends the stream wakes the writer under it.
        let mut window = lock(&self.half.state.window);
        let closed = self.half.handle.shared.closed.load(Ordering::Acquire) || self.sender.is_closed();
        if closed || self.half.state.remote.load(Ordering::Acquire) == RESET {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        if !self.half.handle.shared.windows.load(Ordering::Acquire) {
            return Poll::Ready(Ok(wanted));
        }
        if window.left <= 0 {
            window.waker = Some(cx.waker().clone());
            return Poll::Pending;
        }
        Poll::Ready(Ok(wanted.min(window.left as usize)))
    }

    fn broken<E>(_: E) -> io::Error {
        io::ErrorKind::BrokenPipe.into()
    }
}

impl AsyncWrite for StreamWriter {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if bytes.is_empty() {
            return Poll::Ready(Ok(0));
        }
        if self.ended {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        let length = ready!(self.poll_window(cx, bytes.len().min(FRAME)))?;
        ready!(self.sender.poll_reserve(cx)).map_err(Self::broken)?;
        let data = Bytes::copy_from_slice(&bytes[..length]);
        lock(&self.half.state.window).left -= length as i64;
        let frame = Frame::Data { id: self.half.id, fin: false, data };
        self.sender.send_item(frame).map_err(Self::broken)?;
        Poll::Ready(Ok(length))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.ended {
            return Poll::Ready(Ok(()));
        }
        ready!(self.sender.poll_reserve(cx)).map_err(Self::broken)?;
        let frame = Frame::Data { id: self.half.id, fin: true, data: Bytes::new() };
        self.sender.send_item(frame).map_err(Self::broken)?;
        self.ended = true;
        Poll::Ready(Ok(()))
    }
}

impl Drop for StreamWriter {
    /// A writer that was not shut down gives its stream up. The connection may be gone already.
    fn drop(&mut self) {
        if !self.ended {
            let frame = Frame::Data { id: self.half.id, fin: true, data: Bytes::new() };
            if self.half.handle.shared.data.try_send(frame).is_err() {
                let frame = Frame::RstStream { id: self.half.id, status: CANCEL };
                let _ = self.half.handle.shared.control.send(frame);
            }
        }
    }
}

async fn write_frames<T: AsyncWrite>(
    mut io: WriteHalf<T>,
    mut encoder: Encoder,
    mut data: mpsc::Receiver<Frame>,
    mut control: mpsc::UnboundedReceiver<Frame>,
    end: CancellationToken,
) {
    let mut buffer = BytesMut::new();
    loop {
        let frame = tokio::select! {
            biased;
            Some(frame) = control.recv() => frame,
            Some(frame) = data.recv() => frame,
            () = end.cancelled() => break,
            else => break,
        };
        let mut next = Some(frame);
        while let Some(frame) = next {
            if encoder.encode(&frame, &mut buffer).is_err() {
                return;
            }
            next = if buffer.len() < 2 * FRAME { control.try_recv().or_else(|_| data.try_recv()).ok() } else { None };
        }
        // The reader finds out about a broken connection, and tells everybody.
        if io.write_all(&buffer).await.is_err() || io.flush().await.is_err() {
            return;
        }
        buffer.clear();
    }
    let _ = encoder.encode(&Frame::GoAway { last: 0 }, &mut buffer);
    let _ = io.write_all(&buffer).await;
    let _ = io.shutdown().await;
}

async fn read_frames<T: AsyncRead>(
    io: ReadHalf<T>,
    shared: Arc<Shared>,
    accepted: mpsc::Sender<Incoming>,
    role: Role,
    end: CancellationToken,
) {
    let mut decoder = Decoder::new(BufReader::with_capacity(FRAME, io));
    let work = async {
        let mut last = 0;
        while let Some(frame) = decoder.next().await? {
            shared.take(frame, &accepted, role, &mut last).await?;
        }
        Ok::<_, Error>(())
    };
    tokio::select! {
        result = work => {
            if let Err(error) = result {
                tracing::debug!(%error, "a SPDY connection ended");
            }
        }
        () = end.cancelled() => {}
    }
    let mut table = lock(&shared.table);
    shared.closed.store(true, Ordering::Release);
    for (_, entry) in table.entries.drain() {
        // Writers that wait for credit wake up and learn of the end.
        entry.state.credit(0);
    }
    end.cancel();
}

impl Shared {
    async fn take(
        &self,
        frame: Frame,
        accepted: &mpsc::Sender<Incoming>,
        role: Role,
        last: &mut u32,
    ) -> Result<(), Error> {
        match frame {
            Frame::SynStream { id, fin, headers } => return self.begin(id, fin, headers, accepted, role, last).await,
            Frame::SynReply { id, fin } => {
                if let Some(entry) = lock(&self.table).entries.get_mut(&id)
                    && let Some(replied) = entry.replied.take()
                {
                    // Whoever opened it may have given up.
                    let _ = replied.send(());
                }
                self.end(id, fin, ENDED);
            }
            Frame::Headers { id, fin } => self.end(id, fin, ENDED),
            Frame::Data { id, fin, data } => {
                let received = lock(&self.table).entries.get(&id).and_then(|entry| entry.received.clone());
                let length = data.len() as u32;
                if length > 0 {
                    let unread = match received {
                        Some(received) => received.send(data).await.is_err(),
                        None => true,
                    };
                    // Nobody reads it: the peer must not wait for credit.
                    if unread {
                        let _ = self.control.send(Frame::WindowUpdate { id, delta: length });
                    }
                }
                self.end(id, fin, ENDED);
            }
            Frame::RstStream { id, status } => {
                self.end(id, true, RESET);
                tracing::trace!(id, status, "stream reset");
            }
            Frame::WindowUpdate { id, delta } => {
                self.windows.store(true, Ordering::Release);
                if let Some(entry) = lock(&self.table).entries.get(&id) {
                    entry.state.credit(i64::from(delta));
                }
            }
            Frame::Settings(settings) => {
                for (_, value) in settings.into_iter().filter(|(id, _)| *id == INITIAL_WINDOW) {
                    let mut table = lock(&self.table);
                    let change = i64::from(value) - table.window;
                    table.window = i64::from(value);
                    table.entries.values().for_each(|entry| entry.state.credit(change));
                    self.windows.store(true, Ordering::Release);
                }
            }
            // Pings of ours do not exist, so every one is the peer's.
            Frame::Ping(id) => drop(self.control.send(Frame::Ping(id))),
            Frame::GoAway { .. } | Frame::Other => {}
        }
        Ok(())
    }

    async fn begin(
        &self,
        id: u32,
        fin: bool,
        headers: Headers,
        accepted: &mpsc::Sender<Incoming>,
        role: Role,
        last: &mut u32,
    ) -> Result<(), Error> {
        let theirs = if role == Role::Server { 1 } else { 0 };
        if id % 2 != theirs || id <= *last {
            return Err(Error::Protocol(format!("stream {id} out of order")));
        }
        *last = id;
        let (sender, received) = mpsc::channel(QUEUE);
        let state = {
            let mut table = lock(&self.table);
            if table.entries.len() >= STREAMS {
                let _ = self.control.send(Frame::RstStream { id, status: 3 });
                return Ok(());
            }
            let state = Arc::new(State::new(table.window));
            table.entries.insert(id, Entry { state: state.clone(), received: Some(sender), replied: None });
            state
        };
        self.end(id, fin, ENDED);
        // Replied at once: a client may open several before the first is taken.
        let _ = self.control.send(Frame::SynReply { id, fin: false });
        // A session that accepts no more is going.
        let _ = accepted.send(Incoming { id, headers, state, received }).await;
        Ok(())
    }

    /// Notes the end of what the peer sends, if `fin`.
    fn end(&self, id: u32, fin: bool, how: u8) {
        if !fin {
            return;
        }
        let mut table = lock(&self.table);
        let Some(entry) = table.entries.get_mut(&id) else { return };
        entry.state.remote.store(how, Ordering::Release);
        entry.received = None;
        entry.replied = None;
        let unused = Arc::strong_count(&entry.state) == 1;
        if how == RESET {
            entry.state.credit(0);
        }
        if unused || how == RESET {
            table.entries.remove(&id);
        }
    }
}

impl Drop for Half {
    /// With the second half of a stream its entry goes, if the peer has ended too.
    fn drop(&mut self) {
        if Arc::strong_count(&self.state) == 2 {
            let mut table = lock(&self.handle.shared.table);
            if self.state.remote.load(Ordering::Acquire) != OPEN {
                table.entries.remove(&self.id);
            }
        }
    }
}
