//! The registry: its data directory, written as `docker-registry` lays it out, and the program.

use std::{
    fs,
    path::Path,
    process::{Child, Stdio},
    time::Duration,
};

use serde_json::json;

use crate::images::archive::Image;

/// The port that it listens on.
pub const PORT: u16 = 5000;

/// Puts an image into a data directory; layers are links to their files.
pub fn put(dir: &Path, name: &str, tag: &str, image: &Image) -> anyhow::Result<()> {
    let (manifest, blobs) = image.blobs();
    let base = dir.join("docker/registry/v2");
    let layers = image.layers.iter().map(|layer| Some(&layer.file));
    for ((hex, data), layer) in [&manifest].into_iter().chain(&blobs).zip([None, None].into_iter().chain(layers)) {
        let file = base.join("blobs/sha256").join(&hex[..2]).join(hex).join("data");
        match layer {
            _ if file.exists() => {}
            None => write(&file, data)?,
            Some(layer) => {
                fs::create_dir_all(file.parent().expect("it is below the data directory"))?;
                fs::hard_link(layer, file)?;
            }
        }
    }
    let repository = base.join("repositories").join(name);
    let link =
        |place: String, hex: &str| write(&repository.join(place).join("link"), format!("sha256:{hex}").as_bytes());
    for (hex, _) in &blobs {
        link(format!("_layers/sha256/{hex}"), hex)?;
    }
    let hex = &manifest.0;
    link(format!("_manifests/revisions/sha256/{hex}"), hex)?;
    link(format!("_manifests/tags/{tag}/index/sha256/{hex}"), hex)?;
    link(format!("_manifests/tags/{tag}/current"), hex)
}

fn write(path: &Path, data: &[u8]) -> anyhow::Result<()> {
    fs::create_dir_all(path.parent().expect("it is below the data directory"))?;
    Ok(fs::write(path, data)?)
}

/// A registry that runs; it ends when dropped.
pub struct Registry(Child);

impl Registry {
    /// Starts it in the network namespace of a machine, on its address; nothing can be pushed.
    pub fn start(machine: &testkit::Machine, dir: &Path) -> Self {
        let address = format!("{}:{PORT}", machine.ip);
        let config = json!({
            "version": 0.1,
            "log": {"level": "warn", "accesslog": {"disabled": true}},
            "storage": {
                "filesystem": {"rootdirectory": dir},
                "maintenance": {"readonly": {"enabled": true}},
            },
            "http": {"addr": address},
        });
        let file = machine.dir().join("registry.yaml");
        // JSON is YAML.
        fs::write(&file, config.to_string()).expect("the machine's directory can be written");
        let log = fs::File::create(machine.dir().join("registry.log")).expect("the machine's directory can be written");
        let mut command = machine.command("docker-registry");
        command.arg("serve").arg(file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        let registry = Registry(command.spawn().expect("docker-registry can be started"));
        testkit::eventually("the registry answers", Duration::from_secs(30), || {
            machine.run(&format!("curl -sf -o /dev/null http://{address}/v2/")).code == 0
        });
        registry
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
