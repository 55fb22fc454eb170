//! Label selectors: equality and set-based text, and the JSON of `metav1.LabelSelector`.

use std::fmt;

use serde_json::Value;

/// A parsed label selector; all requirements must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels {
    requirements: Vec<Requirement>,
    nothing: bool,
}

/// One requirement on one label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// The label's name.
    pub key: String,
    /// What is asked of it.
    pub operator: Operator,
    /// Sorted, each once.
    pub values: Vec<String>,
}

/// What is asked of a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `=`
    Equals,
    /// `==`
    DoubleEquals,
    /// `!=`, also true of objects without the label.
    NotEquals,
    /// `in (…)`
    In,
    /// `notin (…)`, also true of objects without the label.
    NotIn,
    /// The name alone.
    Exists,
    /// `!name`
    DoesNotExist,
    /// `>`, of integers.
    Greater,
    /// `<`, of integers.
    Less,
}

impl Requirement {
    /// Whether it holds for a label that is absent (`None`) or has this value.
    pub fn matches(&self, value: Option<&str>) -> bool {
        let one_of = |value: &str| self.values.iter().any(|v| v == value);
        let number = |text: &str| text.parse::<i64>().ok();
        let bound = || self.values.first().and_then(|v| number(v));
        match self.operator {
            Operator::Equals | Operator::DoubleEquals | Operator::In => value.is_some_and(one_of),
            Operator::NotEquals | Operator::NotIn => !value.is_some_and(one_of),
            Operator::Exists => value.is_some(),
            Operator::DoesNotExist => value.is_none(),
            Operator::Greater => value.and_then(number).zip(bound()).is_some_and(|(v, b)| v > b),
            Operator::Less => value.and_then(number).zip(bound()).is_some_and(|(v, b)| v < b),
        }
    }

    /// Checks and makes a requirement; the error is the text of upstream's field errors.
    pub fn new(key: &str, operator: Operator, values: Vec<String>) -> Result<Self, String> {
        let shown = || format!("{values:?}").replace(", ", ",");
        let mut faults = key_fault(key).map(|f| format!("key: {f}")).into_iter().collect::<Vec<_>>();
        let mut fault = |wrong: bool, detail: &str| {
            if wrong {
                faults.push(format!("values: Invalid value: {}: {detail}", shown()));
            }
        };
        match operator {
            Operator::In | Operator::NotIn => {
                fault(values.is_empty(), "for 'in', 'notin' operators, values set can't be empty");
            }
            Operator::Equals | Operator::DoubleEquals | Operator::NotEquals => {
                fault(values.len() != 1, "exact-match compatibility requires one single value");
            }
            Operator::Exists | Operator::DoesNotExist => {
                fault(!values.is_empty(), "values set must be empty for exists and does not exist");
            }
            Operator::Greater | Operator::Less => {
                fault(values.len() != 1, "for 'Gt', 'Lt' operators, exactly one value is required");
                for (at, value) in values.iter().enumerate().filter(|(_, v)| v.parse::<i64>().is_err()) {
                    let detail = "for 'Gt', 'Lt' operators, the value must be an integer";
                    faults.push(format!("values[{at}]: Invalid value: {value:?}: {detail}"));
                }
            }
        }
        for (at, value) in values.iter().enumerate() {
            faults.extend(value_fault(value).map(|f| format!("values[{at}][{key}]: {f}")));
        }
        match faults.as_slice() {
            [] => Ok(Requirement { key: key.to_owned(), operator, values }),
            [one] => Err(one.clone()),
            many => Err(format!("[{}]", many.join(", "))),
        }
    }
}

impl Labels {
    /// Matches all objects.
    pub fn everything() -> Self {
        Labels::default()
    }

    /// Matches no object.
    pub fn nothing() -> Self {
        Labels { nothing: true, ..Labels::default() }
    }

    /// Reads the text form, e.g. of `?labelSelector=`.
    pub fn parse(text: &str) -> Result<Self, String> {
        Parser { tokens: lex(text), at: 0 }.parse().map(Labels::of)
    }

