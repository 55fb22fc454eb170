package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
)

func object(kind schema.GroupVersionKind, name string, rest map[string]any) *unstructured.Unstructured {
	content := map[string]any{"metadata": map[string]any{"name": name}}
	for key, value := range rest {
		content[key] = value
	}
	made := &unstructured.Unstructured{Object: content}
	made.SetGroupVersionKind(kind)
	return made
}

// Any kind, without its type.
func dynamicCheck(ctx context.Context, e *env) error {
	maps := e.dynamic.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace(namespace)
	kind := schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	made, err := maps.Create(ctx, object(kind, "dynamic", map[string]any{"data": map[string]any{"a": "1"}}), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if err := expect(made.GetKind() == "ConfigMap" && made.GetUID() != "", "%v", made); err != nil {
		return err
	}
	strict := object(kind, "strict", map[string]any{"bogus": "1"})
	_, err = maps.Create(ctx, strict, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
	if !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), `strict decoding error: unknown field "bogus"`) {
		return fmt.Errorf("strict: %v", err)
	}
	applied, err := maps.Apply(ctx, "dynamic", object(kind, "dynamic", map[string]any{"data": map[string]any{"b": "2"}}), metav1.ApplyOptions{FieldManager: "dynamic"})
	if err != nil {
		return err
	}
	data, _, _ := unstructured.NestedStringMap(applied.Object, "data")
	if err := expect(len(data) == 2, "%v", data); err != nil {
		return err
	}
	list, err := maps.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	if err := expect(list.GetKind() == "ConfigMapList" && list.Items[0].GetKind() == "ConfigMap", "%v, %v", list.GetKind(), list.Items[0].GetKind()); err != nil {
		return err
	}
	return maps.Delete(ctx, "dynamic", metav1.DeleteOptions{})
}

// Every kind that is served can be listed and watched by its discovery entry.
func kindsCheck(ctx context.Context, e *env) error {
	_, lists, err := e.client.Discovery().ServerGroupsAndResources()
	if err != nil {
		return err
	}
	failures, asked := []string{}, 0
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return err
		}
		for _, r := range list.APIResources {
			if strings.Contains(r.Name, "/") || !strings.Contains(strings.Join(r.Verbs, " "), "list") {
				continue
			}
			asked++
			found, err := e.dynamic.Resource(version.WithResource(r.Name)).List(ctx, metav1.ListOptions{Limit: 500})
			if err != nil {
				failures = append(failures, fmt.Sprint(r.Name, ": ", err))
			} else if found.GetKind() != r.Kind+"List" || found.GetAPIVersion() != list.GroupVersion {
				failures = append(failures, fmt.Sprint(r.Name, " is a list of ", found.GetAPIVersion(), " ", found.GetKind()))
			}
		}
	}
	return expect(len(failures) == 0 && asked > 30, "of %d kinds:\n%s", asked, strings.Join(failures, "\n"))
}

func definition() *apiextensionsv1.CustomResourceDefinition {
	text := apiextensionsv1.JSONSchemaProps{Type: "string"}
	number := apiextensionsv1.JSONSchemaProps{Type: "integer", Format: "int32", Minimum: new(float64), Default: &apiextensionsv1.JSON{Raw: []byte("1")}}
	spec := apiextensionsv1.JSONSchemaProps{Type: "object", Required: []string{"color"}, Properties: map[string]apiextensionsv1.JSONSchemaProps{"color": text, "replicas": number}}
	status := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"replicas": {Type: "integer"}, "selector": text}}
	root := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": spec, "status": status}}
	path := ".status.selector"
	version := func(name string, storage bool) apiextensionsv1.CustomResourceDefinitionVersion {
		return apiextensionsv1.CustomResourceDefinitionVersion{
			Name: name, Served: true, Storage: storage, Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &root},
			Subresources: &apiextensionsv1.CustomResourceSubresources{
				Status: &apiextensionsv1.CustomResourceSubresourceStatus{},
				Scale:  &apiextensionsv1.CustomResourceSubresourceScale{SpecReplicasPath: ".spec.replicas", StatusReplicasPath: ".status.replicas", LabelSelectorPath: &path},
			},
			AdditionalPrinterColumns: []apiextensionsv1.CustomResourceColumnDefinition{{Name: "Color", Type: "string", JSONPath: ".spec.color"}},
			SelectableFields:         []apiextensionsv1.SelectableField{{JSONPath: ".spec.color"}},
		}
	}
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "birds.go.kinglet.dev"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "go.kinglet.dev", Scope: apiextensionsv1.NamespaceScoped,
			Names:    apiextensionsv1.CustomResourceDefinitionNames{Plural: "birds", Singular: "bird", Kind: "Bird", ShortNames: []string{"bd"}},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{version("v1", true), version("v1beta1", false)},
		},
	}
}

