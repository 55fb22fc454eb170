//! Who owns whom: of every object just what deletion needs, and what is to become of each.
//!
//! # Guarantees
//! The graph reacts to changes with the uids that are to be looked at; looking is a pure question
//! ([`Graph::plan`]). An owner that the graph does not know is not taken for gone before the API
//! said so ([`Plan::Verify`]). A plan to delete names the owners it was made for: the graph may be
//! behind, and whoever carries it out has to check that they are the object's owners still.

use std::collections::{HashMap, HashSet};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};

/// Deletion waits until dependents are gone.
pub const FOREGROUND: &str = "foregroundDeletion";
/// Deletion waits until dependents are set free.
pub const ORPHAN: &str = "orphan";

/// `metadata.uid`.
pub type Uid = String;

/// Where an object is found in the API.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// Of the collector's table of kinds.
    pub kind: usize,
    /// Empty for cluster-scoped objects.
    pub namespace: String,
    /// `metadata.name`.
    pub name: String,
}

/// An owner as its dependent names it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Owner {
    /// The reference.
    pub api_version: String,
    pub kind: String,
    pub name: String,
    pub uid: Uid,
    pub blocks: bool,
}

impl Owner {
    fn new(reference: &OwnerReference) -> Self {
        Owner {
            api_version: reference.api_version.clone(),
            kind: reference.kind.clone(),
            name: reference.name.clone(),
            uid: reference.uid.clone(),
            blocks: reference.block_owner_deletion == Some(true),
        }
    }
}

#[derive(Clone, Debug)]
struct Node {
    place: Place,
    owners: Box<[Owner]>,
    deleting: bool,
    /// Has the finalizer, and is being deleted.
    foreground: bool,
    orphaning: bool,
    /// Policies by finalizers, deleting or not.
    has_foreground: bool,
    has_orphan: bool,
}

/// How dependents of what is deleted fare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    Background,
    Foreground,
    Orphan,
}

/// What is to be done about an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Plan {
    Nothing,
    /// Ask the API whether these owners exist, then look again.
    Verify {
        place: Place,
        owners: Vec<Owner>,
    },
    /// Some owners are left: remove the references to those that are gone.
    Unlink {
        place: Place,
        uid: Uid,
        gone: Vec<Uid>,
    },
    /// A dependent of the object waits for it while its owners do: it is to hold them up no more.
    Unblock {
        place: Place,
        uid: Uid,
    },
    /// None of these owners is left.
    Delete {
        place: Place,
        uid: Uid,
        owners: Vec<Uid>,
        policy: Policy,
    },
    /// All that had to go first is gone (or set free): let the object go.
    Release {
        place: Place,
        uid: Uid,
        finalizer: &'static str,
    },
    /// Set the dependents free, then the object.
    Orphan {
        place: Place,
        uid: Uid,
        dependents: Vec<(Place, Uid)>,
    },
    /// Look at the dependents that hold the object up.
    Push {
        dependents: Vec<Uid>,
    },
}

/// See the module.
#[derive(Debug, Default)]
pub struct Graph {
    nodes: HashMap<Uid, Node>,
    /// Also of owners that the graph does not know.
    dependents: HashMap<Uid, HashSet<Uid>>,
    /// Known not to exist; uids are never used again.
    absent: HashSet<Uid>,
}

/// Uids known to be gone that are kept in mind.
const ABSENT_LIMIT: usize = 1000;