    /// Reads a `metav1.LabelSelector`. Null matches nothing, `{}` everything.
    pub fn from_label_selector(selector: &Value) -> Result<Self, String> {
        if selector.is_null() {
            return Ok(Labels::nothing());
        }
        let mut requirements = Labels::from_map(&selector["matchLabels"])?.requirements;
        for expression in selector["matchExpressions"].as_array().into_iter().flatten() {
            let operator = match expression["operator"].as_str().unwrap_or_default() {
                "In" => Operator::In,
                "NotIn" => Operator::NotIn,
                "Exists" => Operator::Exists,
                "DoesNotExist" => Operator::DoesNotExist,
                other => return Err(format!("{other:?} is not a valid label selector operator")),
            };
            let values = expression["values"].as_array().into_iter().flatten();
            let values = sorted(values.filter_map(Value::as_str).map(str::to_owned).collect());
            requirements.push(Requirement::new(expression["key"].as_str().unwrap_or_default(), operator, values)?);
        }
        Ok(Labels::of(requirements))
    }

    /// Reads a plain map of labels, as in `spec.selector` of a Service. Null matches everything.
    pub fn from_map(labels: &Value) -> Result<Self, String> {
        let pairs = labels.as_object().into_iter().flatten();
        let requirement = |(key, value): (&String, &Value)| {
            Requirement::new(key, Operator::Equals, vec![value.as_str().unwrap_or_default().to_owned()])
        };
        Ok(Labels::of(pairs.map(requirement).collect::<Result<_, _>>()?))
    }

    fn of(mut requirements: Vec<Requirement>) -> Self {
        requirements.sort_by(|a, b| a.key.cmp(&b.key));
        Labels { requirements, nothing: false }
    }

    /// The requirements, by label name.
    pub fn requirements(&self) -> &[Requirement] {
        &self.requirements
    }

    /// Whether everything matches.
    pub fn is_empty(&self) -> bool {
        self.requirements.is_empty() && !self.nothing
    }

    /// Whether the labels of an object match.
    pub fn matches(&self, object: &Value) -> bool {
        let labels = &object["metadata"]["labels"];
        self.matches_with(|key| labels.get(key).and_then(Value::as_str))
    }

    /// Whether labels given by a lookup match.
    pub fn matches_with<'a>(&self, lookup: impl Fn(&str) -> Option<&'a str>) -> bool {
        !self.nothing && self.requirements.iter().all(|r| r.matches(lookup(&r.key)))
    }

    /// Whether a map of labels, as in `k8s-openapi` types, matches.
    pub fn matches_map(&self, labels: &std::collections::BTreeMap<String, String>) -> bool {
        self.matches_with(|key| labels.get(key).map(String::as_str))
    }
}

impl fmt::Display for Labels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, requirement) in self.requirements.iter().enumerate() {
            write!(f, "{}{requirement}", if at > 0 { "," } else { "" })?;
        }
        Ok(())
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (key, values) = (&self.key, self.values.join(","));
        match self.operator {
            Operator::Equals => write!(f, "{key}={values}"),
            Operator::DoubleEquals => write!(f, "{key}=={values}"),
            Operator::NotEquals => write!(f, "{key}!={values}"),
            Operator::In => write!(f, "{key} in ({values})"),
            Operator::NotIn => write!(f, "{key} notin ({values})"),
            Operator::Exists => write!(f, "{key}"),
            Operator::DoesNotExist => write!(f, "!{key}"),
            Operator::Greater => write!(f, "{key}>{values}"),
            Operator::Less => write!(f, "{key}<{values}"),
        }
    }
}

