//! Checks of addresses and networks.
//!
//! Source: apimachinery `util/validation/ip.go`, with StrictIPCIDRValidation on: no leading zeros, no
//! IPv4-mapped IPv6, no bits beyond a prefix. Fields that are newer ask for the canonical form too.

use std::net::IpAddr;

use super::FieldErrors;

const NOT_AN_IP: &str = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
const NOT_A_NETWORK: &str = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";

/// Checks an address.
pub fn address(errors: &mut FieldErrors, path: impl Into<String>, text: &str) -> Option<IpAddr> {
    let fault = match (text.parse(), parse_sloppy(text)) {
        (Ok(IpAddr::V6(v6)), _) if v6.to_ipv4_mapped().is_some() => "must not be an IPv4-mapped IPv6 address",
        (Ok(address), _) => return Some(address),
        (Err(_), Some(_)) => "must not have leading 0s",
        (Err(_), None) => NOT_AN_IP,
    };
    errors.invalid(path, text, fault);
    None
}

/// Checks an address that must be written as everybody writes it.
pub fn canonical_address(errors: &mut FieldErrors, path: &str, text: &str) -> Option<IpAddr> {
    let address = address(errors, path, text)?;
    if address.to_string() != text {
        errors.invalid(path, text, format!("must be in canonical form (\"{address}\")"));
    }
    Some(address)
}

/// An address whose decimal numbers may have leading zeros.
pub fn parse_sloppy(text: &str) -> Option<IpAddr> {
    let (head, v4) = text.rsplit_once(':').map_or(("", text), |(head, v4)| (head, v4));
    if !v4.contains('.') {
        return text.parse().ok();
    }
    let short = |number: &str| match number.trim_start_matches('0') {
        "" if !number.is_empty() => "0".to_owned(),
        rest => rest.to_owned(),
    };
    let v4 = v4.split('.').map(short).collect::<Vec<_>>().join(".");
    if head.is_empty() { v4.parse().ok() } else { format!("{head}:{v4}").parse().ok() }
}

/// Checks a network: address, slash, prefix length.
pub fn network(errors: &mut FieldErrors, path: impl Into<String>, text: &str) {
    let fault = match (parse_network(text), network_sloppy(text)) {
        (Some((IpAddr::V6(v6), _)), _) if v6.to_ipv4_mapped().is_some() => "must not have an IPv4-mapped IPv6 address",
        (Some((address, length)), _) if masked(address, length) != address => {
            "must not have bits set beyond the prefix length"
        }
        (Some(_), _) => return,
        (None, Some(_)) => "must not have leading 0s in IP or prefix length",
        (None, None) => NOT_A_NETWORK,
    };
    errors.invalid(path, text, fault);
}

/// Checks a network that must be written as everybody writes it.
pub fn canonical_network(errors: &mut FieldErrors, path: &str, text: &str) {
    let before = errors.0.len();
    network(errors, path, text);
    if let Some((address, length)) = parse_network(text)
        && errors.0.len() == before
        && format!("{address}/{length}") != text
    {
        errors.invalid(path, text, format!("must be in canonical form (\"{address}/{length}\")"));
    }
}

/// Checks an address with the length of its network.
pub fn interface_address(errors: &mut FieldErrors, path: &str, text: &str) {
    match network_sloppy(text) {
        None => {
            let detail = "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)";
            errors.invalid(path, text, detail);
        }
        Some((address, length)) => {
            let canonical = format!("{address}/{length}");
            if canonical != text {
                errors.invalid(path, text, format!("must be in canonical form ({canonical:?})"));
            }
        }
    }
}

fn parse_network(text: &str) -> Option<(IpAddr, u8)> {
    network_sloppy(text).filter(|(address, _)| {
        let (head, length) = text.split_once('/').unwrap_or_default();
        head.parse() == Ok(*address) && (length == "0" || !length.starts_with('0'))
    })
}

/// A network as lenient readers take it: leading zeros, bits beyond the prefix.
pub fn network_sloppy(text: &str) -> Option<(IpAddr, u8)> {
    let (address, length) = text.split_once('/')?;
    if !length.bytes().all(|c| c.is_ascii_digit()) {
        return None;
    }
    let (address, length): (IpAddr, u8) = (parse_sloppy(address)?, length.parse().ok()?);
    (length <= if address.is_ipv4() { 32 } else { 128 }).then_some((address, length))
}

/// The address without the bits beyond the prefix.
pub fn masked(address: IpAddr, length: u8) -> IpAddr {
    match address {
        IpAddr::V4(v4) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(length)).unwrap_or(0);
            IpAddr::V4((v4.to_bits() & mask).into())
        }
        IpAddr::V6(v6) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(length)).unwrap_or(0);
            IpAddr::V6((v6.to_bits() & mask).into())
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks() {
        for (text, fault) in [
            ("10.0.0.0/8", ""),
            ("::/0", ""),
            ("10.0.0.1/8", "must not have bits set beyond the prefix length"),
            ("010.0.0.0/8", "must not have leading 0s in IP or prefix length"),
            ("10.0.0.0/08", "must not have leading 0s in IP or prefix length"),
            ("::ffff:10.0.0.0/104", "must not have an IPv4-mapped IPv6 address"),
            ("10.0.0.0/33", NOT_A_NETWORK),
            ("10.0.0.0/+8", NOT_A_NETWORK),
            ("FD00::/8", "must be in canonical form (\"fd00::/8\")"),
        ] {
            let mut errors = FieldErrors::default();
            canonical_network(&mut errors, "", text);
            assert_eq!(errors.0.first().map_or("", |e| &e.detail), fault, "{text}");
        }
    }

    #[test]
    fn addresses() {
        for (text, fault) in [
            ("10.0.0.1", ""),
            ("010.0.0.1", "must not have leading 0s"),
            ("::ffff:1.2.3.4", "must not be an IPv4-mapped IPv6 address"),
            ("FD00::1", "must be in canonical form (\"fd00::1\")"),
            ("x", NOT_AN_IP),
        ] {
            let mut errors = FieldErrors::default();
            canonical_address(&mut errors, "", text);
            assert_eq!(errors.0.first().map_or("", |e| &e.detail), fault, "{text}");
        }
    }
}
