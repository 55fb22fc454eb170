//! Field selectors: `path=value`, `path==value` and `path!=value`, joined by commas. In values a
//! backslash stands before `\`, `,` and `=`.

use std::fmt;

use serde_json::Value;

use crate::schema::{Schema, Shape, TypeId};

/// A parsed field selector; all requirements must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fields {
    requirements: Vec<FieldRequirement>,
}

/// One term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldRequirement {
    /// Dotted path, e.g. `spec.nodeName`.
    pub path: String,
    /// `=` rather than `!=`.
    pub equal: bool,
    /// Unescaped.
    pub value: String,
}

impl Fields {
    /// Reads a selector. Whether a kind offers the fields is for the caller to check.
    pub fn parse(selector: &str) -> Result<Self, String> {
        let mut terms = split_terms(selector);
        terms.sort_unstable();
        let parse = |term: &&str| {
            let (path, equal, value) =
                split_term(term).ok_or_else(|| format!("invalid selector: '{selector}'; can't understand '{term}'"))?;
            Ok(FieldRequirement { path: path.to_owned(), equal, value: unescape(value)? })
        };
        let requirements = terms.iter().filter(|t| !t.is_empty()).map(parse);
        let mut requirements = requirements.collect::<Result<Vec<_>, String>>()?;
        // Nothing is asked of nothing.
        requirements.retain(|r| !(r.path.is_empty() && r.value.is_empty()));
        Ok(Fields { requirements })
    }

    /// The terms, in order of their text.
    pub fn requirements(&self) -> &[FieldRequirement] {
        &self.requirements
    }

    /// Whether everything matches.
    pub fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }

    /// The value that `path` must have, where the selector demands one.
    pub fn exact(&self, path: &str) -> Option<&str> {
        self.requirements.iter().find(|r| r.equal && r.path == path).map(|r| r.value.as_str())
    }

    /// Whether all terms hold for what `lookup` says of each path.
    pub fn matches_with<T: AsRef<str>>(&self, lookup: impl Fn(&str) -> T) -> bool {
        self.requirements.iter().all(|r| (lookup(&r.path).as_ref() == r.value) == r.equal)
    }

    /// Whether all terms hold for an object of this type; see [`field`].
    pub fn matches(&self, schema: &Schema, root: TypeId, object: &Value) -> bool {
        self.matches_with(|path| field(schema, root, object, path))
    }
}

/// Text of a field at a dotted path, for selectors. A field that is absent has its type's zero
/// value: `false`, `0`, or nothing.
pub fn field(schema: &Schema, root: TypeId, object: &Value, path: &str) -> String {
    let mut value = Some(object);
    let mut shape = Some(&Shape::Object(root));
    for name in path.split('.') {
        value = value.and_then(|v| v.get(name));
        shape = match shape {
            Some(Shape::Object(id)) => schema.get(*id).field(name).map(|f| &f.shape),
            _ => None,
        };
    }
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => match shape {
            Some(Shape::Bool) => "false".to_owned(),
            Some(Shape::Int32 | Shape::Int64) => "0".to_owned(),
            _ => String::new(),
        },
        Some(other) => other.to_string(),
    }
}

/// Splits at commas that have no backslash before them.
fn split_terms(selector: &str) -> Vec<&str> {
    let mut escaped = false;
    let comma = |c| {
        let splits = c == ',' && !escaped;
        escaped = c == '\\' && !escaped;
        splits
    };
    selector.split(comma).collect()
}

/// Path, whether equal, and the value as written. The first operator counts.
fn split_term(term: &str) -> Option<(&str, bool, &str)> {
    let at = term.find('=')?;
    let (path, rest) = (&term[..at], &term[at + 1..]);
    if let Some(path) = path.strip_suffix('!') {
        return Some((path, false, rest));
    }
    Some((path, true, rest.strip_prefix('=').unwrap_or(rest)))
}

fn unescape(value: &str) -> Result<String, String> {
    let mut out = String::with_capacity(value.len());
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(escaped @ ('\\' | ',' | '=')) => out.push(escaped),
                Some(other) => return Err(format!("invalid field selector: invalid escape sequence: \\{other}")),
                None => return Err("invalid field selector: invalid escape sequence: \\".to_owned()),
            },
            ',' | '=' => return Err(format!("invalid field selector: unescaped character in value: {}", c as u32)),
            _ => out.push(c),
        }
    }
    Ok(out)
}

impl fmt::Display for Fields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, r) in self.requirements.iter().enumerate() {
            let value = r.value.replace('\\', "\\\\").replace(',', "\\,").replace('=', "\\=");
            write!(f, "{}{}{}{value}", if at > 0 { "," } else { "" }, r.path, if r.equal { "=" } else { "!=" })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts() {
        let table = [
            ("", Ok("")),
            (",,", Ok("")),
            ("=,!=,==", Ok("")),
            ("a=b", Ok("a=b")),
            ("a==b", Ok("a=b")),
            ("a!=b", Ok("a!=b")),
            ("b=1,a=2", Ok("a=2,b=1")),
            ("a=", Ok("a=")),
            ("metadata.name=x,spec.nodeName!=", Ok("metadata.name=x,spec.nodeName!=")),
            (r"a=x\,y\=z\\", Ok(r"a=x\,y\=z\\")),
            ("a", Err("invalid selector: 'a'; can't understand 'a'")),
            ("a=b,c", Err("invalid selector: 'a=b,c'; can't understand 'c'")),
            (r"a=\x", Err(r"invalid field selector: invalid escape sequence: \x")),
            (r"a=\", Err(r"invalid field selector: invalid escape sequence: \")),
            ("a=b=c", Err("invalid field selector: unescaped character in value: 61")),
        ];
        for (text, expected) in table {
            let got = Fields::parse(text).map(|f| f.to_string());
            assert_eq!(got.as_deref().map_err(String::as_str), expected, "{text}");
        }
    }

    #[test]
    fn matching() {
        let fields = Fields::parse("a=1,b!=2").unwrap();
        let with = |a: &'static str, b: &'static str| fields.matches_with(|path| if path == "a" { a } else { b });
        assert!(with("1", "") && with("1", "3"));
        assert!(!with("1", "2") && !with("2", "3"));
        assert_eq!((fields.exact("a"), fields.exact("b")), (Some("1"), None));
    }

    #[test]
    fn absent_fields_have_their_zero_value() {
        let schema = crate::schema::builtin();
        let node = schema.find("io.k8s.api.core.v1.Node").unwrap();
        let matches = |text, object: Value| Fields::parse(text).unwrap().matches(&schema, node, &object);
        let object = || serde_json::json!({"metadata": {"name": "n"}, "spec": {"podCIDR": "10.0.0.0/24"}});
        assert!(matches("spec.unschedulable=false,metadata.name=n", object()));
        assert!(!matches("spec.unschedulable=true", object()));
        assert!(matches("spec.unschedulable=true", serde_json::json!({"spec": {"unschedulable": true}})));
        assert!(matches("spec.podCIDR!=,spec.providerID=", object()));
    }
}