impl Graph {
    /// Takes over the state of an object; gives the uids that are to be looked at.
    pub fn observe(&mut self, kind: usize, meta: &ObjectMeta) -> Vec<Uid> {
        let Some(uid) = meta.uid.clone() else { return Vec::new() };
        let finalizers = meta.finalizers.as_deref().unwrap_or_default();
        let (has_foreground, has_orphan) =
            (finalizers.iter().any(|f| f == FOREGROUND), finalizers.iter().any(|f| f == ORPHAN));
        let deleting = meta.deletion_timestamp.is_some();
        let node = Node {
            place: Place {
                kind,
                namespace: meta.namespace.clone().unwrap_or_default(),
                name: meta.name.clone().unwrap_or_default(),
            },
            owners: meta.owner_references.iter().flatten().map(Owner::new).collect(),
            deleting,
            foreground: deleting && has_foreground,
            orphaning: deleting && has_orphan,
            has_foreground,
            has_orphan,
        };
        self.absent.remove(&uid);
        let before = self.nodes.insert(uid.clone(), node.clone());
        let mut look = Vec::new();
        let old_owners = before.as_ref().map(|b| b.owners.clone()).unwrap_or_default();
        if before.is_none() || old_owners != node.owners {
            for owner in old_owners.iter().filter(|o| !node.owners.contains(o)) {
                self.unlink(&owner.uid, &uid);
                // It may hold an owner up no more.
                look.push(owner.uid.clone());
            }
            for owner in &node.owners {
                self.dependents.entry(owner.uid.clone()).or_default().insert(uid.clone());
            }
            if !node.owners.is_empty() {
                look.push(uid.clone());
            }
        }
        let newly = |flag: fn(&Node) -> bool| flag(&node) && !before.as_ref().is_some_and(flag);
        if newly(|n| n.foreground) {
            look.push(uid.clone());
            look.extend(self.dependents.get(&uid).into_iter().flatten().cloned());
        }
        if newly(|n| n.orphaning) {
            look.push(uid.clone());
        }
        look
    }

    /// The object is gone; gives the uids that are to be looked at.
    pub fn forget(&mut self, uid: &Uid) -> Vec<Uid> {
        let Some(node) = self.nodes.remove(uid) else { return Vec::new() };
        self.note_absent(uid);
        let mut look: Vec<_> = self.dependents.get(uid).into_iter().flatten().cloned().collect();
        for owner in &node.owners {
            self.unlink(&owner.uid, uid);
            if self.nodes.get(&owner.uid).is_some_and(|o| o.foreground) {
                look.push(owner.uid.clone());
            }
        }
        look
    }

    fn unlink(&mut self, owner: &Uid, dependent: &Uid) {
        if let Some(dependents) = self.dependents.get_mut(owner) {
            dependents.remove(dependent);
            if dependents.is_empty() {
                self.dependents.remove(owner);
            }
        }
    }

    /// The API says that there is no object of this uid.
    pub fn note_absent(&mut self, uid: &Uid) {
        if self.absent.len() >= ABSENT_LIMIT {
            self.absent.clear();
        }
        self.absent.insert(uid.clone());
    }

    /// After a fresh list of a kind: those that are not in it are gone.
    pub fn retain(&mut self, kind: usize, present: &HashSet<Uid>) -> Vec<Uid> {
        let gone: Vec<Uid> = self
            .nodes
            .iter()
            .filter(|(uid, node)| node.place.kind == kind && !present.contains(*uid))
            .map(|(uid, _)| uid.clone())
            .collect();
        gone.iter().flat_map(|uid| self.forget(uid)).collect()
    }

    /// A kind is followed no more, whether or not its objects are still there; gives the uids that are to be
    /// looked at. Nobody is taken for gone.
    pub fn unfollow(&mut self, kind: usize) -> Vec<Uid> {
        let mut look = Vec::new();
        let gone: Vec<Uid> =
            self.nodes.iter().filter(|(_, node)| node.place.kind == kind).map(|(uid, _)| uid.clone()).collect();
        for uid in gone {
            look.extend(self.forget(&uid));
            self.absent.remove(&uid);
        }
        look
    }

    /// Those with an owner that the graph does not know: of them more can be said once another kind is followed.
    pub fn dangling(&self) -> Vec<Uid> {
        let unknown = |node: &Node| node.owners.iter().any(|owner| !self.nodes.contains_key(&owner.uid));
        self.nodes.iter().filter(|(_, node)| unknown(node)).map(|(uid, _)| uid.clone()).collect()
    }

