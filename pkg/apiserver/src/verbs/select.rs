//! Selection of cached objects by labels and fields.

use api::{
    Kind, Status,
    schema::Shared,
    selector::{Fields, Labels},
};

use crate::{cache::Object, query::ListOptions};

/// A compiled selection.
pub struct Selection {
    labels: Option<Labels>,
    terms: Vec<Term>,
    namespaced: bool,
}

struct Term {
    field: Field,
    equal: bool,
    value: String,
}

enum Field {
    Name,
    Namespace,
    /// Index into the facts.
    At(usize),
}

impl Selection {
    /// Compiles the selectors of a list; unknown fields are refused with upstream's text.
    /// `name`: one object alone, if not empty. `indexed`: the paths of the objects' facts.
    pub fn new(kind: &Kind, options: &mut ListOptions, name: &str, indexed: &[Shared<str>]) -> Result<Self, Status> {
        let fields: Option<Fields> = options.fields.take();
        // Kinds without paths of their own share a rule.
        let bare = kind.selectable.is_empty() && !kind.is_custom();
        let mut terms = Vec::new();
        if !name.is_empty() {
            terms.push(Term { field: Field::Name, equal: true, value: name.to_owned() });
        }
        for requirement in fields.iter().flat_map(|f| f.requirements()) {
            let field = match requirement.path.as_str() {
                "metadata.name" => Field::Name,
                "metadata.namespace" if kind.namespaced || bare => Field::Namespace,
                path => {
                    let own = kind.selectable.iter().position(|label| **label == *path);
                    let at = match kind.is_custom() {
                        // The facts are of all versions, which need not have the same paths.
                        true => own.and_then(|_| indexed.iter().position(|label| **label == *path)),
                        // Where two kinds are stored as one, their paths match one by one.
                        false => own,
                    };
                    Field::At(at.ok_or_else(|| unknown(path, bare))?)
                }
            };
            terms.push(Term { field, equal: requirement.equal, value: requirement.value.clone() });
        }
        let labels = options.labels.take().filter(|labels| !labels.is_empty());
        Ok(Selection { labels, terms, namespaced: kind.namespaced })
    }

    /// Whether everything is selected.
    pub fn is_all(&self) -> bool {
        self.labels.is_none() && self.terms.is_empty()
    }

    /// Whether an object is selected.
    pub fn matches(&self, object: &Object) -> bool {
        let namespace = if self.namespaced { object.namespace() } else { "" };
        self.labels.as_ref().is_none_or(|labels| labels.matches_with(|key| object.facts.label(key)))
            && self.terms.iter().all(|term| {
                let value = match term.field {
                    Field::Name => object.name(),
                    Field::Namespace => namespace,
                    Field::At(at) => object.facts.fields.get(at).map_or("", |f| f),
                };
                (value == term.value) == term.equal
            })
    }
}

fn unknown(path: &str, bare: bool) -> Status {
    Status::bad_request(match bare {
        true => format!("{path:?} is not a known field selector: only \"metadata.name\", \"metadata.namespace\""),
        false => format!("field label not supported: {path}"),
    })
}
