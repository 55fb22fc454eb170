// Upstream's end-to-end tests as a program: it lists the conformance tests, or runs those that a
// file names and writes down each result as it comes.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	conformancedata "k8s.io/kubernetes/test/conformance/testdata"
	"k8s.io/kubernetes/test/e2e/framework"
	"k8s.io/kubernetes/test/e2e/framework/config"
	"k8s.io/kubernetes/test/e2e/framework/testfiles"
	manifests "k8s.io/kubernetes/test/e2e/testing-manifests"
	"k8s.io/kubernetes/test/fixtures"

	// What upstream does before the first test and after the last.
	_ "k8s.io/kubernetes/test/e2e"

	_ "k8s.io/kubernetes/test/e2e/apimachinery"
	_ "k8s.io/kubernetes/test/e2e/apps"
	_ "k8s.io/kubernetes/test/e2e/architecture"
	_ "k8s.io/kubernetes/test/e2e/auth"
	_ "k8s.io/kubernetes/test/e2e/common"
	_ "k8s.io/kubernetes/test/e2e/dra"
	_ "k8s.io/kubernetes/test/e2e/instrumentation"
	_ "k8s.io/kubernetes/test/e2e/kubectl"
	_ "k8s.io/kubernetes/test/e2e/network"
	_ "k8s.io/kubernetes/test/e2e/node"
	_ "k8s.io/kubernetes/test/e2e/scheduling"
	_ "k8s.io/kubernetes/test/e2e/storage"

	_ "k8s.io/kubernetes/test/e2e/framework/debug/init"
	_ "k8s.io/kubernetes/test/e2e/framework/metrics/init"
	_ "k8s.io/kubernetes/test/e2e/framework/node/init"
)

// The exit code when a test was cut off and others are left.
const exitCut = 3

func main() {
	list := flag.Bool("list", false, "Print the conformance tests, one JSON object a line.")
	tests := flag.String("tests", "", "File with the names of the tests to run, one a line.")
	results := flag.String("results", "", "File that gets a JSON line as a test starts, and one as it ends.")
	limit := flag.Duration("cap", 5*time.Minute, "Time that one test may take.")
	config.CopyFlags(config.Flags, flag.CommandLine)
	framework.RegisterCommonFlags(flag.CommandLine)
	framework.RegisterClusterFlags(flag.CommandLine)
	flag.Parse()
	if flag.NArg() > 0 {
		fail("what is %q?", flag.Args())
	}

	if *list {
		printTests(os.Stdout)
		return
	}
	testfiles.AddFileSource(manifests.GetE2ETestingManifestsFS())
	testfiles.AddFileSource(fixtures.GetTestFixturesFS())
	testfiles.AddFileSource(conformancedata.GetConformanceTestdataFS())
	// Ends the process after --list-images and the like.
	framework.AfterReadingAllFlags(&framework.TestContext)
	if *tests == "" || *results == "" {
		fail("--list, or --tests and --results")
	}
	os.Exit(runTests(*tests, *results, *limit))
}

func fail(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "e2e: "+format+"\n", args...)
	os.Exit(1)
}