    /// What is to be done about an object.
    pub fn plan(&self, uid: &Uid) -> Plan {
        let Some(node) = self.nodes.get(uid) else { return Plan::Nothing };
        if node.orphaning {
            return self.plan_orphaning(uid, node);
        }
        if node.foreground {
            return self.plan_foreground(uid, node);
        }
        if node.deleting || node.owners.is_empty() {
            return Plan::Nothing;
        }
        let (mut unknown, mut gone, mut waiting, mut solid) = (Vec::new(), Vec::new(), Vec::new(), false);
        for owner in &node.owners {
            match self.nodes.get(&owner.uid) {
                // A cluster-scoped object cannot be owned by one in a namespace: such a reference
                // must not lead to its deletion.
                Some(found) if node.place.namespace.is_empty() && !found.place.namespace.is_empty() => solid = true,
                Some(found) if !found.place.namespace.is_empty() && found.place.namespace != node.place.namespace => {
                    gone.push(owner.uid.clone());
                }
                Some(found) if found.foreground => waiting.push(owner.uid.clone()),
                Some(_) => solid = true,
                None if self.absent.contains(&owner.uid) => gone.push(owner.uid.clone()),
                None => unknown.push(owner.clone()),
            }
        }
        let place = node.place.clone();
        if !unknown.is_empty() {
            return Plan::Verify { place, owners: unknown };
        }
        if solid {
            gone.extend(waiting);
            return if gone.is_empty() { Plan::Nothing } else { Plan::Unlink { place, uid: uid.clone(), gone } };
        }
        if !waiting.is_empty() && node.owners.iter().any(|owner| owner.blocks) && self.is_waited_for(uid) {
            return Plan::Unblock { place, uid: uid.clone() };
        }
        let policy = if !waiting.is_empty() && self.dependents.contains_key(uid) {
            // The owner waits for everything below it, so this one has to wait as well.
            Policy::Foreground
        } else if node.has_orphan {
            Policy::Orphan
        } else if node.has_foreground {
            Policy::Foreground
        } else {
            Policy::Background
        };
        Plan::Delete { place, uid: uid.clone(), owners: node.owners.iter().map(|o| o.uid.clone()).collect(), policy }
    }

    /// Whether a dependent is being deleted in the foreground: where the owners are too, that may be a circle.
    fn is_waited_for(&self, uid: &Uid) -> bool {
        let mut dependents = self.dependents.get(uid).into_iter().flatten();
        dependents.any(|dependent| self.nodes.get(dependent).is_some_and(|node| node.foreground))
    }

    fn plan_orphaning(&self, uid: &Uid, node: &Node) -> Plan {
        let dependents = self.dependents.get(uid).into_iter().flatten();
        let dependents: Vec<_> =
            dependents.filter_map(|d| Some((self.nodes.get(d)?.place.clone(), d.clone()))).collect();
        Plan::Orphan { place: node.place.clone(), uid: uid.clone(), dependents }
    }

