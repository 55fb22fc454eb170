//! From what is to what should be, in an order that the kernel accepts.

use std::collections::BTreeMap;

use super::model::{Chain, Data, Key, Rule, Set, Table};

/// One step of a transaction on a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    /// Makes the table, if it is not there.
    AddTable,
    /// Deletes the table with all that is in it.
    DeleteTable,
    /// Makes an empty chain.
    AddChain(String, Chain),
    /// Makes an empty set.
    AddSet(String, Set),
    /// Deletes elements.
    DeleteElements(String, BTreeMap<Key, Data>),
    /// Adds elements.
    AddElements(String, BTreeMap<Key, Data>),
    /// Deletes all rules of a chain.
    FlushChain(String),
    /// Adds a rule at the end of a chain.
    AddRule(String, Rule),
    /// Deletes an empty chain.
    DeleteChain(String),
    /// Deletes a set.
    DeleteSet(String),
}

/// The steps from `current` (none: no such table) to `wanted`. Empty if nothing is to be done.
pub fn difference(current: Option<&Table>, wanted: &Table) -> Vec<Op> {
    let empty = Table::new(wanted.family, wanted.name.clone());
    let mut ops = Vec::new();
    let current = match current {
        Some(current) if rebuildable(current, wanted) => current,
        // A chain's hook and a set's type cannot be changed in place; made anew in the same
        // transaction, no packet sees the table missing.
        Some(_) => {
            ops.extend([Op::AddTable, Op::DeleteTable, Op::AddTable]);
            &empty
        }
        None => {
            ops.push(Op::AddTable);
            &empty
        }
    };

    for (name, chain) in wanted.chains.iter().filter(|(name, _)| !current.chains.contains_key(*name)) {
        ops.push(Op::AddChain(name.clone(), Chain { hook: chain.hook, rules: vec![] }));
    }
    for (name, set) in wanted.sets.iter().filter(|(name, _)| !current.sets.contains_key(*name)) {
        ops.push(Op::AddSet(name.clone(), Set { elements: BTreeMap::new(), ..set.clone() }));
    }
    let nothing = BTreeMap::new();
    for (name, set) in wanted.sets.iter().filter(|(_, set)| set.timeout.is_none()) {
        let before = current.sets.get(name).map_or(&nothing, |s| &s.elements);
        let gone = except(before, &set.elements);
        let new = except(&set.elements, before);
        ops.extend((!gone.is_empty()).then(|| Op::DeleteElements(name.clone(), gone)));
        ops.extend((!new.is_empty()).then(|| Op::AddElements(name.clone(), new)));
    }
    let no_rules = Vec::new();
    for (name, chain) in &wanted.chains {
        let before = current.chains.get(name).map_or(&no_rules, |c| &c.rules);
        if same_rules(before, &chain.rules) {
            continue;
        }
        ops.extend((!before.is_empty()).then(|| Op::FlushChain(name.clone())));
        ops.extend(chain.rules.iter().map(|rule| Op::AddRule(name.clone(), rule.clone())));
    }
    let obsolete = |name: &&String| !wanted.chains.contains_key(*name);
    for name in current.chains.keys().filter(obsolete) {
        ops.extend((!current.chains[name].rules.is_empty()).then(|| Op::FlushChain(name.clone())));
    }
    ops.extend(current.chains.keys().filter(obsolete).cloned().map(Op::DeleteChain));
    ops.extend(current.sets.keys().filter(|name| !wanted.sets.contains_key(*name)).cloned().map(Op::DeleteSet));
    ops
}

fn rebuildable(current: &Table, wanted: &Table) -> bool {
    let chains =
        wanted.chains.iter().all(|(name, chain)| current.chains.get(name).is_none_or(|c| c.hook == chain.hook));
    let sets = wanted.sets.iter().all(|(name, set)| current.sets.get(name).is_none_or(|s| s.same_shape(set)));
    chains && sets
}

fn same_rules(a: &[Rule], b: &[Rule]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.comment == b.comment)
}

/// The elements of `a` that `b` does not have in the same form.
fn except(a: &BTreeMap<Key, Data>, b: &BTreeMap<Key, Data>) -> BTreeMap<Key, Data> {
    a.iter().filter(|(key, data)| b.get(*key) != Some(data)).map(|(k, d)| (k.clone(), d.clone())).collect()
}
