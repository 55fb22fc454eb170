//! `cargo xtask images`: the images of the tests and of the README's tour, built from packages of
//! the distribution, without a registry.
//!
//! A layer names packages, and the programs of them that it wants; the libraries that those
//! programs load are found by the package's own dynamic loader and come along. The results are
//! archives in `target/images`, in the formats that nodes import.

pub mod archive;
pub mod root;

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context as _;

use self::{
    archive::{Format, Image, Start, Tar, hex},
    root::Root,
};
use crate::kept::unless_made;

/// What a layer holds, and where it comes from.
#[derive(Debug)]
pub struct Layer {
    /// Of the file that it is kept in.
    pub name: &'static str,
    pub packages: &'static [&'static str],
    /// Programs and data that are taken from the packages.
    pub take: &'static [&'static str],
    /// Files from elsewhere: path, mode, and where it is below the folder of sources.
    pub copy: &'static [(&'static str, u32, &'static str)],
    /// Files that are written, with their mode.
    pub write: &'static [(&'static str, u32, &'static str)],
    /// Symbolic links: path, target.
    pub link: &'static [(&'static str, &'static str)],
    /// Folders that must be there.
    pub folders: &'static [&'static str],
    /// busybox applets are linked into `/bin`.
    pub applets: bool,
}

/// An image of the black-box tests.
struct Archive {
    /// Image reference.
    reference: &'static str,
    format: Format,
    layer: Layer,
    command: &'static [&'static str],
}

pub const PASSWD: (&str, u32, &str) = (
    "/etc/passwd",
    0o644,
    "root:x:0:0:root:/root:/bin/sh\nwww-data:x:33:33:www-data:/var/www:/bin/false\nnobody:x:65534:65534:nobody:/:/bin/false\n",
);
pub const GROUP: (&str, u32, &str) = ("/etc/group", 0o644, "root:x:0:\nwww-data:x:33:\nnogroup:x:65534:\n");

/// nginx, with a page and a shell.
pub const NGINX: Layer = Layer {
    name: "nginx",
    packages: &["nginx", "busybox"],
    take: &["/usr/sbin/nginx", "/bin/busybox", "/etc/nginx/mime.types"],
    write: &[
        PASSWD,
        GROUP,
        ("/etc/nginx/nginx.conf", 0o644, include_str!("nginx.conf")),
        ("/usr/share/nginx/html/index.html", 0o644, "<h1>Welcome to nginx!</h1>\n"),
    ],
    link: &[("/var/log/nginx/access.log", "/dev/stdout"), ("/var/log/nginx/error.log", "/dev/stderr")],
    folders: &["/tmp", "/run", "/var/lib/nginx", "/etc/nginx/conf.d"],
    applets: true,
    ..Layer::EMPTY
};
/// What starts it.
pub const NGINX_COMMAND: &[&str] = &["/usr/sbin/nginx", "-g", "daemon off;"];

const ARCHIVES: &[Archive] = &[
    Archive {
        reference: "kinglet.dev/shell:1",
        format: Format::Oci,
        layer: Layer {
            name: "shell",
            packages: &["busybox", "curl", "bind9-dnsutils"],
            take: &["/bin/busybox", "/usr/bin/curl", "/usr/bin/dig"],
            write: &[PASSWD, GROUP],
            folders: &["/tmp", "/root", "/var/run"],
            applets: true,
            ..Layer::EMPTY
        },
        command: &["/bin/sh"],
    },
    Archive {
        reference: "docker.io/library/nginx:1.25",
        format: Format::DockerGzip,
        layer: NGINX,
        command: NGINX_COMMAND,
    },
];

/// Builds what is missing or out of date; answers with the folder of the archives.
pub fn build() -> anyhow::Result<PathBuf> {
    let out = crate::repository().join("target/images");
    for Archive { reference, format, layer, command } in ARCHIVES {
        let layers = [layer.tar(&out.join("layers"), &out)?];
        let image = Image { reference, layers: &layers, start: &Start::command(command) };
        let path = out.join(format!("{}{}", layer.name, format.suffix()));
        image.write(&path, *format)?;
        println!("{} holds {reference}", path.display());
    }
    Ok(out)
}

impl Layer {
    /// Nothing.
    pub const EMPTY: Layer =
        Layer { name: "", packages: &[], take: &[], copy: &[], write: &[], link: &[], folders: &[], applets: false };

    /// What the layer depends on, as a digest: this description, the sources, and the code that makes it.
    pub fn made_from(&self, sources: &Path) -> anyhow::Result<String> {
        let mut text = format!("{self:?}{}{}", include_str!("mod.rs"), include_str!("root.rs"));
        for (_, _, source) in self.copy {
            text += &hex(&read(&sources.join(source))?);
        }
        Ok(hex(text.as_bytes()))
    }

    /// The layer as a tar; it is kept in `dir`, and made anew when it is out of date.
    pub fn tar(&self, dir: &Path, sources: &Path) -> anyhow::Result<Tar> {
        let file = dir.join(self.name).with_extension("tar");
        unless_made(&file, &self.made_from(sources)?, || {
            println!("making the layer {}", self.name);
            fs::create_dir_all(dir)?;
            let packages = tempfile::tempdir_in(dir)?;
            let data =
                self.make(packages.path(), sources).with_context(|| format!("making the layer {}", self.name))?;
            // Others may have a link to the old one.
            let new = file.with_extension("new");
            fs::write(&new, data)?;
            Ok(fs::rename(new, &file)?)
        })?;
        Ok(Tar { data: read(&file)?, file })
    }

    fn make(&self, packages: &Path, sources: &Path) -> anyhow::Result<Vec<u8>> {
        let mut root = Root::new(root::unpack(self.packages, packages)?);
        for path in self.folders {
            root.folder(path);
        }
        for path in self.take {
            root.take(path)?;
        }
        for (path, mode, source) in self.copy {
            root.write(path, *mode, read(&sources.join(source))?);
        }
        for (path, mode, text) in self.write {
            root.write(path, *mode, text.as_bytes().to_vec());
        }
        for (path, target) in self.link {
            root.link(path, target);
        }
        if self.applets {
            for applet in root.applets()? {
                root.link(&format!("/bin/{applet}"), "/bin/busybox");
            }
        }
        root.layer()
    }
}

fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    fs::read(path).with_context(|| path.display().to_string())
}
