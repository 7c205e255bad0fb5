package gate

import (
	"bytes"
	"testing"

	"eccbench/internal/bench"
)

// Reading any baseline or result returns it or an error, and its methods can be called.
func FuzzBaseline(f *testing.F) {
	f.Add([]byte(`{"schema":"eccbench/gate-baseline/2","cells":[{"impl":"cpu","digests":{"in":"1"},"processes":[{"seconds":1,"quick":1,"status":"VERIFIED"}]}]}`))
	f.Add([]byte(`{"schema":"eccbench/gate/1","cells":[{"impl":"cpu","decision":"REGRESSION","change":{"blocks":10,"logs":[0.1]}}]}`))
	f.Add([]byte(`{}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if b, err := ReadBaseline(bytes.NewReader(data)); err == nil {
			b.processes()
			b.Fits(bench.Machine{}, Protocol{}, nil)
			b.madeOn(bench.Machine{}, "a card")
		}
		if r, err := ReadResult(bytes.NewReader(data)); err == nil {
			r.Flagged()
			again := *r
			again.Confirm(r)
		}
	})
}
