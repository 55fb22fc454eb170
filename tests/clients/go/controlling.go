package main

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcore "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/scale"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/retry"
)

// One of two leads; when it lets go, the other one does.
func electionCheck(ctx context.Context, e *env) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var leaders atomic.Int32
	leading := make(chan string, 4)
	stand := func(ctx context.Context, name string) {
		lock := &resourcelock.LeaseLock{
			LeaseMeta: metav1.ObjectMeta{Name: "election", Namespace: namespace}, Client: e.client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: name},
		}
		leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
			Lock: lock, ReleaseOnCancel: true, LeaseDuration: 3 * time.Second, RenewDeadline: 2 * time.Second, RetryPeriod: 200 * time.Millisecond,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(context.Context) { leaders.Add(1); leading <- name },
				OnStoppedLeading: func() {},
			},
		})
	}
	first, stop := context.WithCancel(ctx)
	defer stop()
	go stand(first, "first")
	if name := <-leading; name != "first" {
		return fmt.Errorf("%s leads", name)
	}
	go stand(ctx, "second")
	time.Sleep(time.Second)
	if err := expect(leaders.Load() == 1, "two leaders"); err != nil {
		return err
	}
	stop()
	select {
	case name := <-leading:
		if err := expect(name == "second", "%s leads", name); err != nil {
			return err
		}
	case <-time.After(patience):
		return fmt.Errorf("nobody leads")
	}
	lease, err := e.client.CoordinationV1().Leases(namespace).Get(ctx, "election", metav1.GetOptions{})
	if err != nil {
		return err
	}
	return expect(*lease.Spec.LeaseTransitions == 1 || *lease.Spec.LeaseTransitions == 2, "%+v", lease.Spec)
}

// Both recorders; an event is one object of both groups.
func eventsCheck(ctx context.Context, e *env) error {
	about := &corev1.ObjectReference{Kind: "Namespace", Name: namespace, APIVersion: "v1"}
	old := record.NewBroadcaster(record.WithContext(ctx))
	defer old.Shutdown()
	old.StartRecordingToSink(&typedcore.EventSinkImpl{Interface: e.client.CoreV1().Events("")})
	recorder := old.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "go-client"})
	for range 3 {
		recorder.Event(about, corev1.EventTypeNormal, "Counted", "the same thing again")
	}
	broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: e.client.EventsV1()})
	defer broadcaster.Shutdown()
	if err := broadcaster.StartRecordingToSinkWithContext(ctx); err != nil {
		return err
	}
	broadcaster.NewRecorder(scheme.Scheme, "kinglet.dev/go").Eventf(about, nil, corev1.EventTypeNormal, "Tested", "Testing", "seen by %s", "both")
	var found *eventsv1.Event
	if err := eventually(ctx, "both events", func() bool {
		list, err := e.client.EventsV1().Events("default").List(ctx, metav1.ListOptions{})
		if err != nil {
			return false
		}
		counted := false
		for at, event := range list.Items {
			counted = counted || event.Reason == "Counted" && event.DeprecatedCount == 3
			if event.Reason == "Tested" {
				found = &list.Items[at]
			}
		}
		return counted && found != nil
	}); err != nil {
		return err
	}
	same, err := e.client.CoreV1().Events("default").Get(ctx, found.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if err := expect(same.Message == found.Note && same.InvolvedObject.Name == namespace && same.Action == "Testing", "%+v", same); err != nil {
		return err
	}
	selected, err := e.client.CoreV1().Events("default").List(ctx, metav1.ListOptions{FieldSelector: "reason=Tested,involvedObject.kind=Namespace"})
	if err != nil {
		return err
	}
	return expect(len(selected.Items) >= 1, "selected %d", len(selected.Items))
}

