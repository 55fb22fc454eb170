//! `get`: tables as the server makes them, or objects.

use anyhow::bail;
use clap::{Args, ValueEnum};
use futures::{AsyncBufReadExt as _, TryStreamExt as _};
use http::{Request, header::ACCEPT};
use serde_json::{Value, json};

use super::{
    Session, Targets, plain,
    resources::{Resource, list, text},
};

const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";

/// Flags of `get`.
#[derive(Args, Debug)]
pub struct Get {
    #[command(flatten)]
    targets: Targets,
    /// All namespaces
    #[arg(short = 'A', long)]
    all_namespaces: bool,
    /// Only objects with these labels, e.g. app=web
    #[arg(short = 'l', long, value_name = "SELECTOR")]
    selector: Option<String>,
    /// Form of the output [default: a table]
    #[arg(short, long, value_enum)]
    output: Option<Form>,
    /// Without the line of headings
    #[arg(long)]
    no_headers: bool,
    /// Stay, and show changes
    #[arg(short, long)]
    watch: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    Wide,
    Yaml,
    Json,
    Name,
}

impl Get {
    /// Prints what was asked for.
    pub async fn run(self, session: &Session) -> anyhow::Result<()> {
        let pairs = self.targets.pairs()?;
        if self.watch && pairs.len() > 1 {
            bail!("--watch takes one type or one object");
        }
        let mut objects = Vec::new();
        for (at, (word, name)) in pairs.iter().enumerate() {
            let resource = session.resources.find(word)?;
            let path = self.path(session, resource, *name);
            match self.output {
                None | Some(Form::Wide) => {
                    if at > 0 {
                        outln!();
                    }
                    let prefix = if pairs.len() > 1 { resource.called("") } else { String::new() };
                    let version = self.table(session, resource, &path, &prefix).await?;
                    if self.watch {
                        self.follow(session, resource, *name, &version).await?;
                    }
                }
                Some(_) => {
                    let answer = session.get_json(&path).await?;
                    match answer["items"].as_array() {
                        Some(items) => objects.extend(items.iter().map(|item| with_kind(item, resource))),
                        None => objects.push(answer),
                    }
                }
            }
        }
        let single = pairs.len() == 1 && pairs[0].1.is_some();
        self.print(session, objects, single)
    }

    fn path(&self, session: &Session, resource: &Resource, name: Option<&str>) -> String {
        let namespace = (!self.all_namespaces).then_some(session.namespace.as_str());
        let path = resource.path(namespace, name);
        match &self.selector {
            Some(selector) => format!("{path}?labelSelector={}", escape(selector)),
            None => path,
        }
    }

    /// Prints a table; answers with its resource version.
    async fn table(&self, session: &Session, resource: &Resource, path: &str, prefix: &str) -> anyhow::Result<String> {
        let table = session.json(Request::get(path).header(ACCEPT, TABLE), Vec::new()).await?;
        let mut rows = self.rows(&table, resource, prefix);
        if rows.is_empty() && !self.watch {
            match self.all_namespaces || !resource.namespaced {
                true => eprintln!("No resources found"),
                false => eprintln!("No resources found in {} namespace.", session.namespace),
            }
        } else {
            if !self.no_headers {
                rows.insert(0, self.headings(&table, resource));
            }
            out!("{}", align(&rows));
        }
        Ok(text(&table["metadata"]["resourceVersion"]).to_owned())
    }

    fn headings(&self, table: &Value, resource: &Resource) -> Vec<String> {
        let namespace = (self.all_namespaces && resource.namespaced).then(|| "NAMESPACE".to_owned());
        let shown = list(&table["columnDefinitions"]).iter().filter(|c| self.shows(c));
        namespace.into_iter().chain(shown.map(|c| text(&c["name"]).to_uppercase())).collect()
    }

    fn shows(&self, column: &Value) -> bool {
        column["priority"].as_i64().unwrap_or(0) == 0 || self.output == Some(Form::Wide)
    }

