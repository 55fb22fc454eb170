//! Pods: what the runtime has (`state`), what to do about it (`plan`, pure), what to tell the API (`status`, pure), and
//! the worker that brings the three together.

pub mod backoff;
pub mod conditions;
pub mod plan;
pub mod state;
pub mod status;
