//! Access reviews.

use serde_json::Value;

use super::Strategy;
use crate::validation::{
    FieldErrors,
    reviews::{self, Review},
};

/// A question to the authorizer.
pub(crate) struct AccessReviews(pub Review);

impl Strategy for AccessReviews {
    fn validate(&self, review: &Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        reviews::review(&mut errors, review, self.0);
        errors
    }
}
