package main

import (
	"encoding/json"
	"io"
	"strings"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"
)

const suiteName = "Kubernetes"

// A line of --list.
type test struct {
	Name   string `json:"name"`
	Sig    string `json:"sig"`
	Serial bool   `json:"serial"`
}

func printTests(out io.Writer) {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for _, spec := range allTests() {
		name := spec.FullText()
		if !strings.Contains(name, "[Conformance]") {
			continue
		}
		_, rest, _ := strings.Cut(name, "[sig-")
		sig, _, _ := strings.Cut(rest, "]")
		if err := encoder.Encode(test{name, sig, spec.IsSerial}); err != nil {
			fail("the list: %v", err)
		}
	}
}

func allTests() types.SpecReports {
	return ginkgo.PreviewSpecs(suiteName).SpecReports.WithLeafNodeType(types.NodeTypeIt)
}
