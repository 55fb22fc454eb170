// An operator made of controller-runtime: a reconciler, two webhooks and the election of a leader,
// on the tour of the client matrix.
//
// Each step prints `ok tour/NAME` or `FAILED tour/NAME: why`; the cluster is that of $KUBECONFIG.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kinglet.dev/tests/clients/go/tour"
)

const namespace = "controller-runtime"

// What every step gets.
type env struct {
	config *rest.Config
	// Without a cache.
	client client.WithWatch
}

func main() {
	ctrl.SetLogger(logr.Discard())
	ctx := context.Background()
	e, steps, err := prepare(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if !tour.Run(ctx, append(steps, e.operatorSteps()...)) {
		os.Exit(1)
	}
}

func prepare(ctx context.Context) (*env, []tour.Step, error) {
	config, err := ctrl.GetConfig()
	if err != nil {
		return nil, nil, err
	}
	e := &env{config: config}
	if e.client, err = client.NewWithWatch(config, client.Options{}); err != nil {
		return nil, nil, err
	}
	// What the library leaves to client-go.
	plain, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, nil, err
	}
	streams := &tour.Streams{Config: config, Client: plain, Namespace: namespace, Pod: e.readyPod}
	space := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	return e, e.steps(streams), e.client.Create(ctx, space)
}

func (e *env) steps(streams *tour.Streams) []tour.Step {
	return []tour.Step{
		{Name: "create", Run: e.create}, {Name: "watch", Run: e.watch}, {Name: "json", Run: e.json}, {Name: "merge", Run: e.merge},
		{Name: "strategic", Run: e.strategic}, {Name: "apply", Run: e.apply},
		{Name: "exec", Run: streams.Exec}, {Name: "logs", Run: streams.Logs}, {Name: "forward", Run: streams.Forward},
		{Name: "scale", Run: e.scale}, {Name: "rollout", Run: e.rollout}, {Name: "delete", Run: e.delete},
	}
}

func meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: namespace}
}

func (e *env) create(ctx context.Context) error {
	configMap, service, deployment, err := tour.Objects()
	if err != nil {
		return err
	}
	for _, object := range []client.Object{configMap, service, deployment} {
		object.SetNamespace(namespace)
		if err := e.client.Create(ctx, object); err != nil {
			return err
		}
	}
	return nil
}

func (e *env) watch(ctx context.Context) error {
	watcher, err := e.client.Watch(ctx, &corev1.ConfigMapList{}, client.InNamespace(namespace), client.MatchingFields{"metadata.name": "watched"})
	if err != nil {
		return err
	}
	defer watcher.Stop()
	object := &corev1.ConfigMap{ObjectMeta: meta("watched")}
	if err := e.client.Create(ctx, object); err != nil {
		return err
	}
	object.Data = map[string]string{"a": "1"}
	if err := e.client.Update(ctx, object); err != nil {
		return err
	}
	if err := e.client.Delete(ctx, object); err != nil {
		return err
	}
	return tour.Events(ctx, watcher, watch.Added, watch.Modified, watch.Deleted)
}

func (e *env) json(ctx context.Context) error {
	object := &corev1.ConfigMap{ObjectMeta: meta("tour")}
	if err := e.client.Patch(ctx, object, client.RawPatch(types.JSONPatchType, []byte(tour.JSON))); err != nil {
		return err
	}
	return tour.Expect(len(object.Data) == 1 && object.Data["a"] == "2", "%v", object.Data)
}

// The patch is what differs, for the version that was read.
func (e *env) merge(ctx context.Context) error {
	object := &corev1.ConfigMap{}
	if err := e.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "tour"}, object); err != nil {
		return err
	}
	before := object.DeepCopy()
	object.Data = map[string]string{"b": "3"}
	if err := e.client.Patch(ctx, object, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return err
	}
	if err := tour.Expect(len(object.Data) == 1 && object.Data["b"] == "3", "%v", object.Data); err != nil {
		return err
	}
	late := before.DeepCopy()
	late.Data["b"] = "4"
	err := e.client.Patch(ctx, late, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	return tour.Expect(apierrors.IsConflict(err), "for an old version: %v", err)
}

