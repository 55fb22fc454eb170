//! Generates the CRI client from `proto/cri.proto`, without `protoc`.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=proto/cri.proto");
    let descriptors = protox::compile(["cri.proto"], ["proto"])?;
    tonic_prost_build::configure().build_server(true).compile_fds(descriptors)?;
    Ok(())
}
