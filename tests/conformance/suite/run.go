package main

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"
	"github.com/onsi/gomega"
	"k8s.io/component-base/logs"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/test/e2e/framework"
)

// Time for the cleanup of a test that was cut off.
const cleanupTime = 2 * time.Minute

// A run of named tests, in this process.
type run struct {
	left    map[string]bool
	limit   time.Duration
	results resultFile
	// Fires when the running test, or what comes before the first, has reached the limit.
	alarm *time.Timer
	cut   atomic.Bool
	begun bool
	// A test has started, and not ended.
	running bool
	// Something has failed before the first test or after the last.
	broken bool
}

// runTests answers with the exit code.
func runTests(tests, results string, limit time.Duration) int {
	run := &run{left: readNames(tests), limit: limit, results: openResults(results)}
	ginkgo.ReportBeforeEach(run.starts)
	ginkgo.ReportAfterEach(run.ends)
	ginkgo.ReportAfterSuite("what failed outside of tests", run.complain)

	logs.InitLogs()
	klog.EnableContextualLogging(true)
	gomega.RegisterFailHandler(framework.Fail)
	suite, output := framework.CreateGinkgoConfig()
	suite.FocusStrings = focus(run.left)
	suite.SkipStrings = nil
	// Each test has a limit; all of them together have none.
	suite.Timeout = 0
	output.NoColor = true
	output.SilenceSkips = true
	run.arm()
	ginkgo.RunSpecs(ignored{}, suiteName, suite, output)
	logs.FlushLogs()

	if run.cut.Load() && run.begun {
		return exitCut
	}
	if len(run.left) > 0 {
		fail("%d tests were not run, %q among them", len(run.left), slices.Min(slices.Collect(maps.Keys(run.left))))
	}
	if run.broken {
		fail("all tests were run, and something has failed outside of them")
	}
	return 0
}

// ignored takes Ginkgo's verdict: a failed test is no failure of the run.
type ignored struct{}

func (ignored) Fail() {}

func readNames(path string) map[string]bool {
	text, err := os.ReadFile(path)
	if err != nil {
		fail("--tests: %v", err)
	}
	names := map[string]bool{}
	for name := range strings.Lines(string(text)) {
		if name = strings.TrimSuffix(name, "\n"); name != "" {
			names[name] = true
		}
	}
	unknown := maps.Clone(names)
	for _, spec := range allTests() {
		delete(unknown, spec.FullText())
	}
	if len(unknown) > 0 {
		fail("--tests: there is no %q", slices.Sorted(maps.Keys(unknown)))
	}
	if len(names) == 0 {
		fail("--tests: %s names none", path)
	}
	return names
}

// focus has expressions that match these tests alone. Ginkgo puts the suite's name before them.
func focus(names map[string]bool) []string {
	var all []string
	for name := range names {
		all = append(all, "^"+regexp.QuoteMeta(suiteName+" "+name)+"$")
	}
	return all
}

func (r *run) arm() {
	r.alarm = time.AfterFunc(r.limit, func() {
		r.cut.Store(true)
		interrupt()
		// Ginkgo leaves cleanup aside after a second one.
		time.AfterFunc(cleanupTime, interrupt)
	})
}

// interrupt ends the running test as Ctrl-C does: Ginkgo has no call for it.
func interrupt() {
	if err := syscall.Kill(os.Getpid(), syscall.SIGINT); err != nil {
		fail("interrupt: %v", err)
	}
}

// starts is called for every test there is. After a cut nothing starts: Ginkgo may not have heard of
// it yet, and the test that it then interrupts is left.
func (r *run) starts(report types.SpecReport) {
	if report.State.Is(types.SpecStateSkipped|types.SpecStatePending) || r.cut.Load() {
		return
	}
	r.begun, r.running = true, true
	r.results.started(report)
	r.alarm.Stop()
	r.arm()
}

// ends is called after the test's cleanup.
func (r *run) ends(report types.SpecReport) {
	if report.NumAttempts == 0 || !r.running {
		return
	}
	r.running = false
	if !r.alarm.Stop() {
		// The interrupt is on its way, if it has not come.
		r.cut.Store(true)
	}
	whole := report.State.Is(types.SpecStatePassed | types.SpecStateFailed | types.SpecStatePanicked)
	switch {
	case r.cut.Load() && !whole:
		r.results.cut(report, r.limit)
	case report.State.Is(types.SpecStateInterrupted | types.SpecStateAborted):
		// Somebody has ended the run: the test is left.
		return
	default:
		r.results.ended(report)
	}
	delete(r.left, report.FullText())
}

// complain tells of failures before the first test and after the last.
func (r *run) complain(report types.Report) {
	for _, node := range report.SpecReports.WithLeafNodeType(types.NodeTypesForSuiteLevelNodes) {
		if node.Failed() {
			r.broken = true
			fmt.Fprintf(os.Stderr, "e2e: %s: %s (%s)\n", node.LeafNodeType, node.Failure.Message, place(node.Failure.Location))
		}
	}
}
