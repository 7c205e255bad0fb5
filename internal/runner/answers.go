package runner

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"eccbench/internal/bench"
	"eccbench/internal/memfile"
	"eccbench/internal/verify"
)

// answerPair collects the answers of all calls to one input. Every answer is judged: by its digest if
// the policy is exact, else by its distance from a yardstick. It keeps the first answer, and the
// worst of the answers that differ from it.
type answerPair[Out any] struct {
	name  string // of the input
	calls int
	first *answerCopy
	// differing counts the calls with other bytes than the first. worst is the answer of one of them:
	// the farthest from the yardstick, or the first one if the policy is exact.
	differing int
	worst     *answerCopy
	share     float64 // largest share of a limit that the worst answer reaches
	// The yardstick is the reference for answers that may differ within limits. by names it: the
	// closed form or a witness. If by is "", the yardstick is the first answer.
	by        string
	yardstick Out
	measures  []verify.Measure // the worst of all calls
	beyond    int              // number of answers beyond the limits
	same      int              // 1 if the first answer is beyond the limits: then equal answers are too
	diff      *verify.Diff     // of the worst answer beyond the limits
}

// An answerCopy is encoded in a file in memory, because an implementation may return its own
// buffer, which the next call overwrites.
type answerCopy struct {
	digest string
	call   int // 1-based number of the call among the calls for this input
	file   *os.File
	mapped []byte
}

// keep encodes an answer to a file, which it creates if to is nil.
func (b *bound[In, Out]) keep(out Out, call int, to *os.File) (k *answerCopy, err error) {
	if to == nil {
		if to, err = memfile.New("an answer"); err != nil {
			return nil, err
		}
	}
	k = &answerCopy{call: call, file: to}
	if err := errors.Join(to.Truncate(0), rewind(to)); err != nil {
		return k, err
	}
	k.digest, err = b.digest(out, to)
	return k, err
}

func rewind(f *os.File) error {
	_, err := f.Seek(0, io.SeekStart)
	return err
}

// digest returns the digest of the encoded answer, and also writes the encoding to w.
func (b *bound[In, Out]) digest(out Out, w io.Writer) (string, error) {
	h := bench.NewDigest()
	to := io.Writer(h)
	if w != nil {
		to = io.MultiWriter(h, w)
	}
	if err := b.w.Encode(to, out); err != nil {
		return "", err
	}
	return h.String(), nil
}

// decode returns a kept answer. It is valid until close.
func (b *bound[In, Out]) decode(k *answerCopy) (out Out, err error) {
	if k.mapped == nil {
		if k.mapped, err = memfile.MapWhole(k.file); err != nil {
			return out, err
		}
	}
	return b.w.Decode(k.mapped)
}

// close releases a kept answer. It closes the file only if own is set: the task owns the others.
func (k *answerCopy) close(own bool) {
	if k == nil {
		return
	}
	memfile.Unmap(k.mapped)
	if k.mapped = nil; own {
		k.file.Close() // nameless and in memory: nothing is lost
	}
}

// take judges the answer of a call.
func (r *trial[In, Out]) take(i int, out Out) error {
	g := r.given[i]
	g.calls++
	if g.first == nil {
		var err error
		if g.first, err = r.b.keep(out, g.calls, r.answerFile(i)); err != nil {
			return err
		}
		if r.t.Peer != nil {
			memfile.Seal(g.first.file)
		}
		if r.exact() {
			return nil
		}
		if g.by != "" {
			g.weigh(r.b.w.Policy.Compare(r.inputs[i], g.yardstick, out))
			g.same = g.beyond
		}
		return nil
	}
	digest, err := r.b.digest(out, nil)
	if err != nil {
		return err
	}
	if digest == g.first.digest {
		g.beyond += g.same
		return nil
	}
	g.differing++
	if r.exact() {
		if g.worst == nil {
			g.worst, err = r.b.keep(out, g.calls, nil)
		}
		return err
	}
	if g.by == "" && g.differing == 1 {
		if g.yardstick, err = r.b.decode(g.first); err != nil {
			return err
		}
	}
	share := g.weigh(r.b.w.Policy.Compare(r.inputs[i], g.yardstick, out))
	if g.worst != nil && share <= g.share {
		return nil
	}
	g.share = share
	var to *os.File
	if g.worst != nil {
		to = g.worst.file
	}
	g.worst, err = r.b.keep(out, g.calls, to)
	return err
}

// weigh compares an answer with the yardstick and returns the largest share of a limit. If the
// yardstick is only the first answer, it records no contradiction: two right answers may be on
// opposite sides of the truth.
func (g *answerPair[Out]) weigh(d *verify.Diff, list []verify.Measure) (share float64) {
	for _, m := range list {
		share = max(share, m.Share())
	}
	if d != nil && share <= 1 {
		share = math.Inf(1) // NaN
	}
	if g.by == "" {
		return share
	}
	g.measures = verify.Worst(g.measures, list)
	if d != nil {
		if g.beyond++; g.diff == nil || share > g.share {
			g.diff = d
		}
	}
	return share
}

// exact reports whether right answers are always equal.
func (r *trial[In, Out]) exact() bool { return r.b.w.Policy.Exact() }

// answerFile returns the file in which the parent expects the answer to an input, or nil.
func (r *trial[In, Out]) answerFile(i int) *os.File {
	if i < len(r.files.Answers) {
		return r.files.Answers[i]
	}
	return nil
}

// repeats returns the evidence of all calls for an input together. It contradicts an implementation
// whose answers differ, or are beyond the limits. It returns false if there is no such evidence.
func (r *trial[In, Out]) repeats(i int) (verify.Evidence, bool, error) {
	g := r.given[i]
	e := verify.Evidence{Input: g.name}
	switch {
	case r.exact() && g.differing > 0:
		first, err := r.b.decode(g.first)
		if err != nil {
			return e, false, err
		}
		other, err := r.b.decode(g.worst)
		if err != nil {
			return e, false, err
		}
		d := r.b.w.Policy.Agree(r.inputs[i], first, other)
		if d == nil { // the bytes differ although the policy sees no difference
			d = &verify.Diff{Where: "the answer as it is written", Want: g.first.digest, Got: g.worst.digest}
		}
		d.Want += " (the first time)"
		d.Got += fmt.Sprintf(" (call %d; %d of %d calls differ from the first)", g.worst.call, g.differing, g.calls)
		e.Witness, e.Diff = "gives one answer every time", d
		return e, true, nil
	case g.by != "":
		e.Witness, e.Measures, e.Diff = "every call within the limits of "+g.by, g.measures, g.diff
		if e.Passed = e.Diff == nil; !e.Passed {
			e.Diff.Got += fmt.Sprintf(" (%d of %d calls are beyond it)", g.beyond, g.calls)
		}
		return e, true, nil
	}
	return e, false, nil
}