// A kind of one's own, from its definition (in protobuf) to its end.
func customCheck(ctx context.Context, e *env) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	definitions := e.crds.ApiextensionsV1().CustomResourceDefinitions()
	if _, err := definitions.Create(ctx, definition(), metav1.CreateOptions{}); err != nil {
		return err
	}
	if err := eventually(ctx, "the definition is established", func() bool {
		d, err := definitions.Get(ctx, "birds.go.kinglet.dev", metav1.GetOptions{})
		for _, c := range d.Status.Conditions {
			if err == nil && c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue {
				return true
			}
		}
		return false
	}); err != nil {
		return err
	}
	resource := schema.GroupVersionResource{Group: "go.kinglet.dev", Version: "v1", Resource: "birds"}
	kind := resource.GroupVersion().WithKind("Bird")
	birds := e.dynamic.Resource(resource).Namespace(namespace)
	made, err := birds.Create(ctx, object(kind, "wren", map[string]any{"spec": map[string]any{"color": "brown", "pruned": "x"}}), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	spec, _ := json.Marshal(made.Object["spec"])
	if err := expect(string(spec) == `{"color":"brown","replicas":1}` && made.GetGeneration() == 1, "%s, %d", spec, made.GetGeneration()); err != nil {
		return err
	}
	_, err = birds.Create(ctx, object(kind, "bad", map[string]any{"spec": map[string]any{"replicas": int64(-1)}}), metav1.CreateOptions{})
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "spec.color: Required value") {
		return fmt.Errorf("without a color: %v", err)
	}
	_, err = birds.Patch(ctx, "wren", types.StrategicMergePatchType, []byte("{}"), metav1.PatchOptions{})
	if !apierrors.IsUnsupportedMediaType(err) {
		return fmt.Errorf("strategic merge: %v", err)
	}
	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(e.dynamic, 0, namespace, nil)
	informer := factory.ForResource(resource)
	var updates atomic.Int32
	if _, err := informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(any, any) { updates.Add(1) }}); err != nil {
		return err
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	if err := unstructured.SetNestedField(made.Object, map[string]any{"replicas": int64(1), "selector": "a=b"}, "status"); err != nil {
		return err
	}
	if made, err = birds.UpdateStatus(ctx, made, metav1.UpdateOptions{}); err != nil {
		return err
	}
	if err := expect(made.GetGeneration() == 1, "generation %d", made.GetGeneration()); err != nil {
		return err
	}
	if _, err := birds.Patch(ctx, "wren", types.MergePatchType, []byte(`{"spec":{"replicas":3}}`), metav1.PatchOptions{}, "scale"); err != nil {
		return err
	}
	if err := eventually(ctx, "the informer sees both updates", func() bool { return updates.Load() >= 2 }); err != nil {
		return err
	}
	other := e.dynamic.Resource(schema.GroupVersionResource{Group: "go.kinglet.dev", Version: "v1beta1", Resource: "birds"}).Namespace(namespace)
	list, err := other.List(ctx, metav1.ListOptions{FieldSelector: "spec.color=brown"})
	if err != nil {
		return err
	}
	if err := expect(len(list.Items) == 1 && list.Items[0].GetAPIVersion() == "go.kinglet.dev/v1beta1" && list.Items[0].GetGeneration() == 2, "%v", list); err != nil {
		return err
	}
	meta, err := e.meta.Resource(resource).Namespace(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	if err := expect(len(meta.Items) == 1, "%v", meta); err != nil {
		return err
	}
	if err := definitions.Delete(ctx, "birds.go.kinglet.dev", metav1.DeleteOptions{}); err != nil {
		return err
	}
	return eventually(ctx, "the kind is gone", func() bool {
		_, err := birds.List(ctx, metav1.ListOptions{})
		return apierrors.IsNotFound(err)
	})
}
