//! The ServiceAccount `default` of every namespace: made again whenever it is missing.

use client::{Controller, Informer, Next, ObjectKey, Sources, runtime};
use jiff::Timestamp;
use k8s_openapi::{
    api::core::v1::{Namespace, ServiceAccount},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kube::{Api, ResourceExt as _, api::PostParams};

use crate::{Context, owners::is_deleting};

const NAME: &str = "default";

pub struct ServiceAccountController {
    client: kube::Client,
    namespaces: Informer<Namespace>,
    accounts: Informer<ServiceAccount>,
}

pub struct Input {
    pub deleting: bool,
    pub exists: bool,
}

impl ServiceAccountController {
    pub fn new(context: &Context) -> Self {
        let informers = &context.config.informers;
        ServiceAccountController {
            client: informers.client().clone(),
            namespaces: informers.get(),
            accounts: informers.get(),
        }
    }
}

impl Controller for ServiceAccountController {
    type Input = Input;
    type Plan = bool;
    const NAME: &'static str = "serviceaccount";
    const WORKERS: usize = 1;

    fn sources(&self, sources: &mut Sources) {
        sources.own(&self.namespaces).map(&self.accounts, |account| {
            let namespace = account.namespace().filter(|_| account.name_any() == NAME);
            namespace.map(|name| ObjectKey::new("", name)).into_iter().collect()
        });
    }

    fn gather(&self, key: &ObjectKey) -> Option<Input> {
        let namespace = self.namespaces.get(key)?;
        let exists = self.accounts.get(&ObjectKey::new(&key.name, NAME)).is_some();
        Some(Input { deleting: is_deleting(&*namespace), exists })
    }

    /// Whether to make it.
    fn decide(&self, input: &Input, _: Timestamp) -> bool {
        !input.deleting && !input.exists
    }

    async fn apply(&self, key: &ObjectKey, _: Input, make: bool) -> Result<Next, kube::Error> {
        if make {
            let metadata = ObjectMeta { name: Some(NAME.to_owned()), ..ObjectMeta::default() };
            let account = ServiceAccount { metadata, ..ServiceAccount::default() };
            let api: Api<ServiceAccount> = Api::namespaced(self.client.clone(), &key.name);
            match runtime::ignore_exists(api.create(&PostParams::default(), &account).await) {
                Err(error) if !runtime::is_terminating(&error) => return Err(error),
                _ => {}
            }
        }
        Ok(Next::Done)
    }
}
