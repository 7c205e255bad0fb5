//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/cli"
)

// A meddler writes to the image's file after its implementation was called.
type meddler[In, Out any] struct {
	bench.Implementation[In, Out]
	meddle func()
}

func (m meddler[In, Out]) CanDo(in In, c bench.Conditions) error {
	m.meddle()
	return m.Implementation.CanDo(in, c)
}

func meddling[In, Out any](w bench.Workload[In, Out], meddle func()) bench.Workload[In, Out] {
	list := w.Impls
	w.Impls = nil
	for _, i := range list {
		w.Impls = append(w.Impls, meddler[In, Out]{i, meddle})
	}
	return w
}

// A file that is changed in place while a command reads it is an invalid input, and no answer is
// WRONG for it.
func TestFileThatChangesMeanwhile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.raw")
	image := func(by int) []byte {
		data := make([]byte, 24*24*24)
		for i := range data {
			data[i] = byte(i * i / by)
		}
		return data
	}
	flags := []string{path, "--shape", "24x24x24", "--type", "uint8"}
	for what, args := range map[string][]string{
		"curve": {"curve"}, "curve by cpu": {"curve", "--impl", "cpu"}, "each slice": {"curve", "--each-slice"},
		"shard": {"curve", "--shard", "1/2", "-o", filepath.Join(dir, "1.part")}, "betti": {"betti"}, "betti at": {"betti", "--at", "100"},
		"pairs": {"pairs"}, "pairs of slices": {"pairs", "--each-slice"},
	} {
		meddled := false
		meddle := func() {
			if !meddled {
				meddled = true
				f, err := os.OpenFile(path, os.O_WRONLY, 0)
				if err == nil {
					_, err = f.Write(image(7))
				}
				if err != nil || f.Close() != nil {
					t.Error(err)
				}
			}
		}
		if err := os.WriteFile(path, image(977), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Unix(1e9, 0), time.Unix(1e9, 0)); err != nil {
			t.Fatal(err)
		}
		c := programWith(same)
		var out, errs bytes.Buffer
		c.Stdout, c.Stderr = &out, &errs
		c.Curve, c.Betti, c.BettiCurves = meddling(c.Curve, meddle), meddling(c.Betti, meddle), meddling(c.BettiCurves, meddle)
		c.Pairs = meddling(c.Pairs, meddle)
		code := eccbench(c, append(append(args[:1:1], flags...), args[1:]...))
		if code != cli.ExitUsage || !meddled || out.Len() > 0 || !strings.Contains(errs.String(), "it changed while it was read") || strings.Contains(errs.String(), "WRONG") {
			t.Errorf("%s: exit code %d: %s%s", what, code, errs.String(), out.String())
		}
	}
}

// Every command reports missing chunks of a Zarr array on standard error and in its output, also
// for a shard. Missing chunks are an error with --strict.
func TestMissingChunksAreTold(t *testing.T) {
	dir := t.TempDir()
	zarr := filepath.Join(dir, "a.zarr")
	for name, data := range map[string][]byte{
		".zarray": []byte(`{"zarr_format":2,"shape":[8,8,8],"chunks":[4,4,4],"dtype":"|u1","compressor":null,"filters":null,"fill_value":0,"order":"C"}`),
	} {
		if err := os.MkdirAll(zarr, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(zarr, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for k := range 7 { // of 8
		name := filepath.Join(zarr, fmt.Sprintf("%d.%d.%d", k>>2, k>>1&1, k&1))
		if err := os.WriteFile(name, bytes.Repeat([]byte{byte(k + 1)}, 64), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	const want = "1 of 8 chunks missing: fill value 0"
	field, parts := filepath.Join(dir, "f.npy"), filepath.Join(dir, "parts")
	for _, c := range []struct {
		args   []string
		inText string // in the output, "" for nothing
	}{
		{[]string{"curve", zarr}, want}, {[]string{"curve", zarr, "--impl", "cpu"}, want}, {[]string{"curve", zarr, "--mask", zarr}, want}, {[]string{"betti", zarr}, want}, {[]string{"betti", zarr, "--at", "3"}, want},
		{[]string{"levels", zarr}, ""}, {[]string{"eigenmap", zarr}, ""}, {[]string{"gvf", zarr, "--steps", "1", "-o", field}, ""},
		{[]string{"curve", zarr, "--shard", "1-2/2", "-o", parts + "/"}, ""},
	} {
		out, errs, code := told(c.args...)
		if code != 0 || !strings.Contains(errs, "a.zarr: "+want) || strings.Contains(out, want) != (c.inText != "") {
			t.Errorf("%q: exit code %d: %s%s", c.args, code, errs, out)
		}
		if out, errs, code := told(append(c.args, "--strict")...); code != cli.ExitUsage || out != "" || !strings.Contains(errs, "chunk 1.1.1 is missing") {
			t.Errorf("%q strictly: exit code %d: %s%s", c.args, code, errs, out)
		}
		if _, errs, _ := told(append(c.args, "-q")...); strings.Contains(errs, want) {
			t.Errorf("%q quietly: %s", c.args, errs)
		}
	}
	var written struct{ Missing string }
	if err := json.Unmarshal([]byte(mustTell(t, "curve", zarr, "--format", "json")), &written); err != nil || written.Missing != want {
		t.Errorf("JSON: %q, %v", written.Missing, err)
	}
	if out := mustTell(t, "merge", parts); !strings.Contains(out, "; shard 2/2: "+want+";") {
		t.Errorf("merged: %s", out)
	}
	if _, errs, code := told("curve", "ramp/shape=4x4", "--strict"); code != cli.ExitUsage || !strings.Contains(errs, "leave --strict out") {
		t.Errorf("an input string, strictly: %d, %s", code, errs)
	}
}
