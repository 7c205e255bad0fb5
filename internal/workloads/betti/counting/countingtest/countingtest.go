// Package countingtest compares kernels that count an image with the answers of cores.
package countingtest

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"eccbench/internal/bench"
)

// Differs calls an implementation several times. It returns an error if an answer differs from the
// wanted one, or if poison does not replace the answer before.
func Differs[In, Out any](i bench.Implementation[In, Out], in In, scope bench.Scope, times int, poisoned, want Out) (err error) {
	c := bench.Conditions{Setting: bench.Setting{Scope: scope}}
	if err := i.CanDo(in, c); err != nil {
		return err
	}
	j, err := i.Setup(in, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	for range times {
		j.Poison()
		if got, err := j.Out(); err != nil || !reflect.DeepEqual(got, poisoned) {
			return fmt.Errorf("%v, %v after the output was overwritten", got, err)
		}
		if err := j.Do(nil); err != nil {
			return err
		}
		if got, err := j.Out(); err != nil || !reflect.DeepEqual(got, want) {
			return fmt.Errorf("%v, %v, want %v", got, err, want)
		}
	}
	return nil
}

// stepped are jobs whose kernels can run separately.
type stepped interface {
	bench.DeviceJob
	EachKernel(func(kernel string, took time.Duration)) error
}

// Steps reports the time of each kernel in milliseconds, starting with an empty second-level cache,
// and the rate of all of them.
func Steps[In, Out any](b *testing.B, i bench.Implementation[In, Out], in In, voxels int64) {
	c := bench.Conditions{Setting: bench.Setting{Scope: bench.Kernel}}
	if err := i.CanDo(in, c); err != nil {
		b.Skip(err)
	}
	made, err := i.Setup(in, c)
	if err != nil {
		b.Fatal(err)
	}
	defer made.Close()
	j := made.(stepped)
	var all time.Duration
	each, n := map[string]time.Duration{}, 0
	for b.Loop() {
		if err := errors.Join(j.Cool(), made.Do(nil)); err != nil {
			b.Fatal(err)
		}
		took, err := j.Elapsed()
		if err != nil {
			b.Fatal(err)
		}
		all += took
		if err := j.EachKernel(func(kernel string, took time.Duration) { each[kernel] += took }); err != nil {
			b.Fatal(err)
		}
		n++
	}
	for kernel, took := range each {
		b.ReportMetric(took.Seconds()/float64(n)*1e3, kernel+"-ms")
	}
	b.ReportMetric(all.Seconds()/float64(n)*1e3, "all-ms")
	b.ReportMetric(float64(voxels)*float64(n)/all.Seconds()/1e9, "Gvox/s")
}
