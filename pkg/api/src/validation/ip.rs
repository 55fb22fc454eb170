//! Checks of addresses and networks.

use std::net::IpAddr;

use super::FieldErrors;

const NOT_AN_IP: &str = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
const NOT_A_NETWORK: &str = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";

/// Checks an address.
pub fn address(errors: &mut FieldErrors, path: impl Into<String>, text: &str) -> Option<IpAddr> {
    match text.parse() {
        Ok(address) => Some(address),
        Err(_) => {
            errors.invalid(path, text, NOT_AN_IP);
            None
        }
    }
}

/// Checks a network: address, slash, prefix length.
pub fn network(errors: &mut FieldErrors, path: impl Into<String>, text: &str) {
    if parse_network(text).is_none() {
        errors.invalid(path, text, NOT_A_NETWORK);
    }
}

fn parse_network(text: &str) -> Option<(IpAddr, u8)> {
    let (address, length) = text.split_once('/')?;
    let (address, length): (IpAddr, u8) = (address.parse().ok()?, length.parse().ok()?);
    (length <= if address.is_ipv4() { 32 } else { 128 }).then_some((address, length))
}

/// Checks an address that traffic is sent to.
pub fn endpoint(errors: &mut FieldErrors, path: &str, text: &str) {
    let Some(address) = address(errors, path, text) else { return };
    let (link_local, link_local_multicast) = match address {
        IpAddr::V4(v4) => (v4.is_link_local(), v4.octets()[..3] == [224, 0, 0]),
        IpAddr::V6(v6) => (v6.is_unicast_link_local(), v6.segments()[0] & 0xff0f == 0xff02),
    };
    let faults = [
        (address.is_unspecified(), format!("may not be unspecified ({text})")),
        (address.is_loopback(), "may not be in the loopback range (127.0.0.0/8, ::1/128)".to_owned()),
        (link_local, "may not be in the link-local range (169.254.0.0/16, fe80::/10)".to_owned()),
        (link_local_multicast, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)".to_owned()),
    ];
    for (_, fault) in faults.into_iter().filter(|(holds, _)| *holds) {
        errors.invalid(path, text, fault);
    }
}
