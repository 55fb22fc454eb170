//! JSONPath as `additionalPrinterColumns` use it: fields, indices, slices, wildcards, filters,
//! descent.
//!
//! Source: client-go `util/jsonpath`. Where a path leads to nothing there is no value; upstream's
//! errors about that show as nothing too.

use serde_json::Value;

/// A parsed path. The default one leads to nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JsonPath {
    /// `None`: leads to nothing.
    steps: Option<Vec<Step>>,
}

#[derive(Clone, Debug, PartialEq)]
enum Step {
    Field(String),
    /// `*`.
    All,
    /// `..`: the value and all below it.
    Descend,
    Slice(Option<i64>, Option<i64>, i64),
    /// `[a,b]`.
    Union(Vec<Step>),
    Filter(Operand, &'static str, Operand),
}

#[derive(Clone, Debug, PartialEq)]
enum Operand {
    Path(Vec<Step>),
    Literal(Value),
    /// A filter without comparison: whether its path leads anywhere.
    Nothing,
}

const OPERATORS: [&str; 6] = ["==", "!=", "<=", ">=", "<", ">"];
/// Values that a path may lead to.
const MOST: usize = 10_000;
/// Filters within filters: their paths are read by recursion.
const DEPTH: usize = 8;

impl JsonPath {
    /// Reads `.spec.replicas`, with or without `$` or `@` before it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut reader = Reader { rest: text.trim(), depth: 0 };
        let steps = reader.path()?;
        if !reader.rest.is_empty() {
            return Err(format!("unrecognized text {:?}", reader.rest));
        }
        Ok(JsonPath { steps: Some(steps) })
    }

    /// The first value that the path leads to.
    pub fn first<'v>(&self, object: &'v Value) -> Option<&'v Value> {
        walk(self.steps.as_ref()?, object).into_iter().next()
    }
}

struct Reader<'a> {
    rest: &'a str,
    /// Filters that are open.
    depth: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, prefix: &str) -> bool {
        match self.rest.strip_prefix(prefix) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn path(&mut self) -> Result<Vec<Step>, String> {
        let mut steps = Vec::new();
        if !self.take("$") {
            self.take("@");
        }
        loop {
            if self.take("..") {
                steps.push(Step::Descend);
                if !self.rest.starts_with('[') {
                    steps.push(self.field()?);
                }
            } else if self.take(".") {
                if !self.rest.is_empty() && !self.rest.starts_with('[') {
                    steps.push(self.field()?);
                }
            } else if self.take("[") {
                steps.push(self.brackets()?);
            } else if steps.is_empty() && self.rest.starts_with(|c: char| c.is_alphanumeric() || c == '_') {
                steps.push(self.field()?);
            } else {
                return Ok(steps);
            }
        }
    }

    /// A name, in which a backslash stands before what would end it.
    fn field(&mut self) -> Result<Step, String> {
        let mut name = String::new();
        let mut letters = self.rest.char_indices();
        let mut end = self.rest.len();
        while let Some((at, c)) = letters.next() {
            match c {
                '\\' => name.extend(letters.next().map(|(_, c)| c)),
                '.' | '[' | ']' | '=' | '!' | '<' | '>' | ' ' | ')' | '(' | ',' | '}' | '|' => {
                    end = at;
                    break;
                }
                c => name.push(c),
            }
        }
        self.rest = &self.rest[end..];
        match name.as_str() {
            "" => Err("a name is missing".to_owned()),
            "*" => Ok(Step::All),
            _ => Ok(Step::Field(name)),
        }
    }

    fn brackets(&mut self) -> Result<Step, String> {
        if self.take("?(") {
            return self.filter();
        }
        let mut steps = Vec::new();
        loop {
            self.rest = self.rest.trim_start();
            if let Some(text) = self.quoted()? {
                steps.push(Step::Field(text));
            } else {
                let end = self.rest.find([',', ']']).ok_or("unterminated array")?;
                let text = self.rest[..end].trim();
                self.rest = &self.rest[end..];
                steps.push(index(text)?);
            }
            self.rest = self.rest.trim_start();
            if self.take("]") {
                break;
            }
            if !self.take(",") {
                return Err("unterminated array".to_owned());
            }
        }
        Ok(if steps.len() == 1 { steps.remove(0) } else { Step::Union(steps) })
    }

    fn quoted(&mut self) -> Result<Option<String>, String> {
        let Some(quote) = self.rest.chars().next().filter(|c| matches!(c, '\'' | '"')) else { return Ok(None) };
        let mut text = String::new();
        let mut letters = self.rest.char_indices().skip(1);
        while let Some((at, c)) = letters.next() {
            match c {
                '\\' => text.extend(letters.next().map(|(_, c)| c)),
                c if c == quote => {
                    self.rest = &self.rest[at + 1..];
                    return Ok(Some(text));
                }
                c => text.push(c),
            }
        }
        Err("unterminated quoted string".to_owned())
    }

    fn filter(&mut self) -> Result<Step, String> {
        if self.depth == DEPTH {
            return Err(format!("more than {DEPTH} filters within each other"));
        }
        self.depth += 1;
        let left = self.operand()?;
        self.rest = self.rest.trim_start();
        let operator = OPERATORS.into_iter().find(|operator| self.take(operator));
        let right = match operator {
            Some(_) => self.operand()?,
            None => Operand::Nothing,
        };
        self.rest = self.rest.trim_start();
        if !self.take(")]") {
            return Err("unterminated filter".to_owned());
        }
        self.depth -= 1;
        Ok(Step::Filter(left, operator.unwrap_or_default(), right))
    }

    fn operand(&mut self) -> Result<Operand, String> {
        self.rest = self.rest.trim_start();
        if let Some(text) = self.quoted()? {
            return Ok(Operand::Literal(text.into()));
        }
        if self.rest.starts_with(['@', '.', '$']) {
            return Ok(Operand::Path(self.path()?));
        }
        let end = self.rest.find([' ', ')', '=', '!', '<', '>']).unwrap_or(self.rest.len());
        let (text, rest) = self.rest.split_at(end);
        self.rest = rest;
        serde_json::from_str(text).map(Operand::Literal).map_err(|_| format!("unrecognized text {text:?}"))
    }
}

