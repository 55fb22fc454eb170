package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/cert"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"kinglet.dev/tests/clients/go/tour"
)

const (
	loopback = "127.0.0.1"
	// Objects with this label have a secret each.
	kept = "kept"
	// Objects with this label pass the webhooks.
	hooked = "hooked"
)

// What operators are made for.
func (e *env) operatorSteps() []tour.Step {
	return []tour.Step{{Name: "informer", Run: e.reconciler}, {Name: "election", Run: e.election}, {Name: "webhook", Run: e.webhooks}}
}

func (e *env) manager(change func(*ctrl.Options)) (ctrl.Manager, error) {
	options := ctrl.Options{
		Metrics: server.Options{BindAddress: "0"},
		Cache:   cache.Options{DefaultNamespaces: map[string]cache.Config{namespace: {}}},
	}
	change(&options)
	return ctrl.NewManager(e.config, options)
}

// A secret to every map that wants one.
type keeper struct{ client.Client }

func (k *keeper) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	configMap := &corev1.ConfigMap{}
	if err := k.Get(ctx, request.NamespacedName, configMap); err != nil || configMap.Labels[kept] == "" {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	secret := &corev1.Secret{ObjectMeta: meta(configMap.Name)}
	_, err := controllerutil.CreateOrUpdate(ctx, k, secret, func() error {
		secret.StringData = map[string]string{"a": configMap.Data["a"]}
		return controllerutil.SetControllerReference(configMap, secret, k.Scheme())
	})
	return ctrl.Result{}, err
}

// The cache brings the map and the loss of its secret.
func (e *env) reconciler(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	manager, err := e.manager(func(*ctrl.Options) {})
	if err != nil {
		return err
	}
	if err := ctrl.NewControllerManagedBy(manager).For(&corev1.ConfigMap{}).Owns(&corev1.Secret{}).Complete(&keeper{manager.GetClient()}); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(ctx) }()
	object := &corev1.ConfigMap{ObjectMeta: meta("reconciled"), Data: map[string]string{"a": "1"}}
	object.Labels = map[string]string{kept: "yes"}
	if err := e.client.Create(ctx, object); err != nil {
		return err
	}
	secret := &corev1.Secret{}
	first := func() bool { return e.client.Get(ctx, client.ObjectKeyFromObject(object), secret) == nil }
	if err := tour.Eventually(ctx, "the secret", first); err != nil {
		select {
		case ended := <-ended:
			return fmt.Errorf("the manager has ended: %w", ended)
		default:
			return err
		}
	}
	uid := secret.UID
	if err := e.client.Delete(ctx, secret); err != nil {
		return err
	}
	return tour.Eventually(ctx, "another secret", func() bool { return first() && secret.UID != uid })
}

// One of two leads; when it lets go, the other one does.
func (e *env) election(ctx context.Context) error {
	stand := func(ctx context.Context) (ctrl.Manager, error) {
		manager, err := e.manager(func(o *ctrl.Options) {
			duration, deadline, period := 3*time.Second, 2*time.Second, 200*time.Millisecond
			o.LeaderElection, o.LeaderElectionID, o.LeaderElectionNamespace = true, "operator", namespace
			o.LeaseDuration, o.RenewDeadline, o.RetryPeriod = &duration, &deadline, &period
			o.LeaderElectionReleaseOnCancel = true
		})
		if err == nil {
			go func() { _ = manager.Start(ctx) }()
		}
		return manager, err
	}
	first, letGo := context.WithCancel(ctx)
	defer letGo()
	one, err := stand(first)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	select {
	case <-one.Elected():
	case <-ctx.Done():
		return errors.New("nobody leads")
	}
	other, err := stand(ctx)
	if err != nil {
		return err
	}
	select {
	case <-other.Elected():
		return errors.New("two leaders")
	case <-time.After(time.Second):
	}
	letGo()
	select {
	case <-other.Elected():
		return nil
	case <-ctx.Done():
		return errors.New("nobody leads after the first")
	}
}

// Both webhooks: one sets a key, one refuses another.
type hooks struct{}

func (hooks) Default(_ context.Context, object *corev1.ConfigMap) error {
	if object.Data == nil {
		object.Data = map[string]string{}
	}
	object.Data["defaulted"] = "yes"
	return nil
}

func (hooks) ValidateCreate(_ context.Context, object *corev1.ConfigMap) (admission.Warnings, error) {
	if object.Data["bad"] != "" {
		return nil, errors.New("it is bad")
	}
	return nil, nil
}

