//! `apply` and `delete`.

use std::{fs, io::Read as _, path::PathBuf};

use anyhow::{Context as _, bail};
use clap::Args;
use http::{Request, header::CONTENT_TYPE};
use serde_json::{Value, json};

use super::{
    Session, Targets,
    resources::{Resource, list, text},
};

/// Flags of `apply`.
#[derive(Args, Debug)]
pub struct Apply {
    /// File or folder of manifests, in YAML or JSON; - reads standard input; may be repeated
    #[arg(short, long, required = true, value_name = "FILE")]
    filename: Vec<PathBuf>,
    /// Take over fields that another manager owns
    #[arg(long)]
    force_conflicts: bool,
    /// Taken for granted: apply is always done by the server
    #[arg(long, hide = true)]
    server_side: bool,
}

/// Flags of `delete`.
#[derive(Args, Debug)]
pub struct Delete {
    /// TYPE NAME…, or TYPE/NAME…
    #[arg(value_name = "TYPE[/NAME]", required_unless_present = "filename")]
    words: Vec<String>,
    /// Delete what this file or folder holds; - reads standard input; may be repeated
    #[arg(short, long, value_name = "FILE", conflicts_with = "words")]
    filename: Vec<PathBuf>,
    /// Seconds that pods have to end
    #[arg(long, value_name = "SECONDS")]
    grace_period: Option<i64>,
    /// Do not complain of what is not there
    #[arg(long)]
    ignore_not_found: bool,
}

impl Apply {
    /// Applies every object, in the order of the files.
    pub async fn run(self, session: &Session) -> anyhow::Result<()> {
        for object in manifests(&self.filename)? {
            let (resource, path, name) = locate(session, &object)?;
            let query = format!("fieldManager=kubectl&fieldValidation=Strict&force={}", self.force_conflicts);
            let request =
                Request::patch(format!("{path}?{query}")).header(CONTENT_TYPE, "application/apply-patch+yaml");
            session.json(request, object.to_string().into_bytes()).await.with_context(|| resource.called(&name))?;
            outln!("{} serverside-applied", resource.called(&name));
        }
        Ok(())
    }
}

impl Delete {
    /// Deletes every object; does not wait until it is gone.
    pub async fn run(self, session: &Session) -> anyhow::Result<()> {
        let mut doomed = Vec::new();
        for object in manifests(&self.filename)? {
            let (resource, path, name) = locate(session, &object)?;
            doomed.push((resource, path, name));
        }
        if !self.words.is_empty() {
            for (word, name) in (Targets { words: self.words.clone() }).pairs()? {
                let resource = session.resources.find(word)?;
                let name = name.with_context(|| format!("which of the {}? Name them", resource.plural))?;
                doomed.push((resource, resource.path(Some(&session.namespace), Some(name)), name.to_owned()));
            }
        }
        for (resource, path, name) in doomed {
            let mut options = json!({"propagationPolicy": "Background"});
            if let Some(seconds) = self.grace_period {
                options["gracePeriodSeconds"] = seconds.into();
            }
            let request = Request::delete(path).header(CONTENT_TYPE, "application/json");
            match session.json(request, options.to_string().into_bytes()).await {
                Ok(_) => outln!("{} deleted", resource.called(&name).replacen('/', " \"", 1) + "\""),
                Err(error) if self.ignore_not_found && error.to_string().contains("(NotFound)") => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

fn locate<'a>(session: &'a Session, object: &Value) -> anyhow::Result<(&'a Resource, String, String)> {
    let resource = session.resources.of_object(object)?;
    let name = text(&object["metadata"]["name"]).to_owned();
    if name.is_empty() {
        bail!("a {} in the manifests has no name", resource.kind);
    }
    let namespace = object["metadata"]["namespace"].as_str().unwrap_or(&session.namespace);
    let path = resource.path(Some(namespace), Some(&name));
    Ok((resource, path, name))
}

/// All objects of files, folders (not below them) and standard input; lists are taken apart.
fn manifests(names: &[PathBuf]) -> anyhow::Result<Vec<Value>> {
    let mut objects = Vec::new();
    for name in names {
        if name.as_os_str() == "-" {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text).context("reading standard input")?;
            objects.extend(parse(&text).context("standard input")?);
            continue;
        }
        let mut files = vec![name.clone()];
        if name.is_dir() {
            let suffix = |p: &PathBuf| p.extension().is_some_and(|e| e == "yaml" || e == "yml" || e == "json");
            let entries = fs::read_dir(name).with_context(|| name.display().to_string())?;
            files = entries.flatten().map(|e| e.path()).filter(suffix).collect();
            files.sort();
        }
        for file in files {
            let text = fs::read_to_string(&file).with_context(|| format!("reading {}", file.display()))?;
            objects.extend(parse(&text).with_context(|| file.display().to_string())?);
        }
    }
    Ok(objects)
}

fn parse(text: &str) -> anyhow::Result<Vec<Value>> {
    let documents: Vec<Value> = serde_saphyr::from_multiple(text)?;
    let mut objects = Vec::new();
    for document in documents {
        match document {
            Value::Null => {}
            list_object if list_object["kind"] == "List" => objects.extend(list(&list_object["items"]).to_vec()),
            object => objects.push(object),
        }
    }
    Ok(objects)
}