    fn rows(&self, table: &Value, resource: &Resource, prefix: &str) -> Vec<Vec<String>> {
        let columns = list(&table["columnDefinitions"]);
        let row = |row: &Value| {
            let namespace = text(&row["object"]["metadata"]["namespace"]);
            let mut cells: Vec<String> =
                (self.all_namespaces && resource.namespaced).then(|| namespace.to_owned()).into_iter().collect();
            let shown =
                list(&row["cells"]).iter().enumerate().filter(|(at, _)| columns.get(*at).is_none_or(|c| self.shows(c)));
            cells.extend(
                shown.map(|(at, cell)| if at == 0 { format!("{prefix}{}", cell_text(cell)) } else { cell_text(cell) }),
            );
            cells
        };
        list(&table["rows"]).iter().map(row).collect()
    }

    /// Prints changes after `version`, until the user ends it.
    async fn follow(
        &self,
        session: &Session,
        resource: &Resource,
        name: Option<&str>,
        version: &str,
    ) -> anyhow::Result<()> {
        let path = self.path(session, resource, None);
        let joint = if path.contains('?') { '&' } else { '?' };
        let mut path = format!("{path}{joint}watch=true&resourceVersion={version}");
        if let Some(name) = name {
            path += &format!("&fieldSelector=metadata.name%3D{name}");
        }
        let request = Request::get(path).header(ACCEPT, TABLE).body(Vec::new())?;
        let mut lines = session.client.request_stream(request).await.map_err(plain)?.lines();
        let mut columns = Value::Null;
        while let Some(line) = lines.try_next().await? {
            let event: Value = serde_json::from_str(&line)?;
            if event["type"] == "ERROR" {
                bail!("from server: {}", text(&event["object"]["message"]));
            }
            let mut table = event["object"].clone();
            match list(&table["columnDefinitions"]).is_empty() {
                true => table["columnDefinitions"] = columns.clone(),
                false => columns = table["columnDefinitions"].clone(),
            }
            out!("{}", align(&self.rows(&table, resource, "")));
        }
        Ok(())
    }

    fn print(&self, session: &Session, mut objects: Vec<Value>, single: bool) -> anyhow::Result<()> {
        let whole = match objects.len() {
            1 if single => objects.remove(0),
            _ => json!({"apiVersion": "v1", "kind": "List", "metadata": {}, "items": objects}),
        };
        match self.output {
            Some(Form::Json) => outln!("{whole:#}"),
            Some(Form::Yaml) => out!("{}", yaml(&whole)?),
            Some(Form::Name) => {
                let all = if single { std::slice::from_ref(&whole) } else { list(&whole["items"]) };
                for object in all {
                    let resource = session.resources.of_object(object)?;
                    outln!("{}", resource.called(text(&object["metadata"]["name"])));
                }
            }
            None | Some(Form::Wide) => {}
        }
        Ok(())
    }
}

/// Items of a list do not say what they are.
fn with_kind(item: &Value, resource: &Resource) -> Value {
    let mut item = item.clone();
    item["apiVersion"] = match resource.group.as_str() {
        "" => resource.version.clone(),
        group => format!("{group}/{}", resource.version),
    }
    .into();
    item["kind"] = resource.kind.clone().into();
    item
}

/// An object as YAML.
pub fn yaml(object: &Value) -> anyhow::Result<String> {
    Ok(serde_saphyr::to_string(object)?)
}

fn cell_text(cell: &Value) -> String {
    match cell {
        Value::Null => "<none>".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Columns with three blanks between, as kubectl has them.
fn align(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |at: usize| rows.iter().filter_map(|r| r.get(at)).map(|c| c.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &Vec<String>| {
        let padded: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        format!("{}\n", padded.join("   ").trim_end())
    };
    rows.iter().map(line).collect()
}

/// A value of a URL's query.
pub fn escape(text: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-._~/,".contains(&b);
    text.bytes().map(|b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_without_blanks_at_the_end() {
        let rows = [vec!["NAME".to_owned(), "AGE".to_owned()], vec!["web-1".to_owned(), "3s".to_owned()]];
        assert_eq!(align(&rows), "NAME    AGE\nweb-1   3s\n");
    }

    #[test]
    fn selectors_survive_the_url() {
        assert_eq!(escape("app=web,tier in (a, b)"), "app%3Dweb,tier%20in%20%28a,%20b%29");
    }
}
