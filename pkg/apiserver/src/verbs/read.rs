//! get and list.

use std::ops::ControlFlow;

use api::Status;
use store::{KeyRange, Range};

use super::select::Selection;
use crate::{
    cache::{Cache, Caches, Facts, Object, Wanted},
    call::Call,
    keys,
    negotiate::Encoding,
    query::{At, Continue, ListOptions},
    reply::{List, Reply},
    stored::Stored,
};

/// Answers a get of the main resource.
pub async fn get(call: &Call) -> Result<Reply, Status> {
    // What is read is the newest state; a revision that is yet to come is waited for, as by lists.
    if let Some(oldest) = call.query.resource_version()? {
        call.server.caches.reach(oldest).await?;
    }
    let current = current(call).await?;
    if call.kind.conversion.is_none() && call.accepted.encoding != Encoding::Protobuf {
        return Ok(Reply::Object(200, current));
    }
    // What has to be made of the committed bytes was perhaps made for another reader of the cached object.
    let cache = call.server.caches.of(call.kinds.stored(&call.kind)).await?;
    let key = keys::object(&call.kind, call.namespace(), &call.info.name);
    let cached = cache.get(key.as_bytes()).filter(|object| object.stored.revision == current.revision);
    Ok(Reply::Object(200, cached.map_or(current, |object| object.stored.clone())))
}

/// The object that a request names, as committed last.
pub async fn current(call: &Call) -> Result<Stored, Status> {
    call.server.read(&call.kind, call.namespace(), &call.info.name).await?.ok_or_else(|| call.not_found())
}

/// Answers a list.
pub async fn list(call: &Call) -> Result<Reply, Status> {
    let options = ListOptions::parse(&call.query, false)?;
    select(call, options).await.map(Reply::List)
}

/// The objects that a list's options select.
pub async fn select(call: &Call, mut options: ListOptions) -> Result<List, Status> {
    let cache = call.server.caches.of(call.kinds.stored(&call.kind)).await?;
    let selection = Selection::new(&call.kind, &mut options, &call.info.name, cache.selectable())?;
    let keys = KeyRange::prefix(keys::scope(&call.kind, call.namespace()));
    match (&options.continuation, options.at) {
        (Some(token), _) => next_page(call, &cache, &options, token, keys, &selection).await,
        (None, At::Exact(revision)) => at_revision(call, &cache, &options, keys, revision, &selection).await,
        (None, at) => {
            let oldest = reach(&call.server.caches, at).await?;
            from_cache(call, &cache, &options, keys, oldest, &selection).await
        }
    }
}

/// Waits for what a list or watch asks for; answers with a revision that the caches have reached.
pub async fn reach(caches: &Caches, at: At) -> Result<i64, Status> {
    match at {
        At::Head => caches.at_head().await,
        At::Any => Ok(*caches.seen().borrow()),
        At::NotOlder(revision) | At::Exact(revision) => {
            caches.reach(revision).await?;
            Ok(revision.max(*caches.seen().borrow()))
        }
    }
}

async fn from_cache(
    call: &Call,
    cache: &Cache,
    options: &ListOptions,
    keys: KeyRange,
    oldest: i64,
    selection: &Selection,
) -> Result<List, Status> {
    let mut pager = Pager::new(options.limit);
    let page = cache.list(&keys, |object| pager.next(selection.matches(object)));
    let revision = page.revision.max(oldest);
    let objects = page.objects.iter().map(|object| object.stored.clone()).collect();
    let mut list = List { objects, revision, ..List::default() };
    if pager.more {
        finish_page(&mut list, options, selection, pager.rest, page.objects.last().map(|o| &o.key[..]), call);
    }
    Ok(list)
}

/// Counts a page: takes `limit` objects and then looks whether there are more.
struct Pager {
    limit: usize,
    taken: usize,
    more: bool,
    rest: usize,
}

impl Pager {
    fn new(limit: usize) -> Self {
        Pager { limit, taken: 0, more: false, rest: 0 }
    }

    fn next(&mut self, matches: bool) -> Wanted {
        if self.limit > 0 && self.taken == self.limit {
            self.more = true;
            self.rest += 1;
            return Wanted::No;
        }
        if !matches {
            return Wanted::No;
        }
        self.taken += 1;
        Wanted::Yes
    }
}