fn sorted(mut values: Vec<String>) -> Vec<String> {
    values.sort_unstable();
    values.dedup();
    values
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'a> {
    End,
    Open,
    Close,
    Comma,
    Not,
    /// `=`, `==`, `!=`, `<`, `>`.
    Operator(Operator, &'a str),
    /// A word; `in` and `notin` are operators only where one is expected.
    Word(&'a str),
}

impl Token<'_> {
    fn text(&self) -> String {
        match self {
            Token::End => String::new(),
            Token::Open => "(".to_owned(),
            Token::Close => ")".to_owned(),
            Token::Comma => ",".to_owned(),
            Token::Not => "!".to_owned(),
            Token::Operator(_, text) | Token::Word(text) => (*text).to_owned(),
        }
    }
}

fn lex(text: &str) -> Vec<Token<'_>> {
    const SYMBOLS: [(&str, Token<'static>); 9] = [
        ("==", Token::Operator(Operator::DoubleEquals, "==")),
        ("!=", Token::Operator(Operator::NotEquals, "!=")),
        ("=", Token::Operator(Operator::Equals, "=")),
        ("<", Token::Operator(Operator::Less, "<")),
        (">", Token::Operator(Operator::Greater, ">")),
        ("!", Token::Not),
        ("(", Token::Open),
        (")", Token::Close),
        (",", Token::Comma),
    ];
    let space = |c: char| matches!(c, ' ' | '\t' | '\r' | '\n');
    let special = |c: char| "=!(),><".contains(c);
    let mut tokens = Vec::new();
    let mut rest = text.trim_start_matches(space);
    while let Some(first) = rest.chars().next() {
        let (token, length) = match SYMBOLS.iter().find(|(s, _)| rest.starts_with(s)) {
            Some((symbol, token)) => (*token, symbol.len()),
            None if first == '\0' => break,
            None => {
                let length = rest.find(|c| special(c) || space(c) || c == '\0').unwrap_or(rest.len());
                (Token::Word(&rest[..length]), length)
            }
        };
        tokens.push(token);
        rest = rest[length..].trim_start_matches(space);
    }
    tokens.push(Token::End);
    tokens
}

struct Parser<'a> {
    tokens: Vec<Token<'a>>,
    at: usize,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Token<'a> {
        self.tokens.get(self.at).copied().unwrap_or(Token::End)
    }

    fn next(&mut self) -> Token<'a> {
        let token = self.peek();
        self.at += 1;
        token
    }

    fn parse(mut self) -> Result<Vec<Requirement>, String> {
        let mut requirements = Vec::new();
        match self.peek() {
            Token::End => return Ok(requirements),
            Token::Word(_) | Token::Not => {}
            other => return Err(format!("found '{}', expected: !, identifier, or 'end of string'", other.text())),
        }
        loop {
            requirements.push(self.requirement().map_err(|e| format!("unable to parse requirement: {e}"))?);
            match self.next() {
                Token::End => return Ok(requirements),
                Token::Comma => match self.peek() {
                    Token::Word(_) | Token::Not => {}
                    other => return Err(format!("found '{}', expected: identifier after ','", other.text())),
                },
                other => return Err(format!("found '{}', expected: ',' or 'end of string'", other.text())),
            }
        }
    }

    fn requirement(&mut self) -> Result<Requirement, String> {
        let negated = self.peek() == Token::Not;
        if negated {
            self.next();
        }
        let key = match self.next() {
            Token::Word(key) => key,
            other => return Err(format!("found '{}', expected: identifier", other.text())),
        };
        if let Some(fault) = key_fault(key) {
            return Err(format!("<nil>: {fault}"));
        }
        if negated || matches!(self.peek(), Token::End | Token::Comma) {
            let operator = if negated { Operator::DoesNotExist } else { Operator::Exists };
            return Requirement::new(key, operator, Vec::new());
        }
        let (operator, values) = match self.next() {
            Token::Word("in") => (Operator::In, self.values()?),
            Token::Word("notin") => (Operator::NotIn, self.values()?),
            Token::Operator(operator, _) => (operator, vec![self.exact_value()?]),
            other => {
                let text = other.text();
                return Err(format!("found '{text}', expected: in, notin, =, ==, !=, gt, lt"));
            }
        };
        Requirement::new(key, operator, values)
    }

    fn exact_value(&mut self) -> Result<String, String> {
        if matches!(self.peek(), Token::End | Token::Comma) {
            return Ok(String::new());
        }
        match self.next() {
            Token::Word(value) => Ok(value.to_owned()),
            other => Err(format!("found '{}', expected: identifier", other.text())),
        }
    }

    /// `(a,b)`; an empty place is the empty value.
    fn values(&mut self) -> Result<Vec<String>, String> {
        match self.next() {
            Token::Open => {}
            other => return Err(format!("found '{}' expected: '('", other.text())),
        }
        if !matches!(self.peek(), Token::Word(_) | Token::Comma | Token::Close) {
            return Err(format!("found '{}', expected: ',', ')' or identifier", self.peek().text()));
        }
        let mut values = Vec::new();
        loop {
            match self.peek() {
                Token::Word(value) => {
                    values.push(value.to_owned());
                    self.next();
                }
                Token::Comma | Token::Close => values.push(String::new()),
                other => return Err(format!("found '{}', expected: ',', or identifier", other.text())),
            }
            match self.next() {
                Token::Comma => {}
                Token::Close => return Ok(sorted(values)),
                other => return Err(format!("found '{}', expected: ',' or ')'", other.text())),
            }
        }
    }
}

