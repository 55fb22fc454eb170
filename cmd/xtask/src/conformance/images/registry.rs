//! The registry's data directory, written as `docker-registry` lays it out.

use std::{fs, path::Path};

use crate::images::archive::Image;

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
