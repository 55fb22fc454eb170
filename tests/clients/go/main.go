// A client of Kinglet that is made of client-go alone, as controllers are: protobuf by default,
// informers, leader election, dynamic and metadata clients, discovery.
//
// Each check prints a line, `ok NAME` or `FAILED NAME: why`; the exit code says whether all are well.
// The cluster is that of $KUBECONFIG; arguments choose checks by name, or all of the matrix: tour.
package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"

	"kinglet.dev/tests/clients/go/tour"
)

const (
	namespace = "go"
	patience  = tour.Patience
)

var (
	eventually = tour.Eventually
	expect     = tour.Expect
)

// What every check gets.
type env struct {
	config  *rest.Config
	client  *kubernetes.Clientset
	dynamic *dynamic.DynamicClient
	meta    metadata.Interface
	crds    *apiextensions.Clientset
	wire    *wire
}

var checks = []struct {
	name string
	run  func(context.Context, *env) error
}{
	{"discovery", discoveryCheck},
	{"openapi", openapiCheck},
	{"typed", typedCheck},
	{"errors", errorsCheck},
	{"patches", patchesCheck},
	{"apply", applyCheck},
	{"lists", listsCheck},
	{"watch", watchCheck},
	{"conflicts", conflictsCheck},
	{"subresources", subresourcesCheck},
	{"informers", informersCheck},
	{"metadata", metadataCheck},
	{"dynamic", dynamicCheck},
	{"election", electionCheck},
	{"events", eventsCheck},
	{"rights", rightsCheck},
	{"kinds", kindsCheck},
	{"custom", customCheck},
}

func main() {
	klog.InitFlags(nil)
	flag.Parse()
	chosen := flag.Args()
	e, err := connect()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	ctx := context.Background()
	space := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	if _, err := e.client.CoreV1().Namespaces().Create(ctx, space, metav1.CreateOptions{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if slices.Equal(chosen, []string{"tour"}) {
		if !tour.Run(ctx, e.steps()) {
			os.Exit(1)
		}
		return
	}
	failed := false
	for _, check := range checks {
		if len(chosen) > 0 && !slices.Contains(chosen, check.name) {
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, 2*patience)
		if err := check.run(ctx, e); err != nil {
			failed = true
			fmt.Printf("FAILED %s: %v\n", check.name, err)
		} else {
			fmt.Printf("ok %s\n", check.name)
		}
		cancel()
	}
	if failed {
		os.Exit(1)
	}
}

func connect() (*env, error) {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return nil, err
	}
	config.QPS, config.Burst = -1, -1
	config.UserAgent = "go-client/1"
	e := &env{config: config, wire: &wire{}}
	config.Wrap(e.wire.wrap)
	binary := rest.CopyConfig(config)
	binary.ContentType = "application/vnd.kubernetes.protobuf"
	binary.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	if e.client, err = kubernetes.NewForConfig(binary); err != nil {
		return nil, err
	}
	if e.meta, err = metadata.NewForConfig(config); err != nil {
		return nil, err
	}
	if e.crds, err = apiextensions.NewForConfig(binary); err != nil {
		return nil, err
	}
	e.dynamic, err = dynamic.NewForConfig(config)
	return e, err
}

// What goes over the wire, as far as checks ask: which answers came, and in which form.
type wire struct {
	mutex sync.Mutex
	seen  []exchange
}

type exchange struct {
	method, path, query, sent, got string
	status                         int
}

func (w *wire) wrap(next http.RoundTripper) http.RoundTripper {
	return trip(func(request *http.Request) (*http.Response, error) {
		answer, err := next.RoundTrip(request)
		if err == nil {
			w.mutex.Lock()
			defer w.mutex.Unlock()
			sent := request.Header.Get("Content-Type")
			w.seen = append(w.seen, exchange{request.Method, request.URL.Path, request.URL.RawQuery, sent, answer.Header.Get("Content-Type"), answer.StatusCode})
		}
		return answer, err
	})
}

type trip func(*http.Request) (*http.Response, error)

func (t trip) RoundTrip(request *http.Request) (*http.Response, error) { return t(request) }

// The exchanges with a path that ends so.
func (w *wire) about(suffix string) []exchange {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	var found []exchange
	for _, x := range w.seen {
		if strings.HasSuffix(x.path, suffix) {
			found = append(found, x)
		}
	}
	return found
}
