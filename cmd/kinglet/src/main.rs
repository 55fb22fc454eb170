//! kinglet
fn main() {}