fn index(text: &str) -> Result<Step, String> {
    if text == "*" {
        return Ok(Step::All);
    }
    let number = |text: &str| -> Result<Option<i64>, String> {
        match text.trim() {
            "" => Ok(None),
            text => text.parse().map(Some).map_err(|_| format!("invalid array index {text}")),
        }
    };
    let parts: Vec<_> = text.split(':').collect();
    match parts[..] {
        // As upstream: the first.
        [""] => Ok(Step::Slice(None, Some(1), 1)),
        [at] => {
            let at = number(at)?.ok_or("an array index is missing")?;
            Ok(Step::Slice(Some(at), if at == -1 { None } else { Some(at + 1) }, 1))
        }
        [from, to] => Ok(Step::Slice(number(from)?, number(to)?, 1)),
        [from, to, step] => Ok(Step::Slice(number(from)?, number(to)?, number(step)?.unwrap_or(1).max(1))),
        _ => Err(format!("invalid array index {text}")),
    }
}

fn walk<'v>(steps: &[Step], object: &'v Value) -> Vec<&'v Value> {
    let mut now = vec![object];
    for step in steps {
        let mut next = Vec::new();
        for value in now {
            follow(step, value, &mut next);
        }
        next.truncate(MOST);
        now = next;
    }
    now
}

fn follow<'v>(step: &Step, value: &'v Value, out: &mut Vec<&'v Value>) {
    if out.len() >= MOST {
        return;
    }
    match (step, value) {
        (Step::Field(name), value) => out.extend(value.get(name)),
        (Step::All, Value::Array(items)) => out.extend(items),
        (Step::All, Value::Object(map)) => out.extend(map.values()),
        (Step::Descend, value) => descend(value, out),
        (Step::Union(steps), value) => steps.iter().for_each(|step| follow(step, value, out)),
        (Step::Slice(from, to, step), Value::Array(items)) => {
            let len = i64::try_from(items.len()).unwrap_or(i64::MAX);
            let place = |at: i64| if at < 0 { at + len } else { at };
            let from = place(from.unwrap_or(0)).max(0);
            let to = place(to.unwrap_or(len)).min(len);
            let mut at = from;
            while at < to {
                out.extend(usize::try_from(at).ok().and_then(|at| items.get(at)));
                at = at.saturating_add(*step);
            }
        }
        (Step::Filter(left, operator, right), Value::Array(items)) => {
            out.extend(items.iter().filter(|item| holds(left, operator, right, item)));
        }
        _ => {}
    }
}