    fn plan_foreground(&self, uid: &Uid, node: &Node) -> Plan {
        let holds_up = |dependent: &&Uid| {
            let owners = self.nodes.get(*dependent).map(|n| &n.owners);
            owners.is_some_and(|owners| owners.iter().any(|o| o.uid == *uid && o.blocks))
        };
        let dependents: Vec<_> = self.dependents.get(uid).into_iter().flatten().filter(holds_up).cloned().collect();
        if dependents.is_empty() {
            let place = node.place.clone();
            return Plan::Release { place, uid: uid.clone(), finalizer: FOREGROUND };
        }
        // Those that are going already come back by their own events.
        let dependents: Vec<_> =
            dependents.into_iter().filter(|d| self.nodes.get(d).is_some_and(|n| !n.deleting)).collect();
        if dependents.is_empty() { Plan::Nothing } else { Plan::Push { dependents } }
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.nodes.len()
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::{apimachinery::pkg::apis::meta::v1::Time, jiff::Timestamp};

    use super::*;

    const KIND: usize = 0;

    fn object(uid: &str, owners: &[&str]) -> ObjectMeta {
        let reference = |owner: &&str| OwnerReference {
            uid: (*owner).to_owned(),
            name: (*owner).to_owned(),
            block_owner_deletion: Some(true),
            ..OwnerReference::default()
        };
        ObjectMeta {
            uid: Some(uid.to_owned()),
            name: Some(uid.to_owned()),
            namespace: Some("ns".to_owned()),
            owner_references: Some(owners.iter().map(reference).collect()),
            ..ObjectMeta::default()
        }
    }

    fn leaving(mut object: ObjectMeta, finalizer: &str) -> ObjectMeta {
        object.deletion_timestamp = Some(Time(Timestamp::UNIX_EPOCH));
        object.finalizers = Some(vec![finalizer.to_owned()]);
        object
    }

    fn uid(name: &str) -> Uid {
        name.to_owned()
    }

    fn place(name: &str) -> Place {
        Place { kind: KIND, namespace: "ns".to_owned(), name: name.to_owned() }
    }

    fn graph(objects: &[ObjectMeta]) -> Graph {
        let mut graph = Graph::default();
        objects.iter().for_each(|object| drop(graph.observe(KIND, object)));
        graph
    }

    fn delete(name: &str, owner: &str, policy: Policy) -> Plan {
        Plan::Delete { place: place(name), uid: uid(name), owners: vec![uid(owner)], policy }
    }

    #[test]
    fn a_circle_is_broken_where_it_closes() {
        let circle = [object("a", &["c"]), object("b", &["a"]), object("c", &["b"])];
        let mut graph = graph(&circle);
        graph.observe(KIND, &leaving(circle[0].clone(), FOREGROUND));
        assert_eq!(graph.plan(&uid("b")), delete("b", "a", Policy::Foreground));
        graph.observe(KIND, &leaving(circle[1].clone(), FOREGROUND));
        assert_eq!(graph.plan(&uid("c")), Plan::Unblock { place: place("c"), uid: uid("c") });
        let mut free = circle[2].clone();
        free.owner_references.as_mut().unwrap()[0].block_owner_deletion = Some(false);
        let look = graph.observe(KIND, &free);
        assert!(look.contains(&uid("b")) && look.contains(&uid("c")), "{look:?}");
        assert_eq!(graph.plan(&uid("b")), Plan::Release { place: place("b"), uid: uid("b"), finalizer: FOREGROUND });
        assert_eq!(graph.plan(&uid("c")), delete("c", "b", Policy::Foreground));
    }

    #[test]
    fn background_deletion_follows_the_owners() {
        let mut graph = graph(&[object("deployment", &[]), object("set", &["deployment"]), object("pod", &["set"])]);
        assert_eq!(graph.plan(&uid("set")), Plan::Nothing);
        assert_eq!(graph.forget(&uid("deployment")), ["set"]);
        assert_eq!(graph.plan(&uid("set")), delete("set", "deployment", Policy::Background));
        assert_eq!(graph.forget(&uid("set")), ["pod"]);
        assert_eq!(graph.plan(&uid("pod")), delete("pod", "set", Policy::Background));
        assert!(graph.forget(&uid("pod")).is_empty());
        assert_eq!((graph.len(), graph.dependents.len()), (0, 0));
    }

    #[test]
    fn an_unknown_owner_is_verified_before_anything_is_deleted() {
        let mut graph = graph(&[object("pod", &["set"])]);
        let Plan::Verify { owners, .. } = graph.plan(&uid("pod")) else { panic!("must verify") };
        assert_eq!(owners[0].uid, "set");
        graph.note_absent(&uid("set"));
        assert_eq!(graph.plan(&uid("pod")), delete("pod", "set", Policy::Background));
    }

    #[test]
    fn objects_of_a_kind_that_is_followed_no_more_are_not_taken_for_gone() {
        let mut graph = graph(&[object("owner", &[])]);
        graph.observe(KIND + 1, &object("dependent", &["owner"]));
        assert_eq!(graph.unfollow(KIND), ["dependent"]);
        assert!(matches!(graph.plan(&uid("dependent")), Plan::Verify { .. }));
        assert_eq!(graph.len(), 1);
    }

    #[test]
    fn an_object_with_an_owner_left_only_loses_the_reference() {
        let mut graph = graph(&[object("a", &[]), object("b", &[]), object("c", &["a", "b"])]);
        graph.forget(&uid("a"));
        assert_eq!(graph.plan(&uid("c")), Plan::Unlink { place: place("c"), uid: uid("c"), gone: vec![uid("a")] });
    }

    #[test]
    fn foreground_deletion_goes_from_the_leaves() {
        let mut graph = graph(&[object("deployment", &[]), object("set", &["deployment"]), object("pod", &["set"])]);
        let look = graph.observe(KIND, &leaving(object("deployment", &[]), FOREGROUND));
        assert_eq!(look.iter().collect::<HashSet<_>>(), HashSet::from([&uid("deployment"), &uid("set")]));
        assert_eq!(graph.plan(&uid("deployment")), Plan::Push { dependents: vec![uid("set")] });
        assert_eq!(graph.plan(&uid("set")), delete("set", "deployment", Policy::Foreground));
        graph.observe(KIND, &leaving(object("set", &["deployment"]), FOREGROUND));
        assert_eq!(graph.plan(&uid("deployment")), Plan::Nothing);
        assert_eq!(graph.plan(&uid("pod")), delete("pod", "set", Policy::Background));
        assert_eq!(graph.forget(&uid("pod")), ["set"]);
        assert_eq!(
            graph.plan(&uid("set")),
            Plan::Release { place: place("set"), uid: uid("set"), finalizer: FOREGROUND }
        );
        assert_eq!(graph.forget(&uid("set")), ["deployment"]);
        assert!(matches!(graph.plan(&uid("deployment")), Plan::Release { .. }));
    }

    #[test]
    fn orphans_are_set_free() {
        let mut graph = graph(&[object("set", &[]), object("pod", &["set"])]);
        assert_eq!(graph.observe(KIND, &leaving(object("set", &[]), ORPHAN)), ["set"]);
        assert_eq!(
            graph.plan(&uid("set")),
            Plan::Orphan { place: place("set"), uid: uid("set"), dependents: vec![(place("pod"), uid("pod"))] }
        );
        graph.observe(KIND, &object("pod", &[]));
        assert_eq!(graph.plan(&uid("set")), Plan::Orphan { place: place("set"), uid: uid("set"), dependents: vec![] });
        graph.forget(&uid("set"));
        assert_eq!(graph.plan(&uid("pod")), Plan::Nothing);
    }

    #[test]
    fn a_fresh_list_tells_who_is_gone() {
        let mut graph = graph(&[object("set", &[]), object("pod", &["set"])]);
        let look = graph.retain(KIND, &HashSet::from([uid("pod")]));
        assert_eq!(look, ["pod"]);
        assert_eq!(graph.plan(&uid("pod")), delete("pod", "set", Policy::Background));
    }

    #[test]
    fn an_owner_in_another_namespace_owns_nothing() {
        let mut owner = object("owner", &[]);
        owner.namespace = Some("other".to_owned());
        let mut cluster_wide = object("role", &["owner"]);
        cluster_wide.namespace = None;
        let graph = graph(&[owner, object("pod", &["owner"]), cluster_wide]);
        assert_eq!(graph.plan(&uid("pod")), delete("pod", "owner", Policy::Background));
        assert_eq!(graph.plan(&uid("role")), Plan::Nothing, "a cluster-scoped object is left alone");
    }

    #[test]
    fn what_is_being_deleted_is_left_to_its_finalizers() {
        let mut graph = graph(&[object("set", &[]), leaving(object("pod", &["set"]), "example.com/hold")]);
        graph.forget(&uid("set"));
        assert_eq!(graph.plan(&uid("pod")), Plan::Nothing);
    }
}
