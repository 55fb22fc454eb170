package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/onsi/ginkgo/v2/types"
)

// The end of a test, as a line of --results.
type result struct {
	Name    string  `json:"name"`
	State   string  `json:"state"`
	Seconds float64 `json:"seconds"`
	Message string  `json:"message"`
	At      string  `json:"at"`
	Log     string  `json:"log"`
}

// Whole lines, on file as soon as they are known.
type resultFile struct{ file *os.File }

func openResults(path string) resultFile {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		fail("--results: %v", err)
	}
	return resultFile{file}
}

func (r resultFile) write(line any) {
	text, err := json.Marshal(line)
	if err == nil {
		_, err = r.file.Write(append(text, '\n'))
	}
	if err != nil {
		fail("--results: %v", err)
	}
}

func (r resultFile) started(report types.SpecReport) {
	r.write(map[string]string{"name": report.FullText(), "state": "started"})
}

func (r resultFile) ended(report types.SpecReport) {
	line := newResult(report, told(report.Failure), report.Failure.Location)
	switch report.State {
	case types.SpecStatePassed:
		line.State = "passed"
	case types.SpecStateSkipped:
		line.State = "skipped"
	default:
		line.Log = report.CapturedGinkgoWriterOutput
	}
	r.write(line)
}

// cut writes down a test that was interrupted at the limit: where, and with what it then gave up.
func (r resultFile) cut(report types.SpecReport, limit time.Duration) {
	progress, at := report.Failure.ProgressReport, report.Failure.Location
	message := fmt.Sprintf("no end within %gs", limit.Seconds())
	if progress.CurrentStepText != "" {
		message += ", at: " + progress.CurrentStepText
		at = progress.CurrentStepLocation
	}
	if inner := report.Failure.AdditionalFailure; inner != nil {
		_, said, _ := strings.Cut(told(inner.Failure), "interrupted node before it exited:\n")
		message += "\n" + said
		at = inner.Failure.Location
	}
	line := newResult(report, message, at)
	line.Log = report.CapturedGinkgoWriterOutput
	r.write(line)
}

func newResult(report types.SpecReport, message string, at types.CodeLocation) result {
	for _, next := range report.AdditionalFailures {
		message += fmt.Sprintf("\n\nthen, in [%s] at %s:\n%s",
			next.Failure.FailureNodeType, place(next.Failure.Location), told(next.Failure))
	}
	return result{report.FullText(), "failed", report.RunTime.Seconds(), message, place(at), ""}
}

func told(failure types.Failure) string {
	return strings.TrimSuffix(failure.Message+"\n"+failure.ForwardedPanic, "\n")
}

// place leaves out the module: `test/e2e/apps/job.go:12`. Nowhere is empty.
func place(location types.CodeLocation) string {
	file := location.FileName
	if file == "" {
		return ""
	}
	if _, within, found := strings.Cut(file, "@"); found {
		_, file, _ = strings.Cut(within, "/")
	}
	return fmt.Sprintf("%s:%d", file, location.LineNumber)
}
