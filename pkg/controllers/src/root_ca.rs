//! The ConfigMap `kube-root-ca.crt` of every namespace: what pods check the API server with.

use std::{collections::BTreeMap, sync::Arc};

use client::{Controller, Informer, Next, ObjectKey, Sources, runtime};
use jiff::Timestamp;
use k8s_openapi::{
    api::core::v1::{ConfigMap, Namespace},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kube::{
    Api, ResourceExt as _,
    api::{Patch, PatchParams, PostParams},
};
use serde_json::json;

use crate::{Context, owners::is_deleting};

const NAME: &str = "kube-root-ca.crt";
const KEY: &str = "ca.crt";
const DESCRIPTION: &str = "kubernetes.io/description";
const TEXT: &str = "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints \
                    such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across \
                    distributions of Kubernetes clusters.";

pub struct RootCaController {
    client: kube::Client,
    root_ca: String,
    namespaces: Informer<Namespace>,
    maps: Informer<ConfigMap>,
}

pub struct Input {
    pub deleting: bool,
    pub there: Option<Arc<ConfigMap>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plan {
    Nothing,
    Create,
    Correct,
}

impl RootCaController {
    pub fn new(context: &Context) -> Self {
        let informers = &context.config.informers;
        // Only these: the other ConfigMaps of the cluster are nobody's business here.
        let wanted = kube::runtime::watcher::Config::default().fields(&format!("metadata.name={NAME}"));
        RootCaController {
            client: informers.client().clone(),
            root_ca: context.config.root_ca.clone(),
            namespaces: informers.get(),
            maps: Informer::start(Api::all(informers.client().clone()), wanted, context.runtime.stop.clone()),
        }
    }

    fn data(&self) -> BTreeMap<String, String> {
        [(KEY.to_owned(), self.root_ca.clone())].into()
    }
}

impl Controller for RootCaController {
    type Input = Input;
    type Plan = Plan;
    const NAME: &'static str = "root-ca-certificate-publisher";
    const WORKERS: usize = 1;

    fn sources(&self, sources: &mut Sources) {
        sources.own(&self.namespaces).map(&self.maps, |map| {
            let namespace = map.namespace().filter(|_| map.name_any() == NAME);
            namespace.map(|name| ObjectKey::new("", name)).into_iter().collect()
        });
    }

    fn gather(&self, key: &ObjectKey) -> Option<Input> {
        let namespace = self.namespaces.get(key)?;
        let there = self.maps.get(&ObjectKey::new(&key.name, NAME));
        Some(Input { deleting: is_deleting(&*namespace), there })
    }

    fn decide(&self, input: &Input, _: Timestamp) -> Plan {
        decide(input, &self.data())
    }

    async fn apply(&self, key: &ObjectKey, _: Input, plan: Plan) -> Result<Next, kube::Error> {
        let api: Api<ConfigMap> = Api::namespaced(self.client.clone(), &key.name);
        match plan {
            Plan::Nothing => {}
            Plan::Create => {
                let metadata = ObjectMeta {
                    name: Some(NAME.to_owned()),
                    annotations: Some([(DESCRIPTION.to_owned(), TEXT.to_owned())].into()),
                    ..ObjectMeta::default()
                };
                let map = ConfigMap { metadata, data: Some(self.data()), ..ConfigMap::default() };
                match runtime::ignore_exists(api.create(&PostParams::default(), &map).await) {
                    Err(error) if !runtime::is_terminating(&error) => return Err(error),
                    _ => {}
                }
            }
            Plan::Correct => {
                // Keys that are not ours are taken away, as upstream does: a merge patch cannot.
                let patch = json!([{ "op": "add", "path": "/data", "value": self.data() }]);
                let patch: json_patch::Patch = serde_json::from_value(patch).expect("a JSON patch");
                api.patch(NAME, &PatchParams::default(), &Patch::<()>::Json(patch)).await?;
            }
        }
        Ok(Next::Done)
    }
}

fn decide(input: &Input, data: &BTreeMap<String, String>) -> Plan {
    match &input.there {
        _ if input.deleting => Plan::Nothing,
        None => Plan::Create,
        Some(map) if map.data.as_ref() == Some(data) => Plan::Nothing,
        Some(_) => Plan::Correct,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn made_where_missing_and_corrected_where_wrong() {
        let data: BTreeMap<_, _> = [(KEY.to_owned(), "PEM".to_owned())].into();
        let map = |data: &BTreeMap<String, String>| {
            Some(Arc::new(ConfigMap { data: Some(data.clone()), ..ConfigMap::default() }))
        };
        for (what, deleting, there, expected) in [
            ("missing", false, None, Plan::Create),
            ("right", false, map(&data), Plan::Nothing),
            ("wrong", false, map(&BTreeMap::new()), Plan::Correct),
            ("namespace goes", true, None, Plan::Nothing),
        ] {
            assert_eq!(decide(&Input { deleting, there }, &data), expected, "{what}");
        }
    }
}
