//! Generates both ends of etcd's API from `proto/etcd.proto`, without `protoc`.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=proto/etcd.proto");
    let descriptors = protox::compile(["etcd.proto"], ["proto"])?;
    // Keys and values are shared, not copied.
    tonic_prost_build::configure().bytes(".").compile_fds(descriptors)?;
    Ok(())
}
