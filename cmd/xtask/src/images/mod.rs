//! `cargo xtask images`: the images of the tests and of the README's tour, built from packages of
//! the distribution, without a registry.
//!
//! A recipe names packages, and the programs of them that it wants; the libraries that those
//! programs load are found by the package's own dynamic loader and come along. The results are
//! archives in `target/images`, in the formats that nodes import.

mod archive;
mod root;

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context as _;

use self::{archive::Format, root::Root};

/// How an image is made.
struct Recipe {
    /// Name of the archive, without suffix.
    file: &'static str,
    /// Image reference.
    reference: &'static str,
    format: Format,
    packages: &'static [&'static str],
    /// Programs and data that are taken from the packages; folders whole.
    take: &'static [&'static str],
    /// Files that are written, with their mode.
    write: &'static [(&'static str, u32, &'static str)],
    /// Symbolic links: path, target.
    link: &'static [(&'static str, &'static str)],
    /// Folders that must be there.
    folders: &'static [&'static str],
    /// busybox applets are linked into `/bin`.
    applets: bool,
    command: &'static [&'static str],
}

const PASSWD: &str = "root:x:0:0:root:/root:/bin/sh\nwww-data:x:33:33:www-data:/var/www:/bin/false\nnobody:x:65534:65534:nobody:/:/bin/false\n";
const GROUP: &str = "root:x:0:\nwww-data:x:33:\nnogroup:x:65534:\n";

const RECIPES: &[Recipe] = &[
    Recipe {
        file: "shell",
        reference: "kinglet.dev/shell:1",
        format: Format::Oci,
        packages: &["busybox", "curl", "bind9-dnsutils"],
        take: &["/bin/busybox", "/usr/bin/curl", "/usr/bin/dig"],
        write: &[("/etc/passwd", 0o644, PASSWD), ("/etc/group", 0o644, GROUP)],
        link: &[],
        folders: &["/tmp", "/root", "/var/run"],
        applets: true,
        command: &["/bin/sh"],
    },
    Recipe {
        file: "nginx",
        reference: "docker.io/library/nginx:1.25",
        format: Format::DockerGzip,
        packages: &["nginx", "busybox"],
        take: &["/usr/sbin/nginx", "/bin/busybox", "/etc/nginx/mime.types"],
        write: &[
            ("/etc/passwd", 0o644, PASSWD),
            ("/etc/group", 0o644, GROUP),
            ("/etc/nginx/nginx.conf", 0o644, include_str!("nginx.conf")),
            ("/usr/share/nginx/html/index.html", 0o644, "<h1>Welcome to nginx!</h1>\n"),
        ],
        link: &[("/var/log/nginx/access.log", "/dev/stdout"), ("/var/log/nginx/error.log", "/dev/stderr")],
        folders: &["/tmp", "/run", "/var/lib/nginx", "/etc/nginx/conf.d"],
        applets: true,
        command: &["/usr/sbin/nginx", "-g", "daemon off;"],
    },
];

/// Builds what is missing or out of date; answers with the folder of the archives.
pub fn build() -> anyhow::Result<PathBuf> {
    let out = crate::repository().join("target/images");
    fs::create_dir_all(&out)?;
    for recipe in RECIPES {
        let archive = out.join(format!("{}{}", recipe.file, recipe.format.suffix()));
        let source = fs::metadata(std::env::current_exe()?)?.modified()?;
        if fs::metadata(&archive).and_then(|m| m.modified()).is_ok_and(|made| made > source) {
            println!("{} is up to date", archive.display());
            continue;
        }
        make(recipe, &out, &archive).with_context(|| format!("building {}", recipe.reference))?;
        println!("{} holds {}", archive.display(), recipe.reference);
    }
    Ok(out)
}

fn make(recipe: &Recipe, out: &Path, archive: &Path) -> anyhow::Result<()> {
    let packages = root::unpack(recipe.packages, &out.join("packages").join(recipe.file))?;
    let mut root = Root::new(packages);
    for path in recipe.folders {
        root.folder(path);
    }
    for path in recipe.take {
        root.take(path)?;
    }
    for (path, mode, text) in recipe.write {
        root.write(path, *mode, text.as_bytes().to_vec());
    }
    for (path, target) in recipe.link {
        root.link(path, target);
    }
    if recipe.applets {
        for applet in root.applets()? {
            root.link(&format!("/bin/{applet}"), "/bin/busybox");
        }
    }
    archive::write(archive, recipe.reference, recipe.format, &root.layer()?, recipe.command)
}
