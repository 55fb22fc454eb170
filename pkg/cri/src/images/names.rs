//! Image names as a runtime stores them: with registry, repository and tag, nothing implied.
//!
//! The rules are those of the reference grammar that container tools share: a first component counts as a registry
//! when it has a dot or a port, or is `localhost`; anything else is on `docker.io`, single words in its `library`.

/// The registry of images that name none.
pub const HUB: &str = "docker.io";
/// Where that is.
pub const HUB_HOST: &str = "registry-1.docker.io";
/// What it was called: the only other name that the grammar takes for it.
const HUB_INDEX: &str = "index.docker.io";

/// The name under which the registry at a host is known.
pub fn registry(host: &str) -> &str {
    if [HUB_HOST, HUB_INDEX].contains(&host) { HUB } else { host }
}

/// The registry of an image as its full name has it, and the rest of the name as it is given.
pub fn split(name: &str) -> (&str, &str) {
    match name.split_once('/') {
        Some((HUB_INDEX, rest)) => (HUB, rest),
        Some((first, rest)) if first.contains(['.', ':']) || first == "localhost" => (first, rest),
        _ => (HUB, name),
    }
}

/// The full form of `name`, or what is wrong with it.
pub fn normalise(name: &str) -> Result<String, String> {
    if name.is_empty() || name.len() > 512 || name.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err(format!("{name:?} is not an image name"));
    }
    let (domain, rest) = split(name);
    let (host, port) = domain.split_once(':').unwrap_or((domain, "0"));
    if host.is_empty()
        || port.parse::<u16>().is_err()
        || !host.chars().all(|c| c.is_ascii_alphanumeric() || c == '.' || c == '-')
    {
        return Err(format!("{name:?} is not an image name: {domain:?} is not a registry"));
    }
    let rest = if domain == HUB && !rest.contains('/') { format!("library/{rest}") } else { rest.to_owned() };
    let (named, digest) = match rest.split_once('@') {
        Some((named, digest)) => (named, Some(digest)),
        None => (rest.as_str(), None),
    };
    let (repository, tag) = match named.rsplit_once(':') {
        Some((repository, tag)) => (repository, Some(tag)),
        None => (named, None),
    };
    check_repository(name, repository)?;
    if let Some(tag) = tag
        && (tag.is_empty() || tag.len() > 128 || !tag.chars().all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c)))
    {
        return Err(format!("{name:?} has a tag that no registry accepts"));
    }
    if let Some(digest) = digest
        && !is_digest(digest)
    {
        return Err(format!("{name:?} has a digest that is not sha256:… in hexadecimal"));
    }
    Ok(match (tag, digest) {
        (_, Some(digest)) => format!("{domain}/{repository}@{digest}"),
        (tag, None) => format!("{domain}/{repository}:{}", tag.unwrap_or("latest")),
    })
}

fn check_repository(name: &str, repository: &str) -> Result<(), String> {
    let component = |part: &str| {
        let edge = |c: Option<char>| c.is_some_and(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
        edge(part.chars().next())
            && edge(part.chars().last())
            && part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "._-".contains(c))
    };
    match repository.split('/').find(|part| !component(part)) {
        None => Ok(()),
        Some(part) => Err(format!(
            "{name:?} is not an image name: {part:?} may hold lower-case letters, digits, '.', '_' and '-'"
        )),
    }
}

/// The repository of a full name: without tag and digest.
pub fn repository(name: &str) -> &str {
    let name = name.split_once('@').map_or(name, |(name, _)| name);
    match name.rsplit_once(':') {
        Some((repository, tag)) if !tag.contains('/') => repository,
        _ => name,
    }
}

/// Whether `text` is `sha256:` with 64 hexadecimal digits.
pub fn is_digest(text: &str) -> bool {
    text.strip_prefix("sha256:")
        .is_some_and(|hex| hex.len() == 64 && hex.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_names_become_full_ones() {
        let digest = format!("sha256:{}", "a1".repeat(32));
        let table = [
            ("busybox", "docker.io/library/busybox:latest".to_owned()),
            ("busybox:1.35", "docker.io/library/busybox:1.35".to_owned()),
            ("docker.io/busybox", "docker.io/library/busybox:latest".to_owned()),
            ("index.docker.io/a/b:c", "docker.io/a/b:c".to_owned()),
            // A runtime keeps this name.
            ("registry-1.docker.io/a/b", "registry-1.docker.io/a/b:latest".to_owned()),
            ("rancher/klipper-lb:v1", "docker.io/rancher/klipper-lb:v1".to_owned()),
            ("localhost/app", "localhost/app:latest".to_owned()),
            ("localhost:5000/app", "localhost:5000/app:latest".to_owned()),
            ("quay.io/a/b/c:d", "quay.io/a/b/c:d".to_owned()),
            (&format!("quay.io/a/b:tag@{digest}"), format!("quay.io/a/b@{digest}")),
            (&format!("a@{digest}"), format!("docker.io/library/a@{digest}")),
        ];
        for (name, want) in table {
            assert_eq!(normalise(name), Ok(want), "{name}");
        }
    }

    #[test]
    fn what_no_registry_accepts_is_refused() {
        for name in ["", "Busybox", "a b", "a/", "/a", "a:", "a:t/g", "a@sha256:12", "quay.io//x", "-a", "a\n"] {
            assert!(normalise(name).is_err(), "{name:?}");
        }
    }

    #[test]
    fn repositories_lose_tag_and_digest() {
        let table = [
            ("quay.io/a/b:c", "quay.io/a/b"),
            ("localhost:5000/app", "localhost:5000/app"),
            ("localhost:5000/app:1", "localhost:5000/app"),
            ("quay.io/a/b@sha256:12", "quay.io/a/b"),
        ];
        for (name, want) in table {
            assert_eq!(repository(name), want);
        }
    }
}
