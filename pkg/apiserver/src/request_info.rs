//! What a request asks for, read from its method and path. Ten URL shapes, one structure:
//!
//! | path | what |
//! |---|---|
//! | `/api/V/R`, `/apis/G/V/R` | a collection, of all namespaces or cluster-scoped |
//! | `…/R/NAME` | an object |
//! | `…/R/NAME/SUB[/REST]` | a subresource |
//! | `…/namespaces/NS/R[/NAME[/SUB[/REST]]]` | the same within a namespace |
//! | `…/namespaces/NAME[/SUB]` with `status`, `finalize` | the namespace itself |
//! | `…/watch/…` | the old form of a watch; only with GET, and not of subresources |
//! | anything else | not a resource |

use http::Method;

use crate::query::{Query, percent_decode};

/// The request, as authorizers and the pipeline see it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestInfo {
    /// Whether it is about an API resource.
    pub resource_request: bool,
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`; for other
    /// paths the lower-case method.
    pub verb: &'static str,
    /// API group; empty for core.
    pub group: String,
    /// API version.
    pub version: String,
    /// Resource name in the URL.
    pub resource: String,
    /// Subresource; empty for none.
    pub subresource: String,
    /// Namespace; empty for none. For namespaces themselves it is their own name, as upstream has it.
    pub namespace: String,
    /// Object name; empty for collections.
    pub name: String,
    /// What follows the subresource (proxies).
    pub rest: String,
    /// The decoded path.
    pub path: String,
}

/// Segments behind `namespaces/NAME/` that belong to the namespace itself.
const OF_NAMESPACES: [&str; 2] = ["status", "finalize"];

impl RequestInfo {
    /// Reads a request line.
    pub fn parse(method: &Method, path: &str, query: &Query) -> Self {
        let info = RequestInfo { verb: plain_verb(method), path: percent_decode(path, false), ..Self::default() };
        let segments: Vec<String> =
            path.trim_matches('/').split('/').filter(|s| !s.is_empty()).map(|s| percent_decode(s, false)).collect();
        let mut parts: Vec<&str> = segments.iter().map(String::as_str).collect();
        let (group, skip) = match parts.as_slice() {
            ["api", _, _, ..] => ("", 1),
            ["apis", group, _, _, ..] => (*group, 2),
            _ => return info,
        };
        let version = parts[skip].to_owned();
        let group = group.to_owned();
        parts.drain(..=skip);
        let watched = match parts.as_slice() {
            ["watch", behind @ ..] if method == Method::GET => {
                place(behind).filter(|place| place.subresource.is_empty())
            }
            _ => None,
        };
        let old_watch = watched.is_some();
        let Some(Place { namespace, resource, name, subresource, rest }) = watched.or_else(|| place(&parts)) else {
            return info;
        };
        let mut info = RequestInfo {
            resource_request: true,
            verb: resource_verb(method, name.is_empty(), query),
            group,
            version,
            resource: resource.to_owned(),
            subresource: subresource.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            rest: rest.join("/"),
            path: info.path,
        };
        if old_watch {
            info.verb = "watch";
        }
        // `?fieldSelector=metadata.name=x` makes lists and watches requests about x, for the authorizer.
        if matches!(info.verb, "list" | "watch" | "deletecollection")
            && info.name.is_empty()
            && let Some(name) = query.get("fieldSelector").and_then(single_name)
        {
            info.name = name.to_owned();
        }
        info
    }
}

/// What the segments behind the version name.
struct Place<'a> {
    namespace: &'a str,
    resource: &'a str,
    name: &'a str,
    subresource: &'a str,
    rest: &'a [&'a str],
}

fn place<'a>(mut parts: &'a [&'a str]) -> Option<Place<'a>> {
    let mut namespace = "";
    if let ["namespaces", name, behind @ ..] = parts {
        namespace = name;
        if behind.first().is_some_and(|sub| !OF_NAMESPACES.contains(sub)) {
            parts = behind;
        }
    }
    let (resource, name, subresource, rest): (_, _, _, &[&str]) = match parts {
        [] => return None,
        [resource] => (*resource, "", "", &[]),
        [resource, name] => (*resource, *name, "", &[]),
        [resource, name, sub, rest @ ..] => (*resource, *name, *sub, rest),
    };
    Some(Place { namespace, resource, name, subresource, rest })
}

fn single_name(selector: &str) -> Option<&str> {
    let mut names = selector.split(',').filter_map(|term| {
        let name = term.trim().strip_prefix("metadata.name=")?;
        Some(name.strip_prefix('=').unwrap_or(name))
    });
    names.next().filter(|name| !name.is_empty() && !name.contains('/'))
}

fn plain_verb(method: &Method) -> &'static str {
    match *method {
        Method::GET => "get",
        Method::HEAD => "head",
        Method::POST => "post",
        Method::PUT => "put",
        Method::PATCH => "patch",
        Method::DELETE => "delete",
        Method::OPTIONS => "options",
        _ => "",
    }
}

fn resource_verb(method: &Method, collection: bool, query: &Query) -> &'static str {
    match *method {
        Method::POST => "create",
        Method::GET | Method::HEAD if collection && query.flag("watch") => "watch",
        Method::GET | Method::HEAD if collection => "list",
        Method::GET | Method::HEAD => "get",
        Method::PUT => "update",
        Method::PATCH => "patch",
        Method::DELETE if collection => "deletecollection",
        Method::DELETE => "delete",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(method: &str, uri: &str) -> String {
        let (path, query) = uri.split_once('?').map_or((uri, None), |(p, q)| (p, Some(q)));
        let info = RequestInfo::parse(&method.parse().unwrap(), path, &Query::parse(query));
        if !info.resource_request {
            return format!("{} {}", info.verb, info.path);
        }
        let parts =
            [&info.group, &info.version, &info.resource, &info.subresource, &info.namespace, &info.name, &info.rest];
        format!("{} {}", info.verb, parts.map(|p| if p.is_empty() { "-" } else { p }).join(" "))
    }

    #[test]
    fn url_shapes() {
        for (method, uri, want) in [
            ("GET", "/api/v1/pods", "list - v1 pods - - - -"),
            ("GET", "/api/v1/pods?watch=1", "watch - v1 pods - - - -"),
            ("GET", "/api/v1/namespaces/a/pods/b?watch=1", "get - v1 pods - a b -"),
            ("GET", "/api/v1/pods?watch=false", "list - v1 pods - - - -"),
            ("GET", "/api/v1/namespaces/a/pods/b", "get - v1 pods - a b -"),
            ("GET", "/api/v1/namespaces/a/pods?fieldSelector=metadata.name%3Db", "list - v1 pods - a b -"),
            ("GET", "/api/v1/namespaces/a/pods/b/log", "get - v1 pods log a b -"),
            ("POST", "/api/v1/namespaces/a/pods/b/exec?command=ls", "create - v1 pods exec a b -"),
            ("GET", "/api/v1/namespaces/a/services/https:b:1/proxy/x/y", "get - v1 services proxy a https:b:1 x/y"),
            ("GET", "/api/v1/namespaces", "list - v1 namespaces - - - -"),
            ("GET", "/api/v1/namespaces/a", "get - v1 namespaces - a a -"),
            ("PUT", "/api/v1/namespaces/a/finalize", "update - v1 namespaces finalize a a -"),
            ("PATCH", "/api/v1/namespaces/a/status", "patch - v1 namespaces status a a -"),
            ("DELETE", "/apis/apps/v1/namespaces/a/deployments", "deletecollection apps v1 deployments - a - -"),
            ("DELETE", "/apis/apps/v1/namespaces/a/deployments/b", "delete apps v1 deployments - a b -"),
            ("PUT", "/apis/apps/v1/namespaces/a/deployments/b/scale", "update apps v1 deployments scale a b -"),
            ("GET", "/apis/apps/v1/watch/namespaces/a/deployments", "watch apps v1 deployments - a - -"),
            ("GET", "/api/v1/watch/namespaces/a/pods/b", "watch - v1 pods - a b -"),
            ("POST", "/api/v1/watch/namespaces/a/pods", "create - v1 watch a - namespaces pods"),
            ("GET", "/api/v1/watch/namespaces/a/pods/b/exec", "get - v1 watch a - namespaces pods/b/exec"),
            (
                "GET",
                "/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode",
                "get rbac.authorization.k8s.io v1 clusterroles - - system:node -",
            ),
            ("GET", "/apis/apps/v1", "get /apis/apps/v1"),
            ("GET", "/api", "get /api"),
            ("POST", "/healthz/etcd", "post /healthz/etcd"),
        ] {
            assert_eq!(parse(method, uri), want, "{method} {uri}");
        }
    }
}
