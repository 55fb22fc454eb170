//! One netlink socket: requests that are acknowledged, dumps, and batches.

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_DUMP, NLM_F_DUMP_INTR, NLM_F_REQUEST, NetlinkDeserializable, NetlinkMessage, NetlinkPayload,
    NetlinkSerializable,
};
use netlink_sys::SocketAddr;
use nix::sys::socket::{setsockopt, sockopt};

use crate::{Error, Result};

/// How often a dump that was disturbed is started again.
const DUMP_ATTEMPTS: usize = 16;

/// A socket of one protocol, in the namespace of the thread that opened it.
pub(crate) struct Socket {
    inner: netlink_sys::Socket,
    sequence: u32,
}

impl Socket {
    pub(crate) fn open(protocol: isize) -> Result<Self> {
        let error = |what| move |source| Error::Socket { what, source };
        let mut inner = netlink_sys::Socket::new(protocol).map_err(error("open"))?;
        inner.bind_auto().map_err(error("bind"))?;
        inner.connect(&SocketAddr::new(0, 0)).map_err(error("connect"))?;
        Ok(Socket { inner, sequence: 0 })
    }

    fn next_sequence(&mut self) -> u32 {
        self.sequence += 1;
        self.sequence
    }

    /// Sends one request and returns what came before its acknowledgement. `what` names the
    /// request in errors.
    pub(crate) fn request<M>(&mut self, what: impl Fn() -> String, message: M, flags: u16) -> Result<Vec<M>>
    where
        M: NetlinkSerializable + NetlinkDeserializable,
    {
        let sequence = self.next_sequence();
        let bytes = encode(message, NLM_F_REQUEST | NLM_F_ACK | flags, sequence);
        self.send(&bytes)?;
        let mut answers = Vec::new();
        self.receive(&what, sequence, &mut |answer| answers.push(answer))?;
        Ok(answers)
    }

    /// Reads all objects of a kind, again if they changed meanwhile.
    pub(crate) fn dump<M>(&mut self, what: impl Fn() -> String, message: M) -> Result<Vec<M>>
    where
        M: NetlinkSerializable + NetlinkDeserializable + Clone,
    {
        for _ in 0..DUMP_ATTEMPTS {
            let sequence = self.next_sequence();
            let bytes = encode(message.clone(), NLM_F_REQUEST | NLM_F_DUMP, sequence);
            self.send(&bytes)?;
            let mut answers = Vec::new();
            match self.receive(&what, sequence, &mut |answer| answers.push(answer)) {
                Ok(true) => return Ok(answers),
                Ok(false) => {}
                Err(Error::Kernel { source, .. }) if source.raw_os_error() == Some(nix::libc::EINTR) => {}
                Err(error) => return Err(error),
            }
        }
        Err(Error::Unsteady { what: what() })
    }

    /// Sends a batch whose last acknowledged message has sequence `last`, and waits for that
    /// acknowledgement. Returns the first refusal with the sequence of the refused message.
    pub(crate) fn batch(&mut self, bytes: &[u8], first: u32, last: u32) -> Result<Result<(), (u32, std::io::Error)>> {
        // The kernel takes a batch only as one datagram; without the capability the ordinary
        // limit has to do, and sending says so if it does not.
        let _ = setsockopt(&self.inner, sockopt::SndBufForce, &(bytes.len() + (1 << 16)));
        let _ = setsockopt(&self.inner, sockopt::RcvBufForce, &(1 << 20));
        self.send(bytes)?;
        let mut refused = None;
        loop {
            let (buffer, _) =
                self.inner.recv_from_full().map_err(|source| Error::Socket { what: "receive", source })?;
            for message in split(&buffer) {
                let message = NetlinkMessage::<Ignored>::deserialize(message)
                    .map_err(|e| Error::Decode { what: "batch".into(), reason: e.to_string() })?;
                let NetlinkPayload::Error(answer) = message.payload else { continue };
                let sequence = message.header.sequence_number;
                if answer.code.is_some() && refused.is_none() {
                    refused = Some((sequence, answer.to_io()));
                }
                // A refusal of the batch as a whole carries the number of its first message,
                // and nothing may follow it.
                if sequence == last || sequence == first {
                    return Ok(refused.map_or(Ok(()), Err));
                }
            }
        }
    }

    fn send(&self, bytes: &[u8]) -> Result<()> {
        self.inner.send(bytes, 0).map_err(|source| Error::Socket { what: "send", source })?;
        Ok(())
    }

    /// Reads answers to `sequence` up to its end. False: the dump was disturbed.
    fn receive<M: NetlinkDeserializable>(
        &self,
        what: &impl Fn() -> String,
        sequence: u32,
        answer: &mut dyn FnMut(M),
    ) -> Result<bool> {
        let mut steady = true;
        loop {
            let (buffer, _) =
                self.inner.recv_from_full().map_err(|source| Error::Socket { what: "receive", source })?;
            for bytes in split(&buffer) {
                let message = NetlinkMessage::<M>::deserialize(bytes)
                    .map_err(|e| Error::Decode { what: what(), reason: e.to_string() })?;
                if message.header.sequence_number != sequence {
                    continue;
                }
                steady &= message.header.flags & NLM_F_DUMP_INTR == 0;
                match message.payload {
                    NetlinkPayload::InnerMessage(inner) => answer(inner),
                    NetlinkPayload::Done(done) if done.code < 0 => {
                        let source = std::io::Error::from_raw_os_error(-done.code);
                        return Err(Error::Kernel { what: what(), source });
                    }
                    NetlinkPayload::Done(_) => return Ok(steady),
                    NetlinkPayload::Error(error) if error.code.is_some() => {
                        return Err(Error::Kernel { what: what(), source: error.to_io() });
                    }
                    NetlinkPayload::Error(_) => return Ok(steady),
                    _ => {}
                }
            }
        }
    }
}

/// One message with its header, as bytes.
pub(crate) fn encode<M: NetlinkSerializable>(message: M, flags: u16, sequence: u32) -> Vec<u8> {
    let mut message = NetlinkMessage::new(Default::default(), NetlinkPayload::InnerMessage(message));
    message.header.flags = flags;
    message.header.sequence_number = sequence;
    message.finalize();
    let mut bytes = vec![0; message.buffer_len()];
    message.serialize(&mut bytes);
    bytes
}

/// The messages of a datagram; a length that cannot be right ends it.
fn split(mut buffer: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let length = u32::from_ne_bytes(buffer.get(..4)?.try_into().ok()?) as usize;
        let message = buffer.get(..length).filter(|m| m.len() >= 16)?;
        buffer = buffer.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some(message)
    })
}

/// A payload that is of no interest.
struct Ignored;

impl NetlinkDeserializable for Ignored {
    type Error = netlink_packet_core::DecodeError;

    fn deserialize(_: &netlink_packet_core::NetlinkHeader, _: &[u8]) -> Result<Self, Self::Error> {
        Ok(Ignored)
    }
}
