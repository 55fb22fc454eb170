package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/util/retry"

	"kinglet.dev/tests/clients/go/tour"
)

const mine = "metadata.name=watched"

// The tour of the client matrix, by typed clients.
func (e *env) steps() []tour.Step {
	streams := tour.Streams{Config: e.config, Client: e.client, Namespace: namespace, Pod: e.readyPod}
	of := func(check func(context.Context, *env) error) func(context.Context) error {
		return func(ctx context.Context) error { return check(ctx, e) }
	}
	return []tour.Step{
		{Name: "create", Run: e.createTour}, {Name: "watch", Run: e.watchTour},
		{Name: "json", Run: e.patchTour(types.JSONPatchType, tour.JSON, "a", "2")},
		{Name: "merge", Run: e.patchTour(types.MergePatchType, tour.Merge, "b", "3")},
		{Name: "strategic", Run: e.strategicTour}, {Name: "apply", Run: e.applyTour},
		{Name: "exec", Run: streams.Exec}, {Name: "logs", Run: streams.Logs}, {Name: "forward", Run: streams.Forward},
		{Name: "scale", Run: e.scaleTour}, {Name: "rollout", Run: e.rolloutTour}, {Name: "delete", Run: e.deleteTour},
		{Name: "informer", Run: of(informersCheck)}, {Name: "election", Run: of(electionCheck)},
	}
}

func (e *env) createTour(ctx context.Context) error {
	configMap, service, deployment, err := tour.Objects()
	if err != nil {
		return err
	}
	if _, err := e.client.CoreV1().ConfigMaps(namespace).Create(ctx, configMap, metav1.CreateOptions{}); err != nil {
		return err
	}
	if _, err := e.client.CoreV1().Services(namespace).Create(ctx, service, metav1.CreateOptions{}); err != nil {
		return err
	}
	_, err = e.client.AppsV1().Deployments(namespace).Create(ctx, deployment, metav1.CreateOptions{})
	return err
}

func (e *env) watchTour(ctx context.Context) error {
	maps := e.client.CoreV1().ConfigMaps(namespace)
	watcher, err := maps.Watch(ctx, metav1.ListOptions{FieldSelector: mine})
	if err != nil {
		return err
	}
	defer watcher.Stop()
	made, err := maps.Create(ctx, configMap("watched", nil), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	made.Data = map[string]string{"a": "1"}
	if _, err := maps.Update(ctx, made, metav1.UpdateOptions{}); err != nil {
		return err
	}
	if err := maps.Delete(ctx, "watched", metav1.DeleteOptions{}); err != nil {
		return err
	}
	return tour.Events(ctx, watcher, watch.Added, watch.Modified, watch.Deleted)
}

func (e *env) patchTour(kind types.PatchType, patch, key, value string) func(context.Context) error {
	return func(ctx context.Context) error {
		patched, err := e.client.CoreV1().ConfigMaps(namespace).Patch(ctx, "tour", kind, []byte(patch), metav1.PatchOptions{})
		if err != nil {
			return err
		}
		return expect(len(patched.Data) == 1 && patched.Data[key] == value, "%v", patched.Data)
	}
}

func (e *env) strategicTour(ctx context.Context) error {
	patched, err := e.client.CoreV1().Services(namespace).Patch(ctx, "tour", types.StrategicMergePatchType, []byte(tour.Strategic), metav1.PatchOptions{})
	if err != nil {
		return err
	}
	return expect(len(patched.Spec.Ports) == 2, "%+v", patched.Spec.Ports)
}

func (e *env) applyTour(ctx context.Context) error {
	maps := e.client.CoreV1().ConfigMaps(namespace)
	by := func(manager, value string) (*corev1.ConfigMap, error) {
		wanted := coreapply.ConfigMap("tour", namespace).WithData(map[string]string{"c": value})
		return maps.Apply(ctx, wanted, metav1.ApplyOptions{FieldManager: manager})
	}
	applied, err := by("tour", "4")
	if err != nil {
		return err
	}
	if err := expect(applied.Data["c"] == "4", "%v", applied.Data); err != nil {
		return err
	}
	_, err = by("other", "5")
	return expect(apierrors.IsConflict(err), "by another manager: %v", err)
}

func (e *env) readyPod(ctx context.Context) (string, error) {
	name := ""
	err := eventually(ctx, "a ready pod", func() bool {
		d, err := e.client.AppsV1().Deployments(namespace).Get(ctx, "tour", metav1.GetOptions{})
		if err != nil || !tour.RolledOut(d, 1) {
			return false
		}
		pods, err := e.client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: "app=tour"})
		if err != nil || len(pods.Items) != 1 {
			return false
		}
		name = pods.Items[0].Name
		return true
	})
	return name, err
}

func (e *env) rolledOut(ctx context.Context) error {
	return eventually(ctx, "two replicas", func() bool {
		d, err := e.client.AppsV1().Deployments(namespace).Get(ctx, "tour", metav1.GetOptions{})
		return err == nil && tour.RolledOut(d, 2)
	})
}

func (e *env) scaleTour(ctx context.Context) error {
	deployments := e.client.AppsV1().Deployments(namespace)
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		scale, err := deployments.GetScale(ctx, "tour", metav1.GetOptions{})
		if err != nil {
			return err
		}
		scale.Spec.Replicas = 2
		_, err = deployments.UpdateScale(ctx, "tour", scale, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		return err
	}
	return e.rolledOut(ctx)
}

func (e *env) rolloutTour(ctx context.Context) error {
	again := fmt.Sprintf(`{"spec":{"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":%q}}}}}`, time.Now().Format(time.RFC3339))
	deployments := e.client.AppsV1().Deployments(namespace)
	if _, err := deployments.Patch(ctx, "tour", types.StrategicMergePatchType, []byte(again), metav1.PatchOptions{}); err != nil {
		return err
	}
	if err := e.rolledOut(ctx); err != nil {
		return err
	}
	sets, err := e.client.AppsV1().ReplicaSets(namespace).List(ctx, metav1.ListOptions{LabelSelector: "app=tour"})
	if err != nil {
		return err
	}
	return expect(len(sets.Items) == 2, "%d replica sets", len(sets.Items))
}

func (e *env) deleteTour(ctx context.Context) error {
	policy := metav1.DeletePropagationForeground
	for _, err := range []error{
		e.client.AppsV1().Deployments(namespace).Delete(ctx, "tour", metav1.DeleteOptions{PropagationPolicy: &policy}),
		e.client.CoreV1().Services(namespace).Delete(ctx, "tour", metav1.DeleteOptions{}),
		e.client.CoreV1().ConfigMaps(namespace).Delete(ctx, "tour", metav1.DeleteOptions{}),
	} {
		if err != nil {
			return err
		}
	}
	return eventually(ctx, "the deployment and its pods are gone", func() bool {
		_, err := e.client.AppsV1().Deployments(namespace).Get(ctx, "tour", metav1.GetOptions{})
		pods, listed := e.client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: "app=tour"})
		return apierrors.IsNotFound(err) && listed == nil && len(pods.Items) == 0
	})
}
