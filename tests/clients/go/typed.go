package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	appsapply "k8s.io/client-go/applyconfigurations/apps/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
	metaapply "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/util/csaupgrade"
	"k8s.io/client-go/util/retry"
)

const protobuf = "application/vnd.kubernetes.protobuf"

func configMap(name string, data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: data}
}

func deployment(name string) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	none := int32(0)
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Replicas: &none,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "kinglet.dev/shell:1"}}},
			},
		},
	}
}

// Every verb, in protobuf both ways.
func typedCheck(ctx context.Context, e *env) error {
	maps := e.client.CoreV1().ConfigMaps(namespace)
	made, err := maps.Create(ctx, configMap("typed", map[string]string{"a": "1"}), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if err := expect(made.UID != "" && made.ResourceVersion != "" && !made.CreationTimestamp.IsZero(), "%+v", made); err != nil {
		return err
	}
	for _, x := range e.wire.about("/namespaces/go/configmaps") {
		if err := expect(x.sent == protobuf && x.got == protobuf, "%+v", x); err != nil {
			return err
		}
	}
	made.Data["b"], made.BinaryData = "2", map[string][]byte{"bytes": {0, 255, 1}}
	updated, err := maps.Update(ctx, made, metav1.UpdateOptions{})
	if err != nil {
		return err
	}
	if err := expect(updated.ResourceVersion != made.ResourceVersion, "the version is as before"); err != nil {
		return err
	}
	got, err := maps.Get(ctx, "typed", metav1.GetOptions{})
	if err != nil {
		return err
	}
	if err := expect(got.Data["b"] == "2" && string(got.BinaryData["bytes"]) == "\x00\xff\x01", "%+v", got); err != nil {
		return err
	}
	dry, err := maps.Create(ctx, configMap("dry", nil), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		return err
	}
	if err := expect(dry.UID != "", "a dry run has no uid"); err != nil {
		return err
	}
	if _, err := maps.Get(ctx, "dry", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		return fmt.Errorf("after a dry run: %v", err)
	}
	generated := configMap("", nil)
	generated.GenerateName = "generated-"
	if made, err = maps.Create(ctx, generated, metav1.CreateOptions{}); err != nil {
		return err
	}
	if err := expect(len(made.Name) == len("generated-")+5, "%s", made.Name); err != nil {
		return err
	}
	deployments := e.client.AppsV1().Deployments(namespace)
	d, err := deployments.Create(ctx, deployment("typed"), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if err := expect(d.Generation == 1 && *d.Spec.RevisionHistoryLimit == 10, "%+v", d.Spec); err != nil {
		return err
	}
	precondition := metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions("other")}
	if err := deployments.Delete(ctx, "typed", precondition); !apierrors.IsConflict(err) {
		return fmt.Errorf("delete with another uid: %v", err)
	}
	policy := metav1.DeletePropagationForeground
	if err := deployments.Delete(ctx, "typed", metav1.DeleteOptions{PropagationPolicy: &policy}); err != nil {
		return err
	}
	if err := maps.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		return err
	}
	return eventually(ctx, "the deployment is gone", func() bool {
		_, err := deployments.Get(ctx, "typed", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
}

// Refusals are those that the library knows.
func errorsCheck(ctx context.Context, e *env) error {
	maps := e.client.CoreV1().ConfigMaps(namespace)
	made, err := maps.Create(ctx, configMap("errors", nil), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	stale := made.DeepCopy()
	stale.ResourceVersion = "1"
	_, twice := maps.Create(ctx, configMap("errors", nil), metav1.CreateOptions{})
	_, missing := maps.Get(ctx, "missing", metav1.GetOptions{})
	_, conflict := maps.Update(ctx, stale, metav1.UpdateOptions{})
	_, invalid := maps.Create(ctx, configMap("Not_A_Name", nil), metav1.CreateOptions{})
	_, nowhere := e.client.CoreV1().ConfigMaps("nowhere").Create(ctx, configMap("a", nil), metav1.CreateOptions{})
	_, selector := maps.List(ctx, metav1.ListOptions{LabelSelector: "a=b=c"})
	_, field := maps.List(ctx, metav1.ListOptions{FieldSelector: "data=x"})
	_, strategy := maps.Patch(ctx, "errors", types.ApplyPatchType, []byte("{}"), metav1.PatchOptions{})
	large := strings.Repeat("x", 1<<20)
	_, tooLarge := maps.Create(ctx, configMap("large", map[string]string{"a": large}), metav1.CreateOptions{})
	_, tooMany := maps.Create(ctx, configMap("huge", map[string]string{"a": large, "b": large, "c": large}), metav1.CreateOptions{})
	for _, c := range []struct {
		what  string
		err   error
		is    func(error) bool
		match string
	}{
		{"create twice", twice, apierrors.IsAlreadyExists, `configmaps "errors" already exists`},
		{"get what is missing", missing, apierrors.IsNotFound, `configmaps "missing" not found`},
		{"update a stale one", conflict, apierrors.IsConflict, "the object has been modified; please apply your changes to the latest version and try again"},
		{"a bad name", invalid, apierrors.IsInvalid, "a lowercase RFC 1123 subdomain must consist of"},
		{"a namespace that is missing", nowhere, apierrors.IsNotFound, `namespaces "nowhere" not found`},
		{"a bad label selector", selector, apierrors.IsBadRequest, "expected: ',' or 'end of string'"},
		{"a field that cannot be selected", field, apierrors.IsBadRequest, "is not a known field selector"},
		{"apply without a manager", strategy, apierrors.IsInvalid, "fieldManager"},
		{"a value that is too large", tooLarge, func(err error) bool { return err == nil }, ""},
		{"an object that is too large", tooMany, func(err error) bool { return apierrors.IsRequestEntityTooLargeError(err) || apierrors.IsInvalid(err) }, ""},
	} {
		if !c.is(c.err) || c.err != nil && !strings.Contains(c.err.Error(), c.match) {
			return fmt.Errorf("%s: %v (%s)", c.what, c.err, apierrors.ReasonForError(c.err))
		}
	}
	var status apierrors.APIStatus
	if errors.As(invalid, &status) && len(status.Status().Details.Causes) == 0 {
		return fmt.Errorf("invalid without causes: %+v", status.Status())
	}
	return maps.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
}

func patchesCheck(ctx context.Context, e *env) error {
	deployments := e.client.AppsV1().Deployments(namespace)
	if _, err := deployments.Create(ctx, deployment("patches"), metav1.CreateOptions{}); err != nil {
		return err
	}
	for _, c := range []struct {
		kind types.PatchType
		body string
		done func(*appsv1.Deployment) bool
	}{
		{types.JSONPatchType, `[{"op":"add","path":"/metadata/labels/j","value":"1"}]`, func(d *appsv1.Deployment) bool { return d.Labels["j"] == "1" }},
		{types.MergePatchType, `{"metadata":{"labels":{"j":null,"m":"1"}}}`, func(d *appsv1.Deployment) bool { return d.Labels["m"] == "1" && d.Labels["j"] == "" }},
		{types.StrategicMergePatchType, `{"spec":{"template":{"spec":{"containers":[{"name":"second","image":"kinglet.dev/shell:1"}]}}}}`,
			func(d *appsv1.Deployment) bool { return len(d.Spec.Template.Spec.Containers) == 2 }},
		{types.StrategicMergePatchType, `{"spec":{"template":{"spec":{"containers":[{"name":"c","$patch":"delete"}]}}}}`,
			func(d *appsv1.Deployment) bool {
				return len(d.Spec.Template.Spec.Containers) == 1 && d.Spec.Template.Spec.Containers[0].Name == "second"
			}},
	} {
		d, err := deployments.Patch(ctx, "patches", c.kind, []byte(c.body), metav1.PatchOptions{})
		if err != nil {
			return fmt.Errorf("%s: %w", c.body, err)
		}
		if err := expect(c.done(d), "%s made %+v", c.body, d); err != nil {
			return err
		}
	}
	return deployments.Delete(ctx, "patches", metav1.DeleteOptions{})
}

func applyCheck(ctx context.Context, e *env) error {
	deployments := e.client.AppsV1().Deployments(namespace)
	labels := map[string]string{"app": "apply"}
	wanted := func(image string) *appsapply.DeploymentApplyConfiguration {
		container := coreapply.Container().WithName("c").WithImage(image)
		pod := coreapply.PodTemplateSpec().WithLabels(labels).WithSpec(coreapply.PodSpec().WithContainers(container))
		spec := appsapply.DeploymentSpec().WithReplicas(0).WithSelector(metaapply.LabelSelector().WithMatchLabels(labels)).WithTemplate(pod)
		return appsapply.Deployment("apply", namespace).WithSpec(spec)
	}
	first, err := deployments.Apply(ctx, wanted("a"), metav1.ApplyOptions{FieldManager: "one"})
	if err != nil {
		return err
	}
	if err := expect(len(first.ManagedFields) == 1 && first.ManagedFields[0].Operation == "Apply", "%+v", first.ManagedFields); err != nil {
		return err
	}
	// The controller annotates it and writes its status; then it is settled.
	err = eventually(ctx, "an apply of the same changes nothing", func() bool {
		settled, err := deployments.Get(ctx, "apply", metav1.GetOptions{})
		if err != nil || settled.Status.ObservedGeneration != settled.Generation {
			return false
		}
		again, err := deployments.Apply(ctx, wanted("a"), metav1.ApplyOptions{FieldManager: "one"})
		return err == nil && again.ResourceVersion == settled.ResourceVersion
	})
	if err != nil {
		return err
	}
	_, conflict := deployments.Apply(ctx, wanted("b"), metav1.ApplyOptions{FieldManager: "two"})
	if !apierrors.IsConflict(conflict) || !strings.Contains(conflict.Error(), `conflict with "one": .spec.template.spec.containers[name="c"].image`) {
		return fmt.Errorf("no conflict: %v", conflict)
	}
	forced, err := deployments.Apply(ctx, wanted("b"), metav1.ApplyOptions{FieldManager: "two", Force: true})
	if err != nil {
		return err
	}
	// What the second manager owns, as its own configuration.
	own, err := appsapply.ExtractDeployment(forced, "two")
	if err != nil {
		return err
	}
	if err := expect(*own.Spec.Template.Spec.Containers[0].Image == "b", "extracted %+v", own.Spec); err != nil {
		return err
	}
	// From client-side to server-side, as kubectl and Helm do it.
	maps := e.client.CoreV1().ConfigMaps(namespace)
	if _, err := maps.Create(ctx, configMap("apply", map[string]string{"a": "1", "b": "2"}), metav1.CreateOptions{FieldManager: "old"}); err != nil {
		return err
	}
	object, err := maps.Get(ctx, "apply", metav1.GetOptions{})
	if err != nil {
		return err
	}
	patch, err := csaupgrade.UpgradeManagedFieldsPatch(object, sets.New("old"), "new")
	if err != nil {
		return err
	}
	if object, err = maps.Patch(ctx, "apply", types.JSONPatchType, patch, metav1.PatchOptions{}); err != nil {
		return err
	}
	raw, _ := json.Marshal(object.ManagedFields)
	if err := expect(len(object.ManagedFields) == 1 && object.ManagedFields[0].Manager == "new" && object.ManagedFields[0].Operation == "Apply", "%s", raw); err != nil {
		return err
	}
	less := coreapply.ConfigMap("apply", namespace).WithData(map[string]string{"a": "1"})
	object, err = maps.Apply(ctx, less, metav1.ApplyOptions{FieldManager: "new"})
	if err != nil {
		return err
	}
	if err := expect(len(object.Data) == 1, "left out, yet there: %v", object.Data); err != nil {
		return err
	}
	// Times of managed fields are whole seconds: in another one too nothing is written.
	time.Sleep(1100 * time.Millisecond)
	same, err := maps.Apply(ctx, less, metav1.ApplyOptions{FieldManager: "new"})
	if err != nil {
		return err
	}
	if err := expect(same.ResourceVersion == object.ResourceVersion, "applied twice: %+v, %+v", object.ObjectMeta, same.ObjectMeta); err != nil {
		return err
	}
	return deployments.Delete(ctx, "apply", metav1.DeleteOptions{})
}

// Ten who count up the same number lose no step.
func conflictsCheck(ctx context.Context, e *env) error {
	maps := e.client.CoreV1().ConfigMaps(namespace)
	if _, err := maps.Create(ctx, configMap("count", map[string]string{"n": ""}), metav1.CreateOptions{}); err != nil {
		return err
	}
	var all sync.WaitGroup
	failures := make(chan error, 10)
	for range 10 {
		all.Go(func() {
			patient := retry.DefaultBackoff
			patient.Steps = 50
			for range 5 {
				failures <- retry.RetryOnConflict(patient, func() error {
					object, err := maps.Get(ctx, "count", metav1.GetOptions{})
					if err != nil {
						return err
					}
					object.Data["n"] += "x"
					_, err = maps.Update(ctx, object, metav1.UpdateOptions{})
					return err
				})
			}
		})
	}
	go func() { all.Wait(); close(failures) }()
	for err := range failures {
		if err != nil {
			return err
		}
	}
	object, err := maps.Get(ctx, "count", metav1.GetOptions{})
	if err != nil {
		return err
	}
	return expect(len(object.Data["n"]) == 50, "%d of 50 steps", len(object.Data["n"]))
}
