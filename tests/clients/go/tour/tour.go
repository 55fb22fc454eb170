// Package tour is what programs in Go share of the tour of the client matrix: how steps are told,
// its objects, and the streams, for which every library uses client-go.
//
// A step prints `ok tour/NAME` or `FAILED tour/NAME: why`. The objects are those of $TOUR.
package tour

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/transport/spdy"
	utilexec "k8s.io/client-go/util/exec"
)

// Patience is time for anything that a healthy server does.
const Patience = 60 * time.Second

// Patches of the object of that name, in the order of the tour.
const (
	JSON      = `[{"op":"test","path":"/data/a","value":"1"},{"op":"replace","path":"/data/a","value":"2"}]`
	Merge     = `{"data":{"a":null,"b":"3"}}`
	Strategic = `{"spec":{"ports":[{"name":"more","port":81}]}}`
)

// Step is one column of the matrix.
type Step struct {
	Name string
	Run  func(context.Context) error
}

// Run makes all steps, whatever comes of each, and says whether all are well.
func Run(ctx context.Context, steps []Step) bool {
	well := true
	for _, step := range steps {
		ctx, cancel := context.WithTimeout(ctx, Patience)
		if err := step.Run(ctx); err != nil {
			well = false
			fmt.Printf("FAILED tour/%s: %v\n", step.Name, err)
		} else {
			fmt.Printf("ok tour/%s\n", step.Name)
		}
		cancel()
	}
	return well
}

// Objects of the tour.
func Objects() (*corev1.ConfigMap, *corev1.Service, *appsv1.Deployment, error) {
	text, err := os.ReadFile(os.Getenv("TOUR"))
	if err != nil {
		return nil, nil, nil, err
	}
	list := &corev1.List{}
	if err := runtime.DecodeInto(scheme.Codecs.UniversalDeserializer(), text, list); err != nil {
		return nil, nil, nil, err
	}
	configMap, service, deployment := &corev1.ConfigMap{}, &corev1.Service{}, &appsv1.Deployment{}
	for at, into := range []runtime.Object{configMap, service, deployment} {
		if err := runtime.DecodeInto(scheme.Codecs.UniversalDeserializer(), list.Items[at].Raw, into); err != nil {
			return nil, nil, nil, err
		}
	}
	return configMap, service, deployment, nil
}

// RolledOut says whether all of a deployment is as its template wants it, in this number.
func RolledOut(d *appsv1.Deployment, replicas int32) bool {
	s := d.Status
	return s.ObservedGeneration >= d.Generation && s.Replicas == replicas && s.UpdatedReplicas == replicas && s.AvailableReplicas == replicas
}

// Streams are the steps of a running pod.
type Streams struct {
	Config    *rest.Config
	Client    kubernetes.Interface
	Namespace string
	// Pod names a pod that is ready.
	Pod func(context.Context) (string, error)
}

// Exec gives a line to a command, which gives it back and ends with a code.
func (s *Streams) Exec(ctx context.Context) error {
	pod, err := s.Pod(ctx)
	if err != nil {
		return err
	}
	request := s.Client.CoreV1().RESTClient().Post().Resource("pods").Namespace(s.Namespace).Name(pod).SubResource("exec")
	request.VersionedParams(&corev1.PodExecOptions{Command: []string{"sh", "-c", "read line; echo $line; exit 3"}, Stdin: true, Stdout: true, Stderr: true}, scheme.ParameterCodec)
	socket, err := remotecommand.NewWebSocketExecutor(s.Config, "GET", request.URL().String())
	if err != nil {
		return err
	}
	old, err := remotecommand.NewSPDYExecutor(s.Config, "POST", request.URL())
	if err != nil {
		return err
	}
	// As kubectl does, and each by itself.
	both, err := remotecommand.NewFallbackExecutor(socket, old, httpstream.IsUpgradeFailure)
	if err != nil {
		return err
	}
	for _, executor := range []remotecommand.Executor{both, old} {
		var out, problems bytes.Buffer
		err = executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdin: strings.NewReader("hello\n"), Stdout: &out, Stderr: &problems})
		var code utilexec.ExitError
		if !errors.As(err, &code) || code.ExitStatus() != 3 || out.String() != "hello\n" {
			return fmt.Errorf("%v, %q, %q", err, out.String(), problems.String())
		}
	}
	return nil
}

// Logs has the line that the pod begins with.
func (s *Streams) Logs(ctx context.Context) error {
	pod, err := s.Pod(ctx)
	if err != nil {
		return err
	}
	log, err := s.Client.CoreV1().Pods(s.Namespace).GetLogs(pod, &corev1.PodLogOptions{}).DoRaw(ctx)
	if err != nil {
		return err
	}
	if !strings.Contains(string(log), "started\n") {
		return fmt.Errorf("%q", log)
	}
	return nil
}

// Forward gets a page of the pod.
func (s *Streams) Forward(ctx context.Context) error {
	pod, err := s.Pod(ctx)
	if err != nil {
		return err
	}
	url := s.Client.CoreV1().RESTClient().Post().Resource("pods").Namespace(s.Namespace).Name(pod).SubResource("portforward").URL()
	transport, upgrader, err := spdy.RoundTripperFor(s.Config)
	if err != nil {
		return err
	}
	old := spdy.NewDialer(upgrader, &http.Client{Transport: transport}, "POST", url)
	tunnel, err := portforward.NewSPDYOverWebsocketDialer(url, s.Config)
	if err != nil {
		return err
	}
	for _, dialer := range []httpstream.Dialer{portforward.NewFallbackDialer(tunnel, old, httpstream.IsUpgradeFailure), old} {
		page, err := through(ctx, dialer)
		if err != nil {
			return err
		}
		if !strings.Contains(page, "Welcome to nginx!") {
			return fmt.Errorf("%q", page)
		}
	}
	return nil
}

func through(ctx context.Context, dialer httpstream.Dialer) (string, error) {
	ready, stop, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	defer close(stop)
	forwarder, err := portforward.New(dialer, []string{":80"}, stop, ready, io.Discard, io.Discard)
	if err != nil {
		return "", err
	}
	go func() { ended <- forwarder.ForwardPorts() }()
	select {
	case <-ready:
	case err := <-ended:
		return "", fmt.Errorf("the forwarder has ended: %w", err)
	case <-ctx.Done():
		return "", ctx.Err()
	}
	ports, err := forwarder.GetPorts()
	if err != nil {
		return "", err
	}
	request, err := http.NewRequestWithContext(ctx, "GET", fmt.Sprintf("http://127.0.0.1:%d/", ports[0].Local), nil)
	if err != nil {
		return "", err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	page, err := io.ReadAll(answer.Body)
	return string(page), err
}

// Eventually waits until done says so.
func Eventually(ctx context.Context, what string, done func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	for !done() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: not in time", what)
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}

// Expect is an error that says what is not as it should be, or nil.
func Expect(holds bool, format string, args ...any) error {
	if holds {
		return nil
	}
	return fmt.Errorf(format, args...)
}

// Events compares what a watch brings.
func Events(ctx context.Context, watcher watch.Interface, wanted ...watch.EventType) error {
	for _, wanted := range wanted {
		select {
		case event := <-watcher.ResultChan():
			if event.Type != wanted {
				return fmt.Errorf("%q instead of %s: %+v", event.Type, wanted, event.Object)
			}
		case <-ctx.Done():
			return fmt.Errorf("no event %s", wanted)
		}
	}
	return nil
}
