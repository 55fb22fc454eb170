//! `/openapi/v2` in protobuf: the message `openapi.v2.Document` of the gnostic project, written from
//! the JSON document by a table of messages. kubectl up to 1.28 asks for nothing else.
//!
//! The tables hold what documents of ours can say. Lists of scalars, objects with free keys and
//! choices are messages of their own there; values of any kind travel as text of YAML, of which JSON
//! is a part.

use serde_json::Value;

use crate::protobuf::wire;

/// A JSON object that is a message.
struct Message {
    /// JSON name, number and form, by number.
    fields: &'static [(&'static str, u32, Form)],
    /// Number of the repeated `NamedAny` of keys that begin with `x-`; 0 for none.
    extensions: u32,
}

/// How a JSON value stands on the wire.
enum Form {
    Text,
    Flag,
    Int,
    Double,
    /// `Any`: YAML.
    Any,
    Message(&'static Message),
    /// A repeated field.
    Repeated(&'static Form),
    /// A message whose field 1 is repeated; a single value counts as a list of one.
    Listed(&'static Form),
    /// An object with free keys: a message whose repeated field of this number has entries of name
    /// and value.
    Named(u32, &'static Form),
    /// A choice: the number is the chosen one's.
    One(u32, &'static Form),
    /// A schema or a flag.
    SchemaOrFlag,
    /// A parameter of an operation or path: of the body, the query or the path.
    Parameter,
}

use Form::{Any, Double, Flag, Int, Listed, Named, One, Parameter, Repeated, SchemaOrFlag, Text};

const TEXTS: Form = Repeated(&Text);
const ANYS: Form = Repeated(&Any);
static OF_SCHEMA: Form = Form::Message(&SCHEMA);
const OF_OPERATION: Form = Form::Message(&OPERATION);
const PARAMETERS: Form = Repeated(&Parameter);

// `ParametersItem` → `Parameter` → for all but bodies `NonBodyParameter`.
static IN_BODY: Form = One(1, &One(1, &Form::Message(&BODY_PARAMETER)));
static IN_QUERY: Form = One(1, &One(2, &One(3, &Form::Message(&QUERY_PARAMETER))));
static IN_PATH: Form = One(1, &One(2, &One(4, &Form::Message(&PATH_PARAMETER))));

static DOCUMENT: Message = Message {
    fields: &[
        ("swagger", 1, Text),
        ("info", 2, Form::Message(&INFO)),
        ("schemes", 5, TEXTS),
        ("consumes", 6, TEXTS),
        ("produces", 7, TEXTS),
        ("paths", 8, Named(2, &Form::Message(&PATH_ITEM))),
        ("definitions", 9, Named(1, &OF_SCHEMA)),
        ("security", 12, Repeated(&Named(1, &Listed(&Text)))),
        ("securityDefinitions", 13, Named(1, &One(2, &Form::Message(&API_KEY)))),
    ],
    extensions: 16,
};

static INFO: Message =
    Message { fields: &[("title", 1, Text), ("version", 2, Text), ("description", 3, Text)], extensions: 7 };

static API_KEY: Message = Message {
    fields: &[("type", 1, Text), ("name", 2, Text), ("in", 3, Text), ("description", 4, Text)],
    extensions: 5,
};

static PATH_ITEM: Message = Message {
    fields: &[
        ("get", 2, OF_OPERATION),
        ("put", 3, OF_OPERATION),
        ("post", 4, OF_OPERATION),
        ("delete", 5, OF_OPERATION),
        ("options", 6, OF_OPERATION),
        ("head", 7, OF_OPERATION),
        ("patch", 8, OF_OPERATION),
        ("parameters", 9, PARAMETERS),
    ],
    extensions: 10,
};

static OPERATION: Message = Message {
    fields: &[
        ("tags", 1, TEXTS),
        ("summary", 2, Text),
        ("description", 3, Text),
        ("operationId", 5, Text),
        ("produces", 6, TEXTS),
        ("consumes", 7, TEXTS),
        ("parameters", 8, PARAMETERS),
        ("responses", 9, Named(1, &One(1, &Form::Message(&RESPONSE)))),
        ("schemes", 10, TEXTS),
        ("deprecated", 11, Flag),
    ],
    extensions: 13,
};

static RESPONSE: Message =
    Message { fields: &[("description", 1, Text), ("schema", 2, One(1, &OF_SCHEMA))], extensions: 5 };

static BODY_PARAMETER: Message = Message {
    fields: &[
        ("description", 1, Text),
        ("name", 2, Text),
        ("in", 3, Text),
        ("required", 4, Flag),
        ("schema", 5, Form::Message(&SCHEMA)),
    ],
    extensions: 6,
};

static QUERY_PARAMETER: Message = Message {
    fields: &[
        ("required", 1, Flag),
        ("in", 2, Text),
        ("description", 3, Text),
        ("name", 4, Text),
        ("type", 6, Text),
        ("format", 7, Text),
        ("uniqueItems", 20, Flag),
    ],
    extensions: 23,
};

static PATH_PARAMETER: Message = Message {
    fields: &[
        ("required", 1, Flag),
        ("in", 2, Text),
        ("description", 3, Text),
        ("name", 4, Text),
        ("type", 5, Text),
        ("format", 6, Text),
        ("uniqueItems", 19, Flag),
    ],
    extensions: 22,
};

static SCHEMA: Message = Message {
    fields: &[
        ("$ref", 1, Text),
        ("format", 2, Text),
        ("title", 3, Text),
        ("description", 4, Text),
        ("default", 5, Any),
        ("multipleOf", 6, Double),
        ("maximum", 7, Double),
        ("exclusiveMaximum", 8, Flag),
        ("minimum", 9, Double),
        ("exclusiveMinimum", 10, Flag),
        ("maxLength", 11, Int),
        ("minLength", 12, Int),
        ("pattern", 13, Text),
        ("maxItems", 14, Int),
        ("minItems", 15, Int),
        ("uniqueItems", 16, Flag),
        ("maxProperties", 17, Int),
        ("minProperties", 18, Int),
        ("required", 19, TEXTS),
        ("enum", 20, ANYS),
        ("additionalProperties", 21, SchemaOrFlag),
        ("type", 22, Listed(&Text)),
        ("items", 23, Listed(&OF_SCHEMA)),
        ("allOf", 24, Repeated(&OF_SCHEMA)),
        ("properties", 25, Named(1, &OF_SCHEMA)),
        ("example", 30, Any),
    ],
    extensions: 31,
};

/// The message of a whole document.
pub fn encode(document: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    message(&DOCUMENT, document, &mut out);
    out
}

fn message(of: &Message, value: &Value, out: &mut Vec<u8>) {
    for (name, number, form) in of.fields {
        if let Some(value) = value.get(name) {
            field(*number, form, value, out);
        }
    }
    if of.extensions == 0 {
        return;
    }
    for (name, value) in value.as_object().into_iter().flatten().filter(|(name, _)| name.starts_with("x-")) {
        named(of.extensions, name, &Any, value, out);
    }
}

/// An entry of name and value.
fn named(number: u32, name: &str, form: &Form, value: &Value, out: &mut Vec<u8>) {
    wire::message(number, out, |out| {
        wire::bytes(1, name.as_bytes(), out);
        field(2, form, value, out);
    });
}

/// A value under a number; what does not fit its form is left out.
fn field(number: u32, form: &Form, value: &Value, out: &mut Vec<u8>) {
    match form {
        Text => wire::bytes(number, value.as_str().unwrap_or_default().as_bytes(), out),
        Flag => wire::number(number, value.as_bool().unwrap_or_default().into(), out),
        Int => wire::number(number, value.as_i64().unwrap_or_default().cast_unsigned(), out),
        Double => wire::double(number, value.as_f64().unwrap_or_default(), out),
        Any => wire::message(number, out, |out| wire::bytes(2, value.to_string().as_bytes(), out)),
        Form::Message(of) => wire::message(number, out, |out| message(of, value, out)),
        Repeated(form) => value.as_array().into_iter().flatten().for_each(|item| field(number, form, item, out)),
        Listed(form) => wire::message(number, out, |out| match value {
            Value::Array(items) => items.iter().for_each(|item| field(1, form, item, out)),
            single => field(1, form, single, out),
        }),
        Named(entry, form) => wire::message(number, out, |out| {
            for (name, value) in value.as_object().into_iter().flatten() {
                named(*entry, name, form, value, out);
            }
        }),
        One(choice, form) => wire::message(number, out, |out| field(*choice, form, value, out)),
        SchemaOrFlag => match value {
            Value::Bool(_) => field(number, &One(2, &Flag), value, out),
            _ => field(number, &One(1, &OF_SCHEMA), value, out),
        },
        Parameter => {
            let form = match value["in"].as_str() {
                Some("body") => &IN_BODY,
                Some("path") => &IN_PATH,
                _ => &IN_QUERY,
            };
            field(number, form, value, out);
        }
    }
}
