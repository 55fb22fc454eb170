//! The clients of others against the shipped binary: kubectl of several versions, Helm, and programs
//! made of the usual client libraries. `cargo xtask clients` gets them.

mod client;
mod helm;
mod kubectl;
mod matrix;
mod programs;

#[test]
fn kubectl_1_27() {
    kubectl::everything(27);
}

#[test]
fn kubectl_1_33() {
    kubectl::everything(33);
}

#[test]
fn kubectl_1_37() {
    kubectl::everything(37);
}

#[test]
fn helm_3() {
    helm::everything("helm-3");
}

#[test]
fn helm_4() {
    helm::everything("helm-4");
}
