//! Tables and properties of label selectors.

use proptest::prelude::*;
use serde_json::json;

use super::*;

#[test]
fn texts() {
    let table = [
        ("", Ok("")),
        ("  ", Ok("")),
        ("a", Ok("a")),
        ("!a", Ok("!a")),
        ("a=b", Ok("a=b")),
        ("a==b", Ok("a==b")),
        ("a != b", Ok("a!=b")),
        ("a=", Ok("a=")),
        ("a=,b", Ok("a=,b")),
        ("b,a", Ok("a,b")),
        ("a in (y,x,y)", Ok("a in (x,y)")),
        ("a in (x,,y)", Ok("a in (,x,y)")),
        ("a in ()", Ok("a in ()")),
        ("a notin (x)", Ok("a notin (x)")),
        ("in in (in,notin)", Ok("in in (in,notin)")),
        ("in=notin", Ok("in=notin")),
        ("a>1,b<2", Ok("a>1,b<2")),
        ("example.com/a.b_c-d=X", Ok("example.com/a.b_c-d=X")),
        (",a", Err("found ',', expected: !, identifier, or 'end of string'")),
        ("a,", Err("found '', expected: identifier after ','")),
        ("a,,b", Err("found ',', expected: identifier after ','")),
        ("a b", Err("unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt")),
        ("a=b c", Err("found 'c', expected: ',' or 'end of string'")),
        ("a in x", Err("unable to parse requirement: found 'x' expected: '('")),
        ("a in (x", Err("unable to parse requirement: found '', expected: ',' or ')'")),
        ("a=(", Err("unable to parse requirement: found '(', expected: identifier")),
        ("!", Err("unable to parse requirement: found '', expected: identifier")),
        (
            "a>x",
            Err(
                "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be \
                 an integer",
            ),
        ),
        ("/a", Err("unable to parse requirement: <nil>: Invalid value: \"/a\": prefix part must be non-empty")),
        (
            "a=b@c",
            Err(
                "unable to parse requirement: values[0][a]: Invalid value: \"b@c\": a valid label must be an empty string or \
                 consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character \
                 (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is \
                 '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
            ),
        ),
        (
            "-a=b",
            Err("unable to parse requirement: <nil>: Invalid value: \"-a\": name part must consist of alphanumeric \
                 characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or \
                 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"),
        ),
    ];
    for (text, expected) in table {
        let got = Labels::parse(text).map(|l| l.to_string());
        assert_eq!(got.as_deref().map_err(String::as_str), expected, "{text}");
    }
}

#[test]
fn matching() {
    let object = json!({"metadata": {"labels": {"app": "web", "n": "5", "empty": ""}}});
    let yes = [
        "",
        "app",
        "!none",
        "app=web",
        "app!=db",
        "none!=x",
        "app in (db,web)",
        "none notin (x)",
        "n>4,n<6",
        "empty=",
        "app=web,n=5",
    ];
    let no = [
        "none",
        "!app",
        "app=db",
        "app!=web",
        "app in (db)",
        "app notin (web)",
        "none in (x)",
        "n>5",
        "app>1",
        "none=",
        "app=web,n=6",
    ];
    for text in yes {
        assert!(Labels::parse(text).unwrap().matches(&object), "{text}");
    }
    for text in no {
        assert!(!Labels::parse(text).unwrap().matches(&object), "{text}");
    }
    assert!(Labels::parse("a!=b").unwrap().matches(&json!({})));
}

#[test]
fn label_selectors() {
    let text = |value| Labels::from_label_selector(&value).map(|l| l.to_string());
    let expressions = |operator: &str, values: Value| json!({"matchLabels": {"z": "1"}, "matchExpressions": [{"key": "a", "operator": operator, "values": values}]});
    assert_eq!(text(json!({"matchLabels": {"b": "2", "a": "1"}})).unwrap(), "a=1,b=2");
    assert_eq!(text(expressions("In", json!(["y", "x"]))).unwrap(), "a in (x,y),z=1");
    assert_eq!(text(expressions("NotIn", json!(["x"]))).unwrap(), "a notin (x),z=1");
    assert_eq!(text(expressions("Exists", json!(null))).unwrap(), "a,z=1");
    assert_eq!(text(expressions("DoesNotExist", json!([]))).unwrap(), "!a,z=1");
    assert_eq!(text(expressions("in", json!([]))).unwrap_err(), "\"in\" is not a valid label selector operator");
    let empty = "values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty";
    assert_eq!(text(expressions("In", json!([]))).unwrap_err(), empty);
    let object = json!({"metadata": {}});
    assert!(Labels::from_label_selector(&json!({})).unwrap().matches(&object));
    assert!(!Labels::from_label_selector(&Value::Null).unwrap().matches(&object));
    assert!(!Labels::nothing().is_empty() && Labels::everything().is_empty());
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "[a-c!=<>(), ]{0,20}|\\PC{0,12}") {
        if let Ok(labels) = Labels::parse(&text) {
            prop_assert_eq!(Labels::parse(&labels.to_string()), Ok(labels));
        }
    }
}
