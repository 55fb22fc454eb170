package main

import (
	"context"
	"fmt"
	"net/url"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/pager"
	watchtools "k8s.io/client-go/tools/watch"
)

func listsCheck(ctx context.Context, e *env) error {
	maps := e.client.CoreV1().ConfigMaps(namespace)
	for n := range 25 {
		object := configMap(fmt.Sprintf("list-%02d", n), nil)
		object.Labels = map[string]string{"list": "yes", "odd": fmt.Sprint(n % 2)}
		if _, err := maps.Create(ctx, object, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	page, err := maps.List(ctx, metav1.ListOptions{LabelSelector: "list=yes", Limit: 10})
	if err != nil {
		return err
	}
	if err := expect(len(page.Items) == 10 && page.Continue != "" && page.RemainingItemCount == nil, "first page: %d, %+v", len(page.Items), page.ListMeta); err != nil {
		return err
	}
	// A page is of the first one's time.
	if err := maps.Delete(ctx, "list-20", metav1.DeleteOptions{}); err != nil {
		return err
	}
	second, err := maps.List(ctx, metav1.ListOptions{LabelSelector: "list=yes", Limit: 100, Continue: page.Continue})
	if err != nil {
		return err
	}
	if err := expect(len(second.Items) == 15 && second.ResourceVersion == page.ResourceVersion, "second page: %d, %s, %s", len(second.Items), second.ResourceVersion, page.ResourceVersion); err != nil {
		return err
	}
	count := 0
	pages := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		return maps.List(ctx, options)
	})
	pages.PageSize = 7
	if err := pages.EachListItem(ctx, metav1.ListOptions{LabelSelector: "list"}, func(runtime.Object) error { count++; return nil }); err != nil {
		return err
	}
	if err := expect(count == 24, "pages hold %d of 24", count); err != nil {
		return err
	}
	for selector, wanted := range map[string]int{"list=yes,odd=1": 12, "odd in (0,1)": 24, "odd notin (0,1),list": 0, "!odd,list": 0, "odd!=1,list": 12} {
		found, err := maps.List(ctx, metav1.ListOptions{LabelSelector: selector})
		if err != nil {
			return fmt.Errorf("%s: %w", selector, err)
		}
		if err := expect(len(found.Items) == wanted, "%s: %d", selector, len(found.Items)); err != nil {
			return err
		}
	}
	named, err := maps.List(ctx, metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("metadata.name", "list-03").String(), ResourceVersion: "0"})
	if err != nil {
		return err
	}
	if err := expect(len(named.Items) == 1 && named.Items[0].Kind == "", "by name: %+v", named.Items); err != nil {
		return err
	}
	return maps.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "list=yes"})
}

func watchCheck(ctx context.Context, e *env) error {
	maps := e.client.CoreV1().ConfigMaps(namespace)
	list, err := maps.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	// A watch that makes itself anew behind its last event.
	mine := func(options metav1.ListOptions) metav1.ListOptions {
		options.LabelSelector, options.AllowWatchBookmarks = "watched", true
		return options
	}
	source := &cache.ListWatch{WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
		return maps.Watch(ctx, mine(options))
	}}
	watcher, err := watchtools.NewRetryWatcherWithContext(ctx, list.ResourceVersion, source)
	if err != nil {
		return err
	}
	defer watcher.Stop()
	object := configMap("watched", map[string]string{"a": "1"})
	object.Labels = map[string]string{"watched": "yes"}
	made, err := maps.Create(ctx, object, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	made.Data["a"] = "2"
	changed, err := maps.Update(ctx, made, metav1.UpdateOptions{})
	if err != nil {
		return err
	}
	changed.Labels = nil // Leaves the selection: an event of deletion for this watch.
	if _, err := maps.Update(ctx, changed, metav1.UpdateOptions{}); err != nil {
		return err
	}
	for _, wanted := range []watch.EventType{watch.Added, watch.Modified, watch.Deleted} {
		select {
		case event := <-watcher.ResultChan():
			if err := expect(event.Type == wanted, "%s instead of %s: %+v", event.Type, wanted, event.Object); err != nil {
				return err
			}
		case <-time.After(patience):
			return fmt.Errorf("no event %s", wanted)
		}
	}
	// The server ends a watch at the time that it was given.
	seconds, start := int64(1), time.Now()
	short, err := maps.Watch(ctx, metav1.ListOptions{TimeoutSeconds: &seconds, ResourceVersion: list.ResourceVersion})
	if err != nil {
		return err
	}
	events := 0
	for range short.ResultChan() {
		events++
	}
	if err := expect(events == 3 && time.Since(start) < patience, "%d events in %v", events, time.Since(start)); err != nil {
		return err
	}
	return maps.Delete(ctx, "watched", metav1.DeleteOptions{})
}