func (e *env) strategic(ctx context.Context) error {
	object := &corev1.Service{}
	if err := e.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "tour"}, object); err != nil {
		return err
	}
	before := object.DeepCopy()
	object.Spec.Ports = append(object.Spec.Ports, corev1.ServicePort{Name: "more", Port: 81})
	if err := e.client.Patch(ctx, object, client.StrategicMergeFrom(before)); err != nil {
		return err
	}
	return tour.Expect(len(object.Spec.Ports) == 2, "%+v", object.Spec.Ports)
}

func (e *env) apply(ctx context.Context) error {
	wanted := func(value string) *coreapply.ConfigMapApplyConfiguration {
		return coreapply.ConfigMap("tour", namespace).WithData(map[string]string{"c": value})
	}
	applied := wanted("4")
	if err := e.client.Apply(ctx, applied, client.FieldOwner("tour")); err != nil {
		return err
	}
	if err := tour.Expect(applied.Data["c"] == "4" && applied.UID != nil, "%+v", applied); err != nil {
		return err
	}
	err := e.client.Apply(ctx, wanted("5"), client.FieldOwner("other"))
	return tour.Expect(apierrors.IsConflict(err), "by another manager: %v", err)
}

func (e *env) readyPod(ctx context.Context) (string, error) {
	if err := e.rolledOut(ctx, 1); err != nil {
		return "", err
	}
	pods := &corev1.PodList{}
	if err := e.client.List(ctx, pods, client.InNamespace(namespace), client.MatchingLabels{"app": "tour"}); err != nil {
		return "", err
	}
	if len(pods.Items) != 1 {
		return "", fmt.Errorf("%d pods", len(pods.Items))
	}
	return pods.Items[0].Name, nil
}

func (e *env) rolledOut(ctx context.Context, replicas int32) error {
	return tour.Eventually(ctx, "all replicas", func() bool {
		d := &appsv1.Deployment{}
		err := e.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "tour"}, d)
		return err == nil && tour.RolledOut(d, replicas)
	})
}

func (e *env) scale(ctx context.Context) error {
	d, size := &appsv1.Deployment{ObjectMeta: meta("tour")}, &autoscalingv1.Scale{}
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		if err := e.client.SubResource("scale").Get(ctx, d, size); err != nil {
			return err
		}
		size.Spec.Replicas = 2
		return e.client.SubResource("scale").Update(ctx, d, client.WithSubResourceBody(size))
	})
	if err != nil {
		return err
	}
	return e.rolledOut(ctx, 2)
}

func (e *env) rollout(ctx context.Context) error {
	d := &appsv1.Deployment{}
	if err := e.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "tour"}, d); err != nil {
		return err
	}
	before := d.DeepCopy()
	d.Spec.Template.Annotations = map[string]string{"again": "yes"}
	if err := e.client.Patch(ctx, d, client.StrategicMergeFrom(before)); err != nil {
		return err
	}
	if err := e.rolledOut(ctx, 2); err != nil {
		return err
	}
	sets := &appsv1.ReplicaSetList{}
	if err := e.client.List(ctx, sets, client.InNamespace(namespace), client.MatchingLabels{"app": "tour"}); err != nil {
		return err
	}
	return tour.Expect(len(sets.Items) == 2, "%d replica sets", len(sets.Items))
}

func (e *env) delete(ctx context.Context) error {
	foreground := client.PropagationPolicy(metav1.DeletePropagationForeground)
	d := &appsv1.Deployment{ObjectMeta: meta("tour")}
	for _, object := range []client.Object{d, &corev1.Service{ObjectMeta: meta("tour")}, &corev1.ConfigMap{ObjectMeta: meta("tour")}} {
		if err := e.client.Delete(ctx, object, foreground); err != nil {
			return err
		}
	}
	return tour.Eventually(ctx, "the deployment and its pods are gone", func() bool {
		pods := &corev1.PodList{}
		listed := e.client.List(ctx, pods, client.InNamespace(namespace), client.MatchingLabels{"app": "tour"})
		return apierrors.IsNotFound(e.client.Get(ctx, client.ObjectKeyFromObject(d), d)) && listed == nil && len(pods.Items) == 0
	})
}
