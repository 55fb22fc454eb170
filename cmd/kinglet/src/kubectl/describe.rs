//! `describe` in a simple form: the object as YAML without bookkeeping, and its events.

use anyhow::Context as _;
use clap::Args;

use super::{
    Session, Targets,
    get::{escape, yaml},
    resources::{list, text},
};

/// Flags of `describe`.
#[derive(Args, Debug)]
pub struct Describe {
    #[command(flatten)]
    targets: Targets,
}

impl Describe {
    /// Prints every object that was named.
    pub async fn run(self, session: &Session) -> anyhow::Result<()> {
        for (word, name) in self.targets.pairs()? {
            let resource = session.resources.find(word)?;
            let name = name.with_context(|| format!("which of the {}? Name one", resource.plural))?;
            let mut object = session.get_json(&resource.path(Some(&session.namespace), Some(name))).await?;
            let uid = text(&object["metadata"]["uid"]).to_owned();
            if let Some(metadata) = object["metadata"].as_object_mut() {
                metadata.remove("managedFields");
            }
            if let Some(fields) = object.as_object_mut() {
                fields.remove("apiVersion");
                fields.remove("kind");
            }
            outln!("# {} {name}", resource.kind);
            out!("{}", yaml(&object)?);
            self.events(session, &uid).await?;
        }
        Ok(())
    }

    async fn events(&self, session: &Session, uid: &str) -> anyhow::Result<()> {
        let selector = escape(&format!("involvedObject.uid={uid}"));
        let events = session.get_json(&format!("/api/v1/events?fieldSelector={selector}")).await?;
        let events = list(&events["items"]);
        if events.is_empty() {
            outln!("Events: <none>");
            return Ok(());
        }
        outln!("Events:");
        for event in events {
            let at = event["lastTimestamp"].as_str().or(event["eventTime"].as_str()).unwrap_or("-");
            outln!(
                "  {at}  {}  {}  {}",
                text(&event["type"]),
                text(&event["reason"]),
                text(&event["message"]).trim_end()
            );
        }
        Ok(())
    }
}