fn descend<'v>(value: &'v Value, out: &mut Vec<&'v Value>) {
    if out.len() >= MOST {
        return;
    }
    out.push(value);
    match value {
        Value::Array(items) => items.iter().for_each(|value| descend(value, out)),
        Value::Object(map) => map.values().for_each(|value| descend(value, out)),
        _ => {}
    }
}

fn holds(left: &Operand, operator: &str, right: &Operand, item: &Value) -> bool {
    let read = |operand: &Operand| match operand {
        Operand::Path(steps) => walk(steps, item).first().map(|value| (*value).clone()),
        Operand::Literal(value) => Some(value.clone()),
        Operand::Nothing => None,
    };
    let (left, right) = (read(left), read(right));
    let (Some(left), true) = (&left, !operator.is_empty()) else { return operator.is_empty() && left.is_some() };
    let Some(right) = &right else { return false };
    let order = match (left, right) {
        (Value::Number(a), Value::Number(b)) => a.as_f64().partial_cmp(&b.as_f64()),
        (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        _ => None,
    };
    match operator {
        "==" => left == right || order.is_some_and(|o| o.is_eq()),
        "!=" => left != right && !order.is_some_and(|o| o.is_eq()),
        "<" => order.is_some_and(|o| o.is_lt()),
        ">" => order.is_some_and(|o| o.is_gt()),
        "<=" => order.is_some_and(|o| o.is_le()),
        _ => order.is_some_and(|o| o.is_ge()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn paths() {
        let object = json!({
            "metadata": {"annotations": {"a.b/c": "x"}},
            "spec": {"n": 3, "list": [1, 2, 3], "map": {"k": "v"}},
            "status": {"conditions": [
                {"type": "Ready", "status": "False", "n": 1}, {"type": "Synced", "status": "True", "n": 5},
            ]},
        });
        let cases = [
            (".spec.n", json!(3)),
            ("$.spec.n", json!(3)),
            (".spec.list[1]", json!(2)),
            (".spec.list[-1]", json!(3)),
            (".spec.list[-1:]", json!(3)),
            (".spec.list[1:]", json!(2)),
            (".spec.list[*]", json!(1)),
            (".spec.list[]", json!(1)),
            (".spec.list[5]", Value::Null),
            (".spec.map.*", json!("v")),
            (r".metadata.annotations.a\.b/c", json!("x")),
            (".metadata.annotations['a.b/c']", json!("x")),
            (r#".status.conditions[?(@.type=="Synced")].status"#, json!("True")),
            (".status.conditions[?(@.type=='Ready')].status", json!("False")),
            (".status.conditions[?(@.n > 2)].type", json!("Synced")),
            (".status.conditions[?(@.type == 'None')].status", Value::Null),
            ("..k", json!("v")),
            (".none.at.all", Value::Null),
            (".", object.clone()),
        ];
        for (path, want) in cases {
            let parsed = JsonPath::parse(path).unwrap_or_else(|e| panic!("{path}: {e}"));
            assert_eq!(parsed.first(&object).unwrap_or(&Value::Null), &want, "{path}");
        }
        for path in [".a[", ".a[x]", ".a[?(@.b==]", ".a[?(@.b=='c'", ".a['b]", ".a b"] {
            assert!(JsonPath::parse(path).is_err(), "{path}");
        }
    }

    #[test]
    fn filters_within_filters_took_the_whole_stack() {
        let nested = |levels: usize| format!(".a{}@.b{}", "[?(@.c".repeat(levels), ")]".repeat(levels));
        assert!(JsonPath::parse(&nested(100_000)).is_err_and(|why| why.contains("filters within each other")));
        let levels = |levels: usize| format!("{}@.b{}", ".a[?(".repeat(levels), ")]".repeat(levels));
        assert!(JsonPath::parse(&levels(100_000)).is_err());
        assert!(JsonPath::parse(&levels(DEPTH)).is_ok());
        assert!(JsonPath::parse(&levels(DEPTH + 1)).is_err());
        // One after another is no nesting.
        assert!(JsonPath::parse(&format!(".a{}", "[?(@.b)]".repeat(100))).is_ok());
    }

    #[test]
    fn a_path_to_very_many_values_was_followed_to_the_end() {
        let object = json!({"a": vec![json!({"b": vec![1; 1000]}); 1000]});
        let all = ["*"; 1000].join(",");
        let path = JsonPath::parse(&format!(".a[{all}].b[{all}]")).expect("a path");
        assert!(walk(path.steps.as_ref().expect("steps"), &object).len() <= MOST);
    }
}
