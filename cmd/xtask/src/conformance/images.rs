//! The images of the suite, and the registry that serves them. To be filled in.

/// What was built.
pub struct Images;

/// A registry; ended when dropped.
pub struct Registry;

/// Builds nothing yet.
pub fn build() -> anyhow::Result<Images> {
    Ok(Images)
}

/// Serves nothing yet.
pub fn serve(_machine: &testkit::Machine) -> Registry {
    Registry
}
