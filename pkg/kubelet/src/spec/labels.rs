//! Labels and annotations on the runtime's objects. They are those of the upstream node agent, so that its tools find
//! our pods; with them everything is found again after a restart.

/// Pod name.
pub const POD_NAME: &str = "io.kubernetes.pod.name";
/// Pod namespace.
pub const POD_NAMESPACE: &str = "io.kubernetes.pod.namespace";
/// Pod uid.
pub const POD_UID: &str = "io.kubernetes.pod.uid";
/// Container name.
pub const CONTAINER_NAME: &str = "io.kubernetes.container.name";
/// Annotation: hash of what cannot change in a running container.
pub const HASH: &str = "io.kubernetes.container.hash";
/// Annotation: restarts before this container.
pub const RESTART_COUNT: &str = "io.kubernetes.container.restartCount";
/// Annotation: path of the termination message in the container.
pub const MESSAGE_PATH: &str = "io.kubernetes.container.terminationMessagePath";
/// Annotation: where the termination message comes from.
pub const MESSAGE_POLICY: &str = "io.kubernetes.container.terminationMessagePolicy";
/// Annotation: seconds the pod's containers get to end.
pub const POD_GRACE: &str = "io.kubernetes.pod.terminationGracePeriod";