fn finish_page(
    list: &mut List,
    options: &ListOptions,
    selection: &Selection,
    rest: usize,
    last: Option<&[u8]>,
    call: &Call,
) {
    let prefix = keys::prefix(&call.kind);
    let Some(last) = last.and_then(|key| std::str::from_utf8(key).ok()).and_then(|key| key.strip_prefix(&prefix))
    else {
        return;
    };
    debug_assert!(options.limit > 0, "only a limit makes pages");
    list.continuation = Some(Continue { revision: list.revision, start: format!("{last}\0") }.encode());
    if selection.is_all() {
        list.remaining = Some(rest);
    }
}

async fn next_page(
    call: &Call,
    cache: &Cache,
    options: &ListOptions,
    token: &Continue,
    keys: KeyRange,
    selection: &Selection,
) -> Result<List, Status> {
    let start = format!("{}{}", keys::prefix(&call.kind), token.start);
    if !keys.contains(start.as_bytes()) {
        return Err(Status::bad_request("continue key is not valid: it points outside of what is listed"));
    }
    let keys = KeyRange { start: start.into(), ..keys };
    if token.revision < 0 {
        let head = call.server.caches.at_head().await?;
        return from_cache(call, cache, options, keys, head, selection).await;
    }
    at_revision(call, cache, options, keys, token.revision, selection).await
}

/// A page as of a revision: from the cache if nothing changed since, else from the store's history.
async fn at_revision(
    call: &Call,
    cache: &Cache,
    options: &ListOptions,
    keys: KeyRange,
    revision: i64,
    selection: &Selection,
) -> Result<List, Status> {
    call.server.caches.reach(revision).await?;
    if cache.unchanged_since(revision) && call.server.keeps(revision) {
        let mut list = from_cache(call, cache, options, keys.clone(), revision, selection).await?;
        if cache.unchanged_since(revision) {
            list.revision = revision;
            return Ok(list);
        }
    }
    let mut pager = Pager::new(options.limit);
    let mut list = List { revision, ..List::default() };
    let mut last = None;
    // The store is read in pieces, since a selector may skip much.
    let mut next = keys.clone();
    let piece = if options.limit > 0 { options.limit.max(500) } else { 0 };
    loop {
        let range = Range { keys: next.clone(), revision, limit: piece, count_only: false };
        let read = match call.server.store.range(range).await {
            Ok(read) => read,
            Err(store::Error::Compacted { .. }) => return Err(expired(options.continuation.as_ref())),
            Err(error) => return Err(keys::store_error(error)),
        };
        for kv in &read.kvs {
            let stored = Stored::new(kv.value.clone(), kv.mod_revision)?;
            let facts = Facts::read(stored.raw(), cache.selectable());
            let object = Object { key: kv.key.clone(), stored, facts };
            if pager.next(selection.matches(&object)) == Wanted::Yes {
                last = Some(object.key);
                list.objects.push(object.stored);
            }
        }
        let step = match read.kvs.last() {
            Some(kv) if read.count > read.kvs.len() && !pager.more => {
                next.start = [&kv.key[..], b"\0"].concat().into();
                ControlFlow::Continue(())
            }
            _ => ControlFlow::Break(read.count - read.kvs.len()),
        };
        if let ControlFlow::Break(unread) = step {
            if pager.more || unread > 0 {
                finish_page(&mut list, options, selection, pager.rest + unread, last.as_deref(), call);
            }
            return Ok(list);
        }
    }
}

/// 410, with a fresh token for those who were in the middle of a list.
fn expired(token: Option<&Continue>) -> Status {
    match token {
        None => Status::expired("The resourceVersion for the provided list is too old."),
        Some(token) => {
            let fresh = Continue { revision: -1, start: token.start.clone() };
            let mut status = Status::expired(
                "The provided continue parameter is too old to display a consistent list result. You can start a new \
                 list without the continue parameter, or use the continue token in this response to retrieve the \
                 remainder of the results. Continuing with the provided token results in an inconsistent list - \
                 objects that were created, modified, or deleted between the time the first chunk was returned and \
                 now may show up in the list.",
            );
            // Moved to the metadata of the answer: see `reply::error_response`.
            status.details = serde_json::json!({"continue": fresh.encode()});
            status
        }
    }
}