// Reviews, tokens, and what somebody may not do.
func rightsCheck(ctx context.Context, e *env) error {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "robot"}}
	if _, err := e.client.CoreV1().ServiceAccounts(namespace).Create(ctx, account, metav1.CreateOptions{}); err != nil {
		return err
	}
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "robot"}, Rules: []rbacv1.PolicyRule{{Verbs: []string{"get", "list"}, APIGroups: []string{""}, Resources: []string{"configmaps"}}}}
	if _, err := e.client.RbacV1().Roles(namespace).Create(ctx, role, metav1.CreateOptions{}); err != nil {
		return err
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "robot"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "robot"},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Name: "robot", Namespace: namespace}},
	}
	if _, err := e.client.RbacV1().RoleBindings(namespace).Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		return err
	}
	seconds := int64(3600)
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}
	token, err := e.client.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, "robot", request, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	review := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token.Status.Token}}
	if review, err = e.client.AuthenticationV1().TokenReviews().Create(ctx, review, metav1.CreateOptions{}); err != nil {
		return err
	}
	user := "system:serviceaccount:" + namespace + ":robot"
	if err := expect(review.Status.Authenticated && review.Status.User.Username == user, "%+v", review.Status); err != nil {
		return err
	}
	config := rest.AnonymousClientConfig(e.config)
	config.BearerToken, config.QPS, config.ContentType = token.Status.Token, -1, protobuf
	robot, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	if _, err := robot.CoreV1().ConfigMaps(namespace).List(ctx, metav1.ListOptions{}); err != nil {
		return err
	}
	_, err = robot.CoreV1().Secrets(namespace).List(ctx, metav1.ListOptions{})
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `User "`+user+`" cannot list resource "secrets" in API group "" in the namespace "go"`) {
		return fmt.Errorf("secrets for all: %v", err)
	}
	who, err := robot.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if err := expect(who.Status.UserInfo.Username == user, "%+v", who); err != nil {
		return err
	}
	asked := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: "delete", Resource: "configmaps"}}}
	if asked, err = robot.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, asked, metav1.CreateOptions{}); err != nil {
		return err
	}
	rules := &authorizationv1.SelfSubjectRulesReview{Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: namespace}}
	if rules, err = robot.AuthorizationV1().SelfSubjectRulesReviews().Create(ctx, rules, metav1.CreateOptions{}); err != nil {
		return err
	}
	if err := expect(!asked.Status.Allowed && len(rules.Status.ResourceRules) > 0, "%+v %+v", asked.Status, rules.Status); err != nil {
		return err
	}
	impersonating := rest.CopyConfig(e.config)
	impersonating.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: []string{"system:authenticated"}}
	as, err := kubernetes.NewForConfig(impersonating)
	if err != nil {
		return err
	}
	if _, err := as.CoreV1().Nodes().List(ctx, metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		return fmt.Errorf("nodes for the robot: %v", err)
	}
	nobody := rest.AnonymousClientConfig(e.config)
	anonymous, err := kubernetes.NewForConfig(nobody)
	if err != nil {
		return err
	}
	if _, err := anonymous.CoreV1().Nodes().List(ctx, metav1.ListOptions{}); !apierrors.IsForbidden(err) && !apierrors.IsUnauthorized(err) {
		return fmt.Errorf("nodes for anybody: %v", err)
	}
	return nil
}

// Status, scale, eviction, ephemeral containers, binding: what controllers write beside the object.
func subresourcesCheck(ctx context.Context, e *env) error {
	deployments := e.client.AppsV1().Deployments(namespace)
	d, err := deployments.Create(ctx, deployment("sub"), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	size, err := deployments.GetScale(ctx, "sub", metav1.GetOptions{})
	if err != nil {
		return err
	}
	if err := expect(size.Spec.Replicas == 0 && size.Status.Selector == "app=sub", "%+v", size); err != nil {
		return err
	}
	// The controller writes beside us.
	err = retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		if size, err = deployments.GetScale(ctx, "sub", metav1.GetOptions{}); err != nil {
			return err
		}
		size.Spec.Replicas = 1
		_, err = deployments.UpdateScale(ctx, "sub", size, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		return err
	}
	size.ResourceVersion, size.Spec.Replicas = "", 0
	if _, err := deployments.UpdateScale(ctx, "sub", size, metav1.UpdateOptions{}); err != nil {
		return err
	}
	resources, err := restmapper.GetAPIGroupResources(e.client.Discovery())
	if err != nil {
		return err
	}
	scales, err := scale.NewForConfig(e.config, restmapper.NewDiscoveryRESTMapper(resources), dynamicPath, scale.NewDiscoveryScaleKindResolver(e.client.Discovery()))
	if err != nil {
		return err
	}
	polymorphic, err := scales.Scales(namespace).Get(ctx, schema.GroupResource{Group: "apps", Resource: "deployments"}, "sub", metav1.GetOptions{})
	if err != nil {
		return err
	}
	if err := expect(polymorphic.Spec.Replicas == 0 && polymorphic.APIVersion == autoscalingv1.SchemeGroupVersion.String(), "%+v", polymorphic); err != nil {
		return err
	}
	if err := deployments.Delete(ctx, d.Name, metav1.DeleteOptions{}); err != nil {
		return err
	}
	pods := e.client.CoreV1().Pods(namespace)
	grace := int64(0)
	// On no node: the scheduler has no say in a pod with another scheduler's name.
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "sub"}, Spec: corev1.PodSpec{
		SchedulerName: "nobody", TerminationGracePeriodSeconds: &grace, Containers: []corev1.Container{{Name: "c", Image: "kinglet.dev/shell:1"}},
	}}
	if pod, err = pods.Create(ctx, pod, metav1.CreateOptions{}); err != nil {
		return err
	}
	pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: "kinglet.dev/Tested", Status: corev1.ConditionTrue})
	pod.Spec.Containers[0].Image = "ignored"
	if pod, err = pods.UpdateStatus(ctx, pod, metav1.UpdateOptions{}); err != nil {
		return err
	}
	if err := expect(pod.Spec.Containers[0].Image != "ignored" && len(pod.Status.Conditions) > 0, "%+v", pod); err != nil {
		return err
	}
	pod.Spec.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "debug", Image: "kinglet.dev/shell:1"}}}
	if pod, err = pods.UpdateEphemeralContainers(ctx, "sub", pod, metav1.UpdateOptions{}); err != nil {
		return err
	}
	if err := expect(len(pod.Spec.EphemeralContainers) == 1, "%+v", pod.Spec); err != nil {
		return err
	}
	if err := pods.EvictV1(ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "sub", Namespace: namespace}}); err != nil {
		return err
	}
	return eventually(ctx, "the evicted pod is gone", func() bool {
		_, err := pods.Get(ctx, "sub", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
}

func dynamicPath(kind schema.GroupVersionKind) string {
	if kind.Group == "" {
		return "/api"
	}
	return "/apis"
}
