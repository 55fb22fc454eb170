//! An IP network in CIDR notation.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr},
    str::FromStr,
};

/// A network: an address and how many of its leading bits count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Net {
    /// Its address; the bits beyond the prefix may be set.
    pub addr: IpAddr,
    /// Leading bits that count.
    pub prefix: u8,
}

/// Text that is no network.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a network in CIDR notation, such as 10.42.0.0/16")]
pub struct ParseNetError(pub String);

impl Net {
    /// A network from its parts. A prefix beyond the address's length is cut to it.
    pub fn new(addr: impl Into<IpAddr>, prefix: u8) -> Self {
        let addr = addr.into();
        Net { addr, prefix: prefix.min(if addr.is_ipv4() { 32 } else { 128 }) }
    }

    /// The network of exactly one address.
    pub fn host(addr: impl Into<IpAddr>) -> Self {
        Net::new(addr, 128)
    }

    /// Whether `ip` is in it.
    pub fn contains(&self, ip: IpAddr) -> bool {
        match (self.addr, ip) {
            (IpAddr::V4(a), IpAddr::V4(b)) => (a.to_bits() ^ b.to_bits()) & mask32(self.prefix) == 0,
            (IpAddr::V6(a), IpAddr::V6(b)) => {
                let mask = u128::MAX.checked_shl(128 - u32::from(self.prefix)).unwrap_or(0);
                (a.to_bits() ^ b.to_bits()) & mask == 0
            }
            _ => false,
        }
    }

    /// The same network with the bits beyond the prefix cleared.
    pub fn network(&self) -> Net {
        let addr = match self.addr {
            IpAddr::V4(a) => Ipv4Addr::from_bits(a.to_bits() & mask32(self.prefix)).into(),
            IpAddr::V6(a) => {
                let mask = u128::MAX.checked_shl(128 - u32::from(self.prefix)).unwrap_or(0);
                std::net::Ipv6Addr::from_bits(a.to_bits() & mask).into()
            }
        };
        Net { addr, prefix: self.prefix }
    }

    /// The address and the mask, for IPv4.
    pub fn v4(&self) -> Option<(Ipv4Addr, Ipv4Addr)> {
        match self.network().addr {
            IpAddr::V4(addr) => Some((addr, Ipv4Addr::from_bits(mask32(self.prefix)))),
            IpAddr::V6(_) => None,
        }
    }

    /// The n-th address of an IPv4 network, if it has that many.
    pub fn nth(&self, n: u32) -> Option<Ipv4Addr> {
        let (addr, mask) = self.v4()?;
        (n <= !mask.to_bits()).then(|| Ipv4Addr::from_bits(addr.to_bits() + n))
    }
}

fn mask32(prefix: u8) -> u32 {
    u32::MAX.checked_shl(32 - u32::from(prefix)).unwrap_or(0)
}

impl fmt::Display for Net {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.addr, self.prefix)
    }
}

impl FromStr for Net {
    type Err = ParseNetError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || ParseNetError(text.to_owned());
        let (addr, prefix) = text.split_once('/').ok_or_else(error)?;
        let addr: IpAddr = addr.parse().map_err(|_| error())?;
        let prefix: u8 = prefix.parse().map_err(|_| error())?;
        let net = Net::new(addr, prefix);
        if net.prefix == prefix { Ok(net) } else { Err(error()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_are_read_and_asked() {
        let net: Net = "10.42.3.9/24".parse().unwrap();
        assert_eq!(net.network().to_string(), "10.42.3.0/24");
        assert!(net.contains("10.42.3.255".parse().unwrap()));
        assert!(!net.contains("10.42.4.0".parse().unwrap()));
        assert!(!net.contains("::1".parse().unwrap()));
        assert_eq!(net.nth(1), Some(Ipv4Addr::new(10, 42, 3, 1)));
        assert_eq!(net.nth(256), None);
        let all: Net = "0.0.0.0/0".parse().unwrap();
        assert!(all.contains("255.1.2.3".parse().unwrap()));
        for bad in ["", "10.0.0.0", "10.0.0.0/33", "x/8", "10.0.0.0/-1"] {
            assert!(bad.parse::<Net>().is_err(), "{bad}");
        }
        assert!("fd00::/64".parse::<Net>().unwrap().contains("fd00::1".parse().unwrap()));
    }
}
