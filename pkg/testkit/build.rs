//! Tells the code for which target it is built: cargo puts binaries into a folder of that name.

fn main() {
    println!("cargo::rustc-env=TARGET={}", std::env::var("TARGET").expect("cargo sets TARGET"));
    println!("cargo::rerun-if-changed=build.rs");
}
