package eigentest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/verify"
	"eccbench/internal/verify/judgedtest"
	"eccbench/internal/workloads/eigenmap"
)

// Kernels checks that a device implementation answers problems twice with the same bits in each
// scope, and that the policy accepts them. On the host, where launches are slow, laws with further
// calls are left out.
func Kernels(t *testing.T, of Workload, i Implementation, onHost bool, names ...string) {
	t.Helper()
	w, scopes := of(i), i.About().Scopes
	if onHost {
		w.Policy.Laws = slices.DeleteFunc(slices.Clone(w.Policy.Laws), func(l verify.Law[*eigenmap.Problem, eigenmap.Map]) bool { return l.Calls > 0 })
	}
	var n judgedtest.Count
	for k, name := range names {
		p, err := w.Inputs.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		c := bench.Conditions{Setting: bench.Setting{Scope: scopes[k%len(scopes)]}}
		m, err := answerTwice(i, p, c)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		ask := func(p *eigenmap.Problem) (eigenmap.Map, error) { return bench.Answer(i, p, c) }
		judgedtest.Add(t, &n, w.Policy, verify.Question[*eigenmap.Problem, eigenmap.Map]{Name: name, In: p, Out: m, Ask: ask, PerCall: 1, Budget: 1 << 40, Thorough: true})
	}
	if !n.All() {
		t.Errorf("right answers are found %+v", n)
	}
}

// CheckRejected checks that the policy rejects an answer of a faulty implementation to at least one of some
// problems.
func CheckRejected(t *testing.T, of Workload, i Implementation, names ...string) {
	t.Helper()
	w := of(i)
	w.Adversarial = names
	judgedtest.Caught(t, w, false, 0)
}

// answerTwice returns the first of two equal answers of a job.
func answerTwice(i Implementation, p *eigenmap.Problem, c bench.Conditions) (first eigenmap.Map, err error) {
	if err := i.CanDo(p, c); err != nil {
		return first, err
	}
	j, err := i.Setup(p, c)
	if err != nil {
		return first, err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	var written []byte
	for again := range 2 {
		j.Poison()
		if err := j.Do(nil); err != nil {
			return first, err
		}
		m, err := j.Out()
		if err != nil {
			return first, err
		}
		var b bytes.Buffer
		if err := eigenmap.Encode(&b, m); err != nil {
			return first, err
		}
		if again == 0 {
			written = b.Bytes()
			if first, err = eigenmap.Decode(written); err != nil {
				return first, err
			}
		} else if !bytes.Equal(b.Bytes(), written) {
			return first, fmt.Errorf("values %v, then %v, or vectors differ", first.Values, m.Values)
		}
	}
	if d, ok := j.(bench.DeviceJob); ok {
		_, err = d.Elapsed()
	}
	return first, err
}
