//! Service account tokens bound to pods: asked for once, kept in memory, renewed in time.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::authentication::v1::{BoundObjectReference, TokenRequest, TokenRequestSpec};
use k8s_openapi::api::core::v1::{Pod, ServiceAccount};
use kube::api::{Api, PostParams};

use super::payload::TokenWanted;

/// A token is renewed at the latest after this time, however long it lives.
const LONGEST: SignedDuration = SignedDuration::from_hours(24);

#[derive(Clone, Debug)]
struct Token {
    text: String,
    renew_at: Timestamp,
    expires: Timestamp,
}

/// The tokens of one pod.
#[derive(Clone, Debug, Default)]
pub struct Tokens {
    held: BTreeMap<TokenWanted, Token>,
}

impl Tokens {
    /// When the first of the tokens wants renewal.
    pub fn renew_at(&self) -> Option<Timestamp> {
        self.held.values().map(|t| t.renew_at).min()
    }

    /// The tokens that `pod` wants, asked for where there is none or it is due. One that cannot be renewed is used
    /// until it expires.
    pub async fn get(
        &mut self,
        client: &kube::Client,
        pod: &Pod,
        wanted: &[TokenWanted],
        now: Timestamp,
    ) -> Result<BTreeMap<TokenWanted, String>, String> {
        for want in wanted {
            let held = self.held.get(want);
            if held.is_some_and(|t| t.renew_at > now) {
                continue;
            }
            match request(client, pod, want, now).await {
                Ok(token) => {
                    self.held.insert(want.clone(), token);
                }
                Err(error) => match self.held.get_mut(want).filter(|t| t.expires > now) {
                    Some(token) => {
                        tracing::info!(%error, "service account token not renewed, trying again in a minute");
                        token.renew_at = now + SignedDuration::from_mins(1);
                    }
                    None => return Err(format!("failed to fetch token: {error}")),
                },
            }
        }
        self.held.retain(|w, _| wanted.contains(w));
        Ok(self.held.iter().map(|(w, t)| (w.clone(), t.text.clone())).collect())
    }
}

async fn request(client: &kube::Client, pod: &Pod, want: &TokenWanted, now: Timestamp) -> Result<Token, kube::Error> {
    let meta = &pod.metadata;
    let namespace = meta.namespace.as_deref().unwrap_or_default();
    let account = pod.spec.as_ref().and_then(|s| s.service_account_name.clone()).filter(|n| !n.is_empty());
    let body = TokenRequest {
        spec: Some(TokenRequestSpec {
            audiences: Some(vec![want.audience.clone()]).filter(|_| !want.audience.is_empty()),
            expiration_seconds: Some(want.seconds),
            bound_object_ref: Some(BoundObjectReference {
                api_version: Some("v1".into()),
                kind: Some("Pod".into()),
                name: meta.name.clone(),
                uid: meta.uid.clone(),
            }),
            ..TokenRequestSpec::default()
        }),
        ..TokenRequest::default()
    };
    let api: Api<ServiceAccount> = Api::namespaced(client.clone(), namespace);
    let account = account.as_deref().unwrap_or("default");
    let status = api.create_token_request(account, &PostParams::default(), &body).await?.status;
    let lives = SignedDuration::from_secs(want.seconds);
    let status = status.unwrap_or_default();
    let text = status.token.unwrap_or_default();
    let expires = status.expiration_timestamp.map_or(now + lives, |t| t.0);
    let lives = expires.duration_since(now);
    // At four fifths of its life, as upstream does it.
    let renew_at = now + (lives * 4 / 5).min(LONGEST);
    Ok(Token { text, renew_at, expires })
}
