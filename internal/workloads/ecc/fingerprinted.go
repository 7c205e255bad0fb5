package ecc

import (
	"fmt"
	"math/bits"
	"runtime"
	"sort"
	"time"

	"eccbench/internal/crew"
	"eccbench/internal/grid"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/ecc/cells"
	"eccbench/internal/workloads/ecc/fingerprint"
)

// FingerprintLaw names the law that the fingerprint of an answer equals that of its image.
const FingerprintLaw = "fingerprint"

// Fingerprinted is the law that the fingerprint of an answer equals that of its image. The key
// selects the weights; the ladder determines the number of weight functions. It runs on the given
// number of threads.
func Fingerprinted(k fingerprint.Key, threads int) law {
	return law{
		Name: FingerprintLaw, Note: "key " + k.String(), Drawn: true, Independent: true,
		Work: func(s grid.Source) time.Duration {
			return fingerprint.Work(s, k.ForLevels(s.Ladder().Len()), threads)
		},
		Check: func(in grid.Source, out VCEC, _ ask) (*verify.Diff, error) {
			return HoldToFingerprint(in, out, k, threads)
		},
	}
}

// HoldToFingerprint compares the fingerprint of an answer with that of its image, as Fingerprinted
// describes. If they differ, it also searches for a wrong level, provided that this takes little
// time.
func HoldToFingerprint(in grid.Source, out VCEC, k fingerprint.Key, threads int) (*verify.Diff, error) {
	levels := in.Ladder().Len()
	k = k.ForLevels(levels)
	if d := misplaced(out, levels); d != nil {
		return d, nil
	}
	want, err := fingerprint.Compute(in, k, threads)
	if err != nil {
		return nil, err
	}
	d, err := checkSum(want, out, levels, k, threads)
	if d == nil || err != nil {
		return nil, err
	}
	// A binary search needs one fingerprint per bit of the level index.
	if k.Convention() == (Convention{}) &&
		fingerprint.Work(in, k, runtime.GOMAXPROCS(0))*time.Duration(bits.Len64(uint64(levels))) < longestSearch {
		found, err := locate(in, out, k)
		if err != nil {
			return nil, err
		}
		if found != nil {
			found.Context = fmt.Sprintf("%sfingerprint of the image %s, of the curve %s\n%s", d.Context, d.Want,
				d.Got, found.Context)
			d = found
		}
	}
	return d, nil
}

// checkSum returns nil if a curve has the fingerprint of its image.
func checkSum(want fingerprint.Sum, out VCEC, levels int64, k fingerprint.Key, threads int) (*verify.Diff, error) {
	got, err := SumOf(out, levels, k, threads)
	if err != nil {
		return nil, err
	}
	return UnlikeSums(want, got, k), nil
}

// UnlikeSums returns nil if two fingerprints are equal, else their difference.
func UnlikeSums(want, got fingerprint.Sum, k fingerprint.Key) *verify.Diff {
	if want.Equal(got) {
		return nil
	}
	return &verify.Diff{Where: FingerprintLaw, Want: want.String(), Got: got.String(), Context: fmt.Sprintf("key %v\n", k)}
}

// misplaced returns the first step of an answer that is out of order or not on the ladder.
func misplaced(out VCEC, levels int64) *verify.Diff {
	for i, s := range out {
		at := func(want string) *verify.Diff {
			return &verify.Diff{Where: fmt.Sprintf("step %d", i), Want: want, Got: fmt.Sprintf("level %d", s.Level)}
		}
		switch {
		case s.Level < 0 || s.Level >= levels:
			return at(fmt.Sprintf("one of %d levels", levels))
		case i > 0 && s.Level <= out[i-1].Level:
			return at(fmt.Sprintf("a level above %d", out[i-1].Level))
		}
	}
	return nil
}

// SumOf computes the fingerprint of a curve, or of some of its steps, on several threads.
func SumOf(out VCEC, levels int64, k fingerprint.Key, threads int) (fingerprint.Sum, error) {
	parts := max(1, min(threads, len(out)>>12))
	sums := make([]fingerprint.Sum, parts)
	err := crew.Try(parts, parts, func(_, p int) (err error) {
		sums[p], err = fingerprint.OfCurve(out[len(out)*p/parts:len(out)*(p+1)/parts].All(), levels, k)
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, s := range sums[1:] {
		sums[0].Add(s, 1)
	}
	return sums[0], nil
}

// longestSearch limits the estimated time of a search for a wrong level.
const longestSearch = 30 * time.Second

// locate finds a level whose change is wrong, and reports its change by the definition. It compares
// fingerprints of the parts below a level, in a binary search.
func locate(in grid.Source, out VCEC, k fingerprint.Key) (*verify.Diff, error) {
	levels := in.Ladder().Len()
	agree, differ := int64(0), levels // levels below which the changes agree, or differ
	for differ-agree > 1 {
		top := agree + (differ-agree)/2
		want, err := fingerprint.ComputeBelow(in, k, top, runtime.GOMAXPROCS(0))
		if err != nil {
			return nil, err
		}
		got, err := fingerprint.OfCurve(out.changesBelow(top).All(), levels, k)
		if err != nil {
			return nil, err
		}
		if want.Equal(got) {
			agree = top
		} else {
			differ = top
		}
	}
	chi, err := cells.Characteristic(in, agree)
	if err != nil {
		return nil, err
	}
	before, err := cells.Characteristic(in, agree-1)
	if err != nil {
		return nil, err
	}
	change := out.At(agree) - out.At(agree-1)
	if chi-before == change {
		return nil, nil // the definition confirms this change
	}
	return atLevel(in, agree, "a change of %+d", chi-before, change), nil
}

// changesBelow returns the steps at the levels below top.
func (v VCEC) changesBelow(top int64) VCEC {
	return v[:sort.Search(len(v), func(i int) bool { return v[i].Level >= top })]
}
