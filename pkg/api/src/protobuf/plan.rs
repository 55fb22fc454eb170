//! The fields of the built-in types by number, with the inlined messages in their places.

use std::sync::OnceLock;

use crate::schema::{self, Schema, Shared, Type, TypeId};

/// A message: what stands under each number, sorted.
#[derive(Debug, Default)]
pub struct Message {
    steps: Vec<(u32, Step)>,
}

/// What a number stands for.
#[derive(Debug)]
pub enum Step {
    /// A field: its index in the type.
    Field(usize),
    /// A message whose fields JSON has one level up.
    Inline(Message),
}

impl Message {
    /// All steps in the order of their numbers.
    pub fn steps(&self) -> &[(u32, Step)] {
        &self.steps
    }

    /// What a number stands for.
    pub fn step(&self, number: u32) -> Option<&Step> {
        self.steps.binary_search_by_key(&number, |(number, _)| *number).ok().map(|at| &self.steps[at].1)
    }

    fn of(ty: &Type) -> Self {
        let mut message = Message::default();
        for (index, field) in ty.fields.iter().enumerate().filter(|(_, field)| field.number > 0) {
            let mut inner = &mut message;
            for number in field.form.inline {
                inner = inner.inlined(*number);
            }
            let at = inner.steps.partition_point(|(number, _)| *number < field.number);
            inner.steps.insert(at, (field.number, Step::Field(index)));
        }
        message
    }

    fn inlined(&mut self, number: u32) -> &mut Message {
        let at = self.steps.partition_point(|(other, _)| *other < number);
        if !matches!(self.steps.get(at), Some((found, Step::Inline(_))) if *found == number) {
            self.steps.insert(at, (number, Step::Inline(Message::default())));
        }
        match &mut self.steps[at].1 {
            Step::Inline(message) => message,
            Step::Field(_) => unreachable!("an inlined message has just been put here"),
        }
    }
}

/// The message of a type; `None` where the schema has no protobuf form.
pub fn message(schema: &Schema, id: TypeId) -> Option<&'static Message> {
    static MESSAGES: OnceLock<Vec<Message>> = OnceLock::new();
    if matches!(schema.types, Shared::Counted(_)) {
        return None;
    }
    let messages = MESSAGES.get_or_init(|| schema::builtin().types.iter().map(Message::of).collect());
    messages.get(usize::from(id.0))
}
