package runner

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"os"
	"runtime"

	"eccbench/internal/crew"
	"eccbench/internal/verify"
)

// given is what the calls answered to one input. All answers are judged: by their
// digests where right answers are always the same, else by how far they are from a
// yardstick. The first is kept, and the worst of those that differ from it.
type given[Out any] struct {
	name  string // of the input
	calls int
	first *kept
	// differing is how many calls gave other bytes than the first, and worst the one of
	// them that was farthest from the yardstick, or the first of them.
	differing int
	worst     *kept
	share     float64 // of the limits that the worst takes
	// The yardstick is what answers that may differ within limits are held to as they
	// come: the closed form, a witness's answer, or "" for the first answer.
	by        string
	yardstick Out
	measures  []verify.Measure // the worst of all calls
	beyond    int              // calls whose answer is farther from the yardstick than the limits allow
	same      int              // 1 where the first call's is, and so that of each call which answers the same
	diff      *verify.Diff     // of the worst of those
}

// A kept answer lies in a file in memory as it was encoded: an implementation may hand
// out its own buffer, which the next call overwrites.
type kept struct {
	digest string
	call   int // which of those about its input gave it, from 1 on
	file   *os.File
	mapped []byte
}

// keep encodes an answer to a file, or to one that it makes.
func (b *bound[In, Out]) keep(out Out, call int, to *os.File) (k *kept, err error) {
	if to == nil {
		if to, err = newFile("an answer"); err != nil {
			return nil, err
		}
	}
	k = &kept{call: call, file: to}
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

// digest is the digest of an answer as it is encoded, which is written to w too.
func (b *bound[In, Out]) digest(out Out, w io.Writer) (string, error) {
	h := &hasher{length: pieceBytes, piece: sha256.New()}
	to := io.Writer(h)
	if w != nil {
		to = io.MultiWriter(h, w)
	}
	if err := b.w.Encode(to, out); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.sum()[:16]), nil
}

// pieceBytes is how much of an answer is hashed by itself.
const pieceBytes = 32 << 20

// A hasher is SHA-256 of what is written where that is no more than a piece, else of the digests
// of its pieces, which all cores hash at the same time.
type hasher struct {
	length int       // of a piece
	piece  hash.Hash // that which is not whole yet
	has    int       // bytes of it
	sums   []byte    // of those before it
}

// Write hashes what is whole by itself, and the rest in order.
func (h *hasher) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		if h.has == h.length {
			h.sums = h.piece.Sum(h.sums)
			h.piece.Reset()
			h.has = 0
		}
		if h.has == 0 && len(b) > h.length {
			whole := (len(b) - 1) / h.length // the last is ended when more comes
			at := len(h.sums)
			h.sums = append(h.sums, make([]byte, whole*sha256.Size)...)
			free := make(chan struct{}, runtime.GOMAXPROCS(0))
			var all crew.Group
			for i := range whole {
				free <- struct{}{}
				all.Go(func() {
					defer func() { <-free }()
					sum := sha256.Sum256(b[i*h.length:][:h.length])
					copy(h.sums[at+i*sha256.Size:], sum[:])
				})
			}
			all.Wait()
			b = b[whole*h.length:]
		}
		part := b[:min(len(b), h.length-h.has)]
		h.piece.Write(part) // which fails never
		h.has += len(part)
		b = b[len(part):]
	}
	return n, nil
}

// sum is the digest of all that was written.
func (h *hasher) sum() []byte {
	if len(h.sums) == 0 {
		return h.piece.Sum(nil)
	}
	sum := sha256.Sum256(h.piece.Sum(h.sums))
	return sum[:]
}

// decode is a kept answer. It is valid until close.
func (b *bound[In, Out]) decode(k *kept) (out Out, err error) {
	if k.mapped == nil {
		if k.mapped, err = mapFile(k.file); err != nil {
			return out, err
		}
	}
	return b.w.Decode(k.mapped)
}

// close lets go of a kept answer that is no longer used. Its file is closed with the
// task's, or here where it is not one of those.
func (k *kept) close(own bool) {
	if k == nil {
		return
	}
	unmap(k.mapped)
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
		if g.first, err = r.b.keep(out, g.calls, r.answerFile(i)); err != nil || r.exact() {
			return err
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

// weigh notes how far an answer is from the yardstick, and returns the largest share of
// a limit. Two answers that are both within the limits may be farther than that from
// each other, so that the first answer as a yardstick contradicts none.
func (g *given[Out]) weigh(d *verify.Diff, list []verify.Measure) (share float64) {
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

// exact reports whether right answers are always the same.
func (r *trial[In, Out]) exact() bool { return r.b.w.Policy.Exact() }

// answerFile is the file in which the parent looks for the answer to an input, nil for
// none.
func (r *trial[In, Out]) answerFile(i int) *os.File {
	if i < len(r.files.answers) {
		return r.files.answers[i]
	}
	return nil
}

// repeats is the evidence of all calls together: against an implementation that gave an
// input different answers where there is one, or one beyond the limits.
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
		if d == nil { // other bytes are another answer
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