func (h hooks) ValidateUpdate(ctx context.Context, _, object *corev1.ConfigMap) (admission.Warnings, error) {
	return h.ValidateCreate(ctx, object)
}

func (hooks) ValidateDelete(context.Context, *corev1.ConfigMap) (admission.Warnings, error) {
	return nil, nil
}

// Both kinds of webhooks, in the manager's server.
func (e *env) webhooks(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	listener, err := net.Listen("tcp", loopback+":0")
	if err != nil {
		return err
	}
	port := listener.Addr().(*net.TCPAddr).Port
	listener.Close()
	certificate, key, err := cert.GenerateSelfSignedCertKey(loopback, []net.IP{net.ParseIP(loopback)}, nil)
	if err != nil {
		return err
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return err
	}
	serving := func(c *tls.Config) {
		c.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &pair, nil }
	}
	manager, err := e.manager(func(o *ctrl.Options) {
		o.WebhookServer = webhook.NewServer(webhook.Options{Host: loopback, Port: port, TLSOpts: []func(*tls.Config){serving}})
	})
	if err != nil {
		return err
	}
	if err := ctrl.NewWebhookManagedBy(manager, &corev1.ConfigMap{}).WithDefaulter(hooks{}).WithValidator(hooks{}).Complete(); err != nil {
		return err
	}
	go func() { _ = manager.Start(ctx) }()
	if err := tour.Eventually(ctx, "the webhook server", func() bool { return manager.GetWebhookServer().StartedChecker()(nil) == nil }); err != nil {
		return err
	}
	defer e.unregister()
	if err := e.register(ctx, port, certificate); err != nil {
		return err
	}
	return e.hooked(ctx)
}

func (e *env) register(ctx context.Context, port int, authority []byte) error {
	at := func(path string) admissionv1.WebhookClientConfig {
		url := fmt.Sprintf("https://%s:%d%s", loopback, port, path)
		return admissionv1.WebhookClientConfig{URL: &url, CABundle: authority}
	}
	none := admissionv1.SideEffectClassNone
	rules := []admissionv1.RuleWithOperations{{
		Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update},
		Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
	}}
	mine := &metav1.LabelSelector{MatchLabels: map[string]string{hooked: "yes"}}
	here := &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}}
	mutating := &admissionv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "operator"}, Webhooks: []admissionv1.MutatingWebhook{{
		Name: "default.operator.kinglet.dev", ClientConfig: at("/mutate--v1-configmap"), Rules: rules, SideEffects: &none,
		AdmissionReviewVersions: []string{"v1"}, ObjectSelector: mine, NamespaceSelector: here,
	}}}
	validating := &admissionv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "operator"}, Webhooks: []admissionv1.ValidatingWebhook{{
		Name: "validate.operator.kinglet.dev", ClientConfig: at("/validate--v1-configmap"), Rules: rules, SideEffects: &none,
		AdmissionReviewVersions: []string{"v1"}, ObjectSelector: mine, NamespaceSelector: here,
	}}}
	if err := e.client.Create(ctx, mutating); err != nil {
		return err
	}
	return e.client.Create(ctx, validating)
}

// Nobody serves them any more.
func (e *env) unregister() {
	ctx, cancel := context.WithTimeout(context.Background(), tour.Patience)
	defer cancel()
	for _, object := range []client.Object{&admissionv1.MutatingWebhookConfiguration{}, &admissionv1.ValidatingWebhookConfiguration{}} {
		object.SetName("operator")
		if err := e.client.Delete(ctx, object); client.IgnoreNotFound(err) != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
}

// A server may take a moment until it heeds what is registered.
func (e *env) hooked(ctx context.Context) error {
	create := func(data map[string]string) (*corev1.ConfigMap, error) {
		object := &corev1.ConfigMap{ObjectMeta: meta(""), Data: data}
		object.GenerateName, object.Labels = "hooked-", map[string]string{hooked: "yes"}
		return object, e.client.Create(ctx, object)
	}
	soon, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	var problem error
	mutated := tour.Eventually(soon, "an object is mutated", func() bool {
		object, err := create(nil)
		problem = err
		return err == nil && object.Data["defaulted"] == "yes"
	})
	_, err := create(map[string]string{"bad": "yes"})
	var validated error
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "it is bad") {
		validated = fmt.Errorf("a bad object is not refused: %v", err)
	}
	return errors.Join(mutated, problem, validated)
}