// Shared informers, as every controller has them: by watch-list, in protobuf.
func informersCheck(ctx context.Context, e *env) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	maps := e.client.CoreV1().ConfigMaps(namespace)
	for n := range 5 {
		if _, err := maps.Create(ctx, configMap(fmt.Sprintf("informed-%d", n), nil), metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	factory := informers.NewSharedInformerFactoryWithOptions(e.client, 0, informers.WithNamespace(namespace))
	var added, updated, deleted atomic.Int32
	informer := factory.Core().V1().ConfigMaps()
	if _, err := informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { added.Add(1) },
		UpdateFunc: func(any, any) { updated.Add(1) },
		DeleteFunc: func(any) { deleted.Add(1) },
	}); err != nil {
		return err
	}
	all := informers.NewSharedInformerFactory(e.client, 0)
	for _, one := range []cache.SharedIndexInformer{
		all.Core().V1().Pods().Informer(), all.Core().V1().Nodes().Informer(), all.Core().V1().Services().Informer(),
		all.Core().V1().Namespaces().Informer(), all.Apps().V1().Deployments().Informer(), all.Apps().V1().ReplicaSets().Informer(),
		all.Discovery().V1().EndpointSlices().Informer(), all.Coordination().V1().Leases().Informer(), all.Rbac().V1().ClusterRoles().Informer(),
		all.Batch().V1().Jobs().Informer(), all.Storage().V1().StorageClasses().Informer(), all.Networking().V1().Ingresses().Informer(),
	} {
		one.HasSynced()
	}
	before := len(e.wire.about("/namespaces/go/configmaps"))
	for _, f := range []informers.SharedInformerFactory{factory, all} {
		f.StartWithContext(ctx)
		for kind, synced := range f.WaitForCacheSync(ctx.Done()) {
			if err := expect(synced, "%v did not sync", kind); err != nil {
				return err
			}
		}
	}
	requests := e.wire.about("/namespaces/go/configmaps")[before:]
	query, _ := url.ParseQuery(requests[0].query)
	if err := expect(query.Get("sendInitialEvents") == "true" && requests[0].got == protobuf+";stream=watch", "not by watch-list: %+v", requests); err != nil {
		return err
	}
	for _, x := range requests {
		query, _ := url.ParseQuery(x.query)
		if err := expect(x.method != "GET" || query.Get("watch") == "true", "a list though watch-list is served: %+v", x); err != nil {
			return err
		}
	}
	object, err := informer.Lister().ConfigMaps(namespace).Get("informed-0")
	if err != nil {
		return err
	}
	object = object.DeepCopy()
	object.Data = map[string]string{"a": "1"}
	if _, err := maps.Update(ctx, object, metav1.UpdateOptions{}); err != nil {
		return err
	}
	if err := eventually(ctx, "the update", func() bool {
		seen, err := informer.Lister().ConfigMaps(namespace).Get("informed-0")
		return err == nil && seen.Data["a"] == "1" && updated.Load() >= 1
	}); err != nil {
		return err
	}
	for n := range 5 {
		if err := maps.Delete(ctx, fmt.Sprintf("informed-%d", n), metav1.DeleteOptions{}); err != nil {
			return err
		}
	}
	if err := eventually(ctx, "five deletions", func() bool { return deleted.Load() == 5 && added.Load() >= 5 }); err != nil {
		return err
	}
	nodes, err := all.Core().V1().Nodes().Lister().List(labels.Everything())
	if err != nil {
		return err
	}
	return expect(len(nodes) == 1 && nodes[0].Status.Capacity.Cpu().Value() > 0, "nodes: %+v", nodes)
}

// Metadata alone, which is what garbage collectors and cache-builders ask for.
func metadataCheck(ctx context.Context, e *env) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	resource := corev1.SchemeGroupVersion.WithResource("configmaps")
	maps := e.client.CoreV1().ConfigMaps(namespace)
	if _, err := maps.Create(ctx, configMap("metadata", map[string]string{"a": "1"}), metav1.CreateOptions{}); err != nil {
		return err
	}
	one, err := e.meta.Resource(resource).Namespace(namespace).Get(ctx, "metadata", metav1.GetOptions{})
	if err != nil {
		return err
	}
	if err := expect(one.Name == "metadata" && one.UID != "", "%+v", one); err != nil {
		return err
	}
	last := e.wire.about("/configmaps/metadata")
	if err := expect(last[len(last)-1].got != "application/json", "%+v", last); err != nil {
		return err
	}
	list, err := e.meta.Resource(resource).Namespace(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	if err := expect(len(list.Items) >= 1, "%+v", list); err != nil {
		return err
	}
	factory := metadatainformer.NewFilteredSharedInformerFactory(e.meta, 0, namespace, nil)
	informer := factory.ForResource(resource)
	informer.Informer()
	factory.Start(ctx.Done())
	for kind, synced := range factory.WaitForCacheSync(ctx.Done()) {
		if err := expect(synced, "%v did not sync", kind); err != nil {
			return err
		}
	}
	if err := e.meta.Resource(resource).Namespace(namespace).Delete(ctx, "metadata", metav1.DeleteOptions{}); err != nil {
		return err
	}
	return eventually(ctx, "the deletion", func() bool {
		_, err := informer.Lister().ByNamespace(namespace).Get("metadata")
		return err != nil
	})
}