const NAME_REGEX: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const LABEL_REGEX: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";

/// `([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]`
fn is_name(text: &str) -> bool {
    let edges = |b: Option<&u8>| b.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    let inner = bytes.iter().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(b));
    edges(bytes.first()) && edges(bytes.last()) && inner
}

fn is_subdomain(text: &str) -> bool {
    let edge = |b: Option<&u8>| b.is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    let label = |label: &str| {
        let bytes = label.as_bytes();
        let inner = bytes.iter().all(|b| edge(Some(b)) || *b == b'-');
        edge(bytes.first()) && edge(bytes.last()) && inner
    };
    text.split('.').all(label)
}

/// What is wrong with a label's name, as a field error without its path.
fn key_fault(key: &str) -> Option<String> {
    let name_fault = format!(
        "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric \
         character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{NAME_REGEX}')"
    );
    let mut faults = Vec::new();
    let (prefix, name) = match key.split('/').collect::<Vec<_>>().as_slice() {
        [name] => (None, *name),
        [prefix, name] => (Some(*prefix), *name),
        _ => {
            let fault = format!(
                "a valid label key {name_fault} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            );
            return Some(format!("Invalid value: {key:?}: {fault}"));
        }
    };
    match prefix {
        Some("") => faults.push("prefix part must be non-empty".to_owned()),
        Some(prefix) => {
            if prefix.len() > 253 {
                faults.push("prefix part must be no more than 253 bytes".to_owned());
            }
            if !is_subdomain(prefix) {
                faults.push(format!(
                    "prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or \
                     '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for \
                     validation is '{LABEL_REGEX}(\\.{LABEL_REGEX})*')"
                ));
            }
        }
        None => {}
    }
    match name.len() {
        0 => faults.push("name part must be non-empty".to_owned()),
        1..=63 => {}
        _ => faults.push("name part must be no more than 63 bytes".to_owned()),
    }
    if !is_name(name) {
        faults.push(format!("name part {name_fault}"));
    }
    if faults.is_empty() { None } else { Some(format!("Invalid value: {key:?}: {}", faults.join("; "))) }
}

/// What is wrong with a label's value, as a field error without its path.
fn value_fault(value: &str) -> Option<String> {
    let mut faults = Vec::new();
    if value.len() > 63 {
        faults.push("must be no more than 63 bytes".to_owned());
    }
    if !value.is_empty() && !is_name(value) {
        faults.push(format!(
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start \
             and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for \
             validation is '({NAME_REGEX})?')"
        ));
    }
    if faults.is_empty() { None } else { Some(format!("Invalid value: {value:?}: {}", faults.join("; "))) }
}

#[cfg(test)]
mod tests;
