package bench

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"eccbench/internal/peers"
	"eccbench/internal/stats"
	"eccbench/internal/verify"
)

// sumField begins the last field of a line, the SHA-256 of the line without it.
const sumField = `,"sum":"`

// withSum adds its sum to a record as JSON.
func withSum(line []byte) []byte {
	sum := sha256.Sum256(line)
	return fmt.Appendf(nil, `%s%s%x"}`, line[:len(line)-1], sumField, sum)
}

// The errors of withoutSum.
var (
	errNoSum  = errors.New("no sum: written by a program from before records had one, or edited")
	errEdited = errors.New("edited after it was written: its sum is not that of its bytes")
)

// withoutSum returns the record of a line without its sum. A missing or wrong sum is an error.
func withoutSum(line []byte) (record []byte, err error) {
	i := bytes.LastIndex(line, []byte(sumField))
	if i < 0 {
		return line, errNoSum
	}
	record = append(bytes.Clone(line[:i]), '}')
	if !bytes.Equal(withSum(record), line) {
		err = errEdited
	}
	return record, err
}

// Check reads a results file strictly, and returns the faults of its records: lines that are no
// record, unknown fields, edited lines, and records that contradict themselves or each other. It
// finds edits by hand, and no forgery that is consistent. A line without a sum is a fault among lines with one. If no
// line has one, an old program wrote the file, or somebody who could as well have computed the sums again.
func Check(r io.Reader) (recs Records, faults []error, err error) {
	plain, err := Decompress(r)
	if err != nil {
		return recs, nil, err
	}
	defer plain.Close()
	in := bufio.NewReader(plain)
	lines, old, seen := 0, 0, map[Measurement]bool{}
	isOld := func(fault error) bool { return errors.Is(fault, errNoSum) }
	for n := 1; ; n++ {
		line, err := readLine(in)
		if len(line) > 0 {
			lines++
			for _, fault := range recs.addChecked(bytes.TrimSpace(line), seen) {
				faults = append(faults, fmt.Errorf("line %d: %w", n, fault))
				if isOld(fault) {
					old++
				}
			}
		}
		if errors.Is(err, io.EOF) {
			if old == lines {
				recs.Unsummed, faults = old, slices.DeleteFunc(faults, isOld)
			}
			return recs, faults, nil
		}
		if err != nil {
			return recs, faults, fmt.Errorf("line %d: %w", n, err)
		}
	}
}

// addChecked adds a record to those seen, and returns its faults.
func (r *Records) addChecked(line []byte, seen map[Measurement]bool) (faults []error) {
	record, err := withoutSum(line)
	if err != nil {
		faults = append(faults, err)
	}
	cells := len(r.Cells)
	if err := r.add(line); err != nil {
		return append(faults, err)
	}
	isCell := len(r.Cells) > cells
	var known any = new(RunRecord)
	if isCell {
		known = new(CellRecord)
	}
	d := json.NewDecoder(bytes.NewReader(record))
	d.DisallowUnknownFields()
	if err := d.Decode(known); err != nil {
		faults = append(faults, err)
	}
	if !isCell {
		return faults
	}
	c := r.Cells[cells]
	if !slices.ContainsFunc(r.Runs, func(run RunRecord) bool { return run.ID == c.Run }) {
		faults = append(faults, fmt.Errorf("run %q is not in the file before it", c.Run))
	}
	if seen[c.Measurement()] {
		faults = append(faults, errors.New("a copy of an earlier record"))
	}
	seen[c.Measurement()] = true
	return append(faults, c.contradictions()...)
}

// sameSummary reports whether two summaries are of the same samples. Another machine may round sums
// otherwise.
func sameSummary(a, b stats.Summary) bool {
	near := func(x, y float64) bool { return math.Abs(x-y) <= 1e-9*math.Abs(a.Max) }
	same := near(a.Mean, b.Mean) && near(a.StdDev, b.StdDev)
	a.Mean, a.StdDev = b.Mean, b.StdDev
	return same && a == b
}

// contradictions returns the contradictions between the fields of a record.
func (c CellRecord) contradictions() (faults []error) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	switch {
	case (c.Seconds == nil) != (len(c.Samples) == 0):
		fault("samples and seconds go together")
	case c.Seconds != nil && !sameSummary(*c.Seconds, stats.Summarise(c.Samples)):
		fault("seconds are not those of the samples, whose median is %g", stats.Median(c.Samples))
	}
	confirmed := []verify.Status{verify.Verified, verify.Noisy, verify.Implausible, verify.Mistrusted}
	quoted := slices.Contains(confirmed, c.Status)
	judged := verify.Judge(slices.Concat(c.Inputs, c.Unseen), c.Evidence).Status
	if (quoted || c.Status == verify.Unverified) && quoted != (judged == verify.Verified) {
		fault("status is %s, by its evidence it is %s", c.Status, judged)
	}
	if quoted && len(c.Digests) != len(c.Inputs) {
		fault("%d digests of the answers to %d inputs", len(c.Digests), len(c.Inputs))
	}
	if s := c.Seconds; s != nil && c.Status == verify.Verified && (s.Hi-s.Lo)/2 > verify.WidestQuoted*s.Median {
		fault("status is VERIFIED, by the interval of its seconds it is %s", verify.Noisy)
	}
	if strings.HasPrefix(c.Impl, peers.Prefix) != (c.Peer != nil) {
		fault("implementation %s, and peer %+v", c.Impl, c.Peer)
	}
	return faults
}
