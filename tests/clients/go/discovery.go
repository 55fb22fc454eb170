package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/disk"
	"k8s.io/client-go/restmapper"
)

func discoveryCheck(ctx context.Context, e *env) error {
	client := e.client.Discovery()
	version, err := client.ServerVersion()
	if err != nil {
		return err
	}
	if err := expect(version.Major == "1" && strings.HasPrefix(version.Minor, "37"), "version %v", version); err != nil {
		return err
	}
	groups, lists, err := client.ServerGroupsAndResources()
	if err != nil {
		return err
	}
	if err := expect(len(groups) >= 20 && len(lists) >= 20, "%d groups, %d lists", len(groups), len(lists)); err != nil {
		return err
	}
	// The same by the old documents.
	legacy, err := discovery.NewDiscoveryClientForConfig(e.config)
	if err != nil {
		return err
	}
	legacy.UseLegacyDiscovery = true
	_, old, err := legacy.ServerGroupsAndResources()
	if err != nil {
		return err
	}
	if a, b := names(lists), names(old); !slices.Equal(a, b) {
		return fmt.Errorf("aggregated and plain discovery differ:\n%v\n%v", a, b)
	}
	preferred, err := client.ServerPreferredResources()
	if err != nil {
		return err
	}
	if err := expect(len(preferred) > 0, "no preferred resources"); err != nil {
		return err
	}
	mapper := restmapper.NewDiscoveryRESTMapper(must(restmapper.GetAPIGroupResources(client)))
	for _, c := range []struct{ group, resource, kind string }{
		{"", "pods", "Pod"}, {"apps", "deployments", "Deployment"}, {"autoscaling", "horizontalpodautoscalers", "HorizontalPodAutoscaler"},
		{"apiextensions.k8s.io", "customresourcedefinitions", "CustomResourceDefinition"},
	} {
		kind, err := mapper.KindFor(schema.GroupVersionResource{Group: c.group, Resource: c.resource})
		if err != nil {
			return err
		}
		if err := expect(kind.Kind == c.kind, "%s is %v", c.resource, kind); err != nil {
			return err
		}
	}
	return cachedDiscovery(e)
}

// The cache that kubectl uses, which asks anew with the ETag.
func cachedDiscovery(e *env) error {
	dir, err := os.MkdirTemp("", "discovery")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	cached, err := disk.NewCachedDiscoveryClientForConfig(e.config, filepath.Join(dir, "d"), filepath.Join(dir, "h"), 0)
	if err != nil {
		return err
	}
	before := len(e.wire.about("/apis"))
	for range 3 {
		cached.Invalidate()
		if _, _, err := cached.ServerGroupsAndResources(); err != nil {
			return err
		}
	}
	asked := e.wire.about("/apis")[before:]
	known := func(x exchange) bool { return x.status == http.StatusNotModified }
	return expect(slices.ContainsFunc(asked, known), "everything is sent anew: %+v", asked)
}

func names(lists []*metav1.APIResourceList) []string {
	var all []string
	for _, list := range lists {
		for _, r := range list.APIResources {
			verbs := slices.Sorted(slices.Values(r.Verbs))
			all = append(all, fmt.Sprint(list.GroupVersion, " ", r.Name, " ", r.Kind, " ", r.Namespaced, " ", r.ShortNames, " ", verbs))
		}
	}
	slices.Sort(all)
	return all
}

func openapiCheck(ctx context.Context, e *env) error {
	document, err := e.client.Discovery().OpenAPISchema()
	if err != nil {
		return fmt.Errorf("v2 in protobuf: %w", err)
	}
	found := false
	for _, d := range document.Definitions.AdditionalProperties {
		found = found || d.Name == "io.k8s.api.apps.v1.Deployment"
	}
	if err := expect(found, "Deployment is not in %d definitions", len(document.Definitions.AdditionalProperties)); err != nil {
		return err
	}
	paths, err := e.client.Discovery().OpenAPIV3().Paths()
	if err != nil {
		return err
	}
	for _, path := range []string{"api/v1", "apis/apps/v1", "apis/apiextensions.k8s.io/v1"} {
		group, there := paths[path]
		if !there {
			return fmt.Errorf("v3 lacks %s", path)
		}
		bytes, err := group.Schema("application/json")
		if err != nil {
			return fmt.Errorf("v3 %s: %w", path, err)
		}
		if err := expect(len(bytes) > 1000, "v3 %s: %d bytes", path, len(bytes)); err != nil {
			return err
		}
	}
	return nil
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
