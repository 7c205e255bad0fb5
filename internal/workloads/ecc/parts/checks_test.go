package parts

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/checktest"
	"eccbench/internal/grid"
	"eccbench/internal/shard"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/fingerprint"
)

func TestChecks(t *testing.T) { checktest.Run(t, checks()...) }

// checks cover writing parts of a curve to files, and merging them.
func checks() []checktest.Check {
	return []checktest.Check{
		{Name: "parts of a curve", Of: stepsAddUp},
		{Name: "parts that are torn", Of: bytesCount},
		{Name: "changes of parts", Of: changesThatLie},
		{Name: "parts on a table", Of: tablesAddUp},
		{Name: "a part that is replaced", Of: replacedIsTorn},
		{Name: "parts of other curves", Of: strangersAreRefused},
		{Name: "parts that are missing", Of: missingAreNamed},
		{Name: "parts that are merged", Of: mergesAreVerified},
		{Name: "heads of parts", Of: headsThatLie},
		{Name: "parts as they are written", Of: writesAreWhole},
		{Name: "words of parts", Of: wordsOfParts},
		{Name: "runs outside memory", Of: func(t *testing.T) { runsAddUp(t, 2*mostRuns+3) }},
	}
}

// made writes n parts of an image of 4×3×9 with random changes on about one in one levels of a
// ladder. It returns the files and the sum of the changes. The fingerprints are those of the
// changes.
func made(t testing.TB, n int64, typ grid.Type, l grid.Ladder, one uint32, change func(*Part)) (files []string, want ecc.VCEC) {
	t.Helper()
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(7, uint64(n)))
	shape := grid.Shape{D: 9, H: 3, W: 4}
	sum := map[int64]int64{}
	for i := range n {
		s := shard.Shard{I: i + 1, N: n}
		of := s.Span(shape.D)
		p := &Part{Head: Head{
			Provenance: ecc.Provenance{Input: "an image", Shape: shape.String(), Type: typ.String(), Ladder: l.String(), Program: "one", Implementation: "extrema"},
			Source:     "00", Shard: s.I, Shards: n, First: of.Lo, End: of.Hi, Key: fingerprint.Derived("a").String(), Command: "eccbench curve 'an image'",
		}, Listed: l.Listed()}
		p.Counted.Type, p.Counted.Ladder = typ.String(), l.Key()
		for k := int64(0); k < l.Len(); k += 1 + int64(rng.Uint32N(2*one)) {
			p.Steps = append(p.Steps, ecc.Step{Level: k, Change: int64(rng.IntN(200)) - 201})
			if rng.IntN(3) == 0 {
				p.Steps[len(p.Steps)-1].Change = 3
			}
		}
		for slice := range HashedSlices(of, shape.D, false) {
			p.Hashes = append(p.Hashes, grid.SliceHash{byte(slice)})
		}
		if change != nil {
			change(p)
		}
		key, err := fingerprint.ParseKey(p.Key)
		if err != nil {
			t.Fatal(err)
		}
		in := ecc.Convention{Superlevel: p.Superlevel}
		if p.Fingerprint == "" {
			f, err := ecc.SumOf(p.Steps, l.Len(), key.WithConvention(in).ForLevels(l.Len()), 1)
			if err != nil {
				t.Fatal(err)
			}
			p.Fingerprint = f.String()
		}
		for _, s := range p.Steps {
			sum[s.Level] += s.Change
		}
		var b bytes.Buffer
		if err := p.Write(&b, l.Len()); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, FileName(s))
		if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		files = append(files, path)
	}
	for level, change := range sum {
		if change != 0 {
			want = append(want, ecc.Step{Level: level, Change: change})
		}
	}
	slices.SortFunc(want, func(a, b ecc.Step) int { return int(a.Level - b.Level) })
	return files, want
}

// Parts add up to the curve: in a table and as they are read, from either end, in any order, with
// more steps than one merge holds.
func stepsAddUp(t *testing.T) {
	for _, c := range []struct {
		typ grid.Type
		n   int64
		one uint32
	}{{grid.Uint8, 1, 1}, {grid.Uint8, 12, 3}, {grid.Uint16, 3, 5}, {grid.Float32, 1, 1 << 22}, {grid.Float32, 5, 3 << 14}, {grid.Float32, 12, 1 << 26}} {
		l := grid.Identity(c.typ)
		for _, superlevel := range []bool{false, true} {
			files, want := made(t, c.n, c.typ, l, c.one, func(p *Part) { p.Superlevel = superlevel })
			slices.Reverse(files)
			set, err := Load(files, 2)
			if err != nil {
				t.Fatal(err)
			}
			var got ecc.VCEC
			chunks := 0
			for steps, err := range set.Steps() {
				if err != nil {
					t.Fatal(err)
				}
				chunks++
				if superlevel {
					got = append(slices.Clone(steps), got...)
				} else {
					got = append(got, steps...)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%v in %d, superlevel %v: %d steps, want %d", c.typ, c.n, superlevel, len(got), len(want))
			}
			if len(want) > mergedSteps && (chunks < 2 || c.typ != grid.Float32) {
				t.Errorf("%v in %d: %d steps in %d chunks", c.typ, c.n, len(want), chunks)
			}
			some := want[:min(len(want), 1<<12)]
			if sum, err := ecc.SumOf(some, l.Len(), set.Key(), 1); err != nil || len(some) == len(want) && !sum.Equal(set.Sum()) || set.Len() != int(c.n) || set.Head().Shards != c.n || set.Shape() != (grid.Shape{D: 9, H: 3, W: 4}) || set.Convention().Superlevel != superlevel {
				t.Errorf("%v in %d, superlevel %v: the set of %d parts of %v has the sum %v (%v)", c.typ, c.n, superlevel, set.Len(), set.Shape(), set.Sum(), err)
			}
			for range set.Steps() { // a stopped loop leaves nothing open
				break
			}
			if wrong, err := set.Wrong(); wrong != nil || err != nil {
				t.Errorf("%v in %d: part %v is wrong (%v)", c.typ, c.n, wrong, err)
			}
			allShut(t, files)
		}
	}
}

// Every byte of a part counts, and so does its length.
func bytesCount(t *testing.T) {
	table, err := grid.Table([]float32{-2, 0, 1, 1e9})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []grid.Ladder{grid.Identity(grid.Uint8), grid.Identity(grid.Float32), table} {
		typ := grid.Float32
		if l.Len() == 1<<8 {
			typ = grid.Uint8
		}
		files, _ := made(t, 2, typ, l, uint32(max(1, l.Len()/40)), nil)
		whole, err := os.ReadFile(files[1])
		if err != nil {
			t.Fatal(err)
		}
		load := func(b []byte) error {
			if err := os.WriteFile(files[1], b, 0o666); err != nil {
				t.Fatal(err)
			}
			set, err := Load(files, 1)
			if err != nil {
				return err
			}
			checked := set.Check()
			for _, err := range set.Steps() {
				if (err == nil) != (checked == nil) {
					t.Errorf("%v: who reads it finds %v, and Check %v", typ, err, checked)
				}
				if err != nil {
					return err
				}
			}
			return checked
		}
		if err := load(whole); err != nil {
			t.Fatal(err)
		}
		some := func(i int) bool { return i%19 == 0 || i < 30 || i > len(whole)-60 }
		for n := range whole {
			if !some(n) {
				continue
			}
			err := load(whole[:n])
			if err == nil || !errors.Is(err, ErrTorn) && !strings.Contains(err.Error(), "torn") && n > 0 || (n < len(magic)+4) != strings.Contains(err.Error(), "it ends after") {
				t.Errorf("%v, %d bytes of %d: %v", typ, n, len(whole), err)
			}
		}
		if err := load(append(slices.Clone(whole), 0)); err == nil {
			t.Errorf("%v: a byte more is no matter", typ)
		}
		// A part whose head has this fault, with a right checksum.
		n := len(whole) - sha256.Size
		if err := load(whole); err != nil {
			t.Fatal(err)
		}
		p, err := Open(files[1])
		if err != nil {
			t.Fatal(err)
		}
		said := func(n int64) []byte { return fmt.Appendf(nil, `"bytes":%d,`, n) }
		if more := bytes.Replace(whole[:n], said(p.Bytes), said(p.Bytes+1), 1); len(more) == n {
			more = append(more, 0)
			sum := sha256.Sum256(more)
			if err := load(append(more, sum[:]...)); err == nil || !strings.Contains(err.Error(), "more bytes than changes") {
				t.Errorf("%v: of a byte more than changes take: %v", typ, err)
			}
		}
		for i := range whole {
			if !some(i) {
				continue
			}
			b := slices.Clone(whole)
			b[i] ^= 1 << (i % 8)
			if err := load(b); err == nil {
				t.Errorf("%v: byte %d of %d may be any", typ, i, len(whole))
			}
		}
	}
}

// A part is torn, whatever its checksum, if a change is 0 or a level does not ascend or exist. It
// is also torn if bytes are not changes.
func changesThatLie(t *testing.T) {
	one := ecc.Step{Level: 3, Change: 1}
	for _, c := range []struct {
		steps ecc.VCEC
		bytes string // in place of its own
		whole bool
	}{
		{steps: ecc.VCEC{{Level: 0, Change: 1}, {Level: 255, Change: -1}}, whole: true}, {steps: ecc.VCEC{{Level: 255, Change: 1}}, whole: true}, {steps: ecc.VCEC{one}, bytes: "\xff\x01"},
		{steps: ecc.VCEC{{Level: 256, Change: 1}}}, {steps: ecc.VCEC{one, {Level: 256, Change: 1}}}, {steps: ecc.VCEC{one, one}}, {steps: ecc.VCEC{one, {Level: 2, Change: 1}}},
		{steps: ecc.VCEC{{Level: 0, Change: 0}}}, {steps: ecc.VCEC{one, {Level: 4, Change: 0}}}, {steps: ecc.VCEC{one}, bytes: "\x80\x80"}, {steps: ecc.VCEC{one}, bytes: "\x03\x80"},
		{steps: slices.Repeat(ecc.VCEC{one}, 10), bytes: strings.Repeat("\x80", 10) + strings.Repeat("\x01", 10)}, {steps: slices.Repeat(ecc.VCEC{one}, 10), bytes: "\x03" + strings.Repeat("\x80", 19)},
	} {
		files, _ := made(t, 1, grid.Uint8, grid.Identity(grid.Uint8), 3, func(p *Part) { p.Steps, p.Fingerprint = c.steps, fingerprint.Sum{0}.String() })
		b, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		n := len(b) - sha256.Size
		copy(b[n-len(c.bytes):], c.bytes)
		sum := sha256.Sum256(b[:n])
		copy(b[n:], sum[:])
		if err := os.WriteFile(files[0], b, 0o666); err != nil {
			t.Fatal(err)
		}
		p, err := Open(files[0])
		if err != nil {
			t.Fatal(err)
		}
		if err := p.each(func([]ecc.Step) error { return nil }); (err == nil) != c.whole || err != nil && !strings.Contains(err.Error(), "torn: change ") {
			t.Errorf("%v, %x: %v", c.steps, c.bytes, err)
		}
		for _, err := range (&Set{[]*Part{p}, 1}).merged() {
			if (err == nil) != c.whole {
				t.Errorf("%v, %x, merged: %v", c.steps, c.bytes, err)
			}
			if err != nil {
				break
			}
		}
		allShut(t, files)
	}
}

// allShut requires that no file is open, on systems that list open files.
func allShut(t *testing.T, files []string) {
	t.Helper()
	const open = "/proc/self/fd"
	list, _ := os.ReadDir(open)
	for _, f := range list {
		if path, err := os.Readlink(filepath.Join(open, f.Name())); err == nil && slices.Contains(files, path) {
			t.Errorf("%s is left open", path)
		}
	}
}

// Parts with the same table add up; another table is another ladder. In a survey the tables are the
// distinct values, bounded in number.
func tablesAddUp(t *testing.T) {
	var values []float32
	for i := range 300 {
		values = append(values, float32(i)*1.5-7)
	}
	l, err := grid.Table(values)
	if err != nil {
		t.Fatal(err)
	}
	files, want := made(t, 4, grid.Float32, l, 2, nil)
	set, err := Load(files, 2)
	if err != nil {
		t.Fatal(err)
	}
	if set.Ladder().Key() != l.Key() || &set.parts[0].lad.Listed()[0] != &set.parts[3].lad.Listed()[0] {
		t.Errorf("on %s, want %s once", set.Ladder().Key(), l.Key())
	}
	for steps, err := range set.Steps() {
		if err != nil || !slices.Equal(steps, want) {
			t.Errorf("%v, want %v (%v)", steps, want, err)
		}
	}
	for want, change := range map[string]func(*Part){
		"with a table table:299": func(p *Part) { p.Listed = p.Listed[1:] },
		"is not above":           func(p *Part) { p.Listed = append(slices.Clone(p.Listed[:299]), p.Listed[0]) },
		"want identity":          func(p *Part) { p.Listed = nil },
	} {
		files, _ := made(t, 2, grid.Float32, l, 2, change)
		if _, err := Load(files, 1); err == nil || !strings.Contains(err.Error(), "torn") || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	survey := func(most int64, n int) func(*Part) {
		return func(p *Part) {
			p.Steps, p.Listed = nil, values[p.Shard:p.Shard+int64(n)]
			p.Values = &Values{Voxels: p.Span().Len() * 12, Least: p.Listed[0], Greatest: p.Listed[n-1], Most: most + p.Shard/3}
		}
	}
	files, _ = made(t, 2, grid.Float32, grid.Identity(grid.Float32), 1<<30, survey(4, 3))
	if set, err = Load(files, 1); err != nil {
		t.Fatal(err)
	}
	if v := set.Values(); v.Most != 4 || v.Least != values[1] || v.Greatest != values[4] || len(set.Tables()[1]) != 3 {
		t.Errorf("%+v, %v", v, set.Tables())
	}
	// Of twelve shards of nine slices some have no slices and no values.
	files, _ = made(t, 12, grid.Float32, grid.Identity(grid.Float32), 1<<30, func(p *Part) {
		p.Steps, p.Values = nil, &Values{Voxels: p.Span().Len() * 12}
		if p.Values.Voxels > 0 {
			p.Values.Least, p.Values.Greatest = float32(20-p.Shard), float32(20+p.Shard)
		}
	})
	if set, err = Load(files, 1); err != nil {
		t.Fatal(err)
	}
	if got, want := set.Values(), (Values{Voxels: 9 * 12, Least: 8, Greatest: 32}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	files, _ = made(t, 3, grid.Float32, grid.Identity(grid.Float32), 1<<30, survey(4, 3))
	if _, err := Load(files, 1); err == nil || !strings.Contains(err.Error(), "has at most 5 distinct values, and "+files[0]+" 4; make") {
		t.Error(err)
	}
	files, _ = made(t, 2, grid.Float32, grid.Identity(grid.Float32), 1<<30, survey(2, 3))
	if _, err := Load(files, 1); err == nil || !strings.Contains(err.Error(), "3 distinct values, of 2 at most") {
		t.Error(err)
	}
}

// A part that is replaced during a merge is not mixed with its former contents.
func replacedIsTorn(t *testing.T) {
	files, _ := made(t, 2, grid.Uint8, grid.Identity(grid.Uint8), 3, nil)
	other, _ := made(t, 2, grid.Uint8, grid.Identity(grid.Uint8), 3, func(p *Part) { p.Steps[1].Change ^= 1 })
	set, err := Load(files, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(other[1], files[1]); err != nil {
		t.Fatal(err)
	}
	for _, err := range set.Steps() {
		if !errors.Is(err, ErrTorn) {
			t.Errorf("merged with another part: %v", err)
		}
	}
	if err := os.Remove(files[1]); err != nil {
		t.Fatal(err)
	}
	_, err = set.Wrong()
	_, merged := bench.Answer(Merging(set, func(ecc.VCEC) {}).Impls[0], set, bench.Conditions{})
	for what, err := range map[string]error{"checked": set.Check(), "looked at": err, "merged": merged} {
		if !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s without a part: %v", what, err)
		}
	}
}

// Parts that do not belong together are rejected, with the difference and the remedy.
func strangersAreRefused(t *testing.T) {
	l := grid.Identity(grid.Uint8)
	odd := func(change func(*Part)) func(*Part) {
		return func(p *Part) {
			if p.Shard == 2 {
				change(p)
			}
		}
	}
	for want, change := range map[string]func(*Part){
		"different inputs: other and":           odd(func(p *Part) { p.Input = "other" }),
		"different programs: two and":           odd(func(p *Part) { p.Program = "two" }),
		"different implementations: cpu and":    odd(func(p *Part) { p.Implementation = "cpu" }),
		"times of the image's files: 01 and":    odd(func(p *Part) { p.Source = "01" }),
		"different ladders: affine:0:1:256 and": odd(func(p *Part) { p.Counted.Ladder = "affine:0:1:256" }),
		"different constructions: V and":        odd(func(p *Part) { p.Construction = "V" }),
		"different filtrations: \"up\" and":     odd(func(p *Part) { p.Filtration = "up" }),
		"different periodic axes: x and none":   odd(func(p *Part) { p.Periodic = "x" }),
		"different masks: brain and none":       odd(func(p *Part) { p.Mask = "brain" }),
		"different values of the sets: 4 and none": odd(func(p *Part) {
			p.At, p.Slabs, p.Counted.Ladder, p.Steps = grid.Numbers(4), [][]byte{{1}}, "affine:0:1:2", nil
		}),
		"have different keys: ":                            odd(func(p *Part) { p.Key = fingerprint.Derived("b").String() }),
		"parts of different curves":                        odd(func(p *Part) { p.Superlevel = true }),
		"have read slice 2 differently: the image changed": odd(func(p *Part) { p.Hashes[len(p.Hashes)-1][3]++ }),
	} {
		files, _ := made(t, 3, grid.Uint8, l, 3, change)
		_, err := Load(files, 1)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %s", err, want)
		}
	}
	files, _ := made(t, 6, grid.Uint8, l, 3, nil)
	folder := filepath.Dir(files[0]) + "/"
	other := folder + "other.txt"
	if err := os.WriteFile(other, []byte("this is a text of some words"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		files []string
		want  string
	}{
		{files[1:], "shard 1 of 6 is missing; make it: eccbench curve 'an image' --shard 1/6 -o " + folder},
		{slices.Concat(files[:1], files[3:5]), "shards 2-3,6 of 6 are missing; make them: eccbench curve 'an image' --shard 2-3,6/6 -o " + folder},
		{append(slices.Clone(files), files[2]), "both are shard 3/6; give one of them"},
		{nil, "no part is whole"},
		{[]string{other}, "other.txt: not a part, which"},
		{[]string{"nothing.part"}, "no such file"},
	} {
		if _, err := Load(c.files, 1); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v\nwant %s", err, c.want)
		}
	}
	torn := folder + "torn.part"
	if b, err := os.ReadFile(files[2]); err != nil || os.WriteFile(torn, b[:len(b)-1], 0o666) != nil {
		t.Fatal(err)
	}
	if _, err := Load(append(slices.Clone(files), torn), 1); !errors.Is(err, ErrTorn) || !strings.HasSuffix(err.Error(), "leave it out") {
		t.Errorf("whole parts and one that is torn: %v", err)
	}
	others, _ := made(t, 3, grid.Uint8, l, 3, nil)
	_, err := Load(append(slices.Clone(files), others...), 1)
	if err == nil || !strings.Contains(err.Error(), "have different numbers of shards: 3 and 6; leave the first out") {
		t.Error(err)
	}
}

// Shards without a whole part are named, whether a file is missing, cut off or damaged.
func missingAreNamed(t *testing.T) {
	files, _ := made(t, 9, grid.Uint8, grid.Identity(grid.Uint8), 3, nil)
	if missing, err := Missing(files, 2); len(missing) > 0 || err != nil {
		t.Errorf("%v are missing (%v)", missing, err)
	}
	b, err := os.ReadFile(files[3])
	if err != nil {
		t.Fatal(err)
	}
	bettis, _ := made(t, 2, grid.Uint8, grid.Identity(grid.Uint8), 3, func(p *Part) {
		p.Type, p.Counted.Ladder, p.Steps = grid.Uint16.String(), "affine:0:1:3", p.Steps[:1] // another type than the counted one
		p.At, p.Slabs, p.Fingerprint = grid.Numbers(1, 2), [][]byte{{1, 2, 3}, nil}, fingerprint.Sum(make([]uint64, fingerprint.Derived("a").ForLevels(3).Functions())).String()
	})
	set, err := Load(bettis, 1)
	if err != nil {
		t.Fatal(err)
	}
	var hashes []grid.SliceHash
	for i := range set.Shape().Slices() {
		hashes = append(hashes, grid.SliceHash{byte(i)})
	}
	if got, want := set.Digest(), grid.SumOf(set.Shape(), grid.Uint16, slices.Values(hashes)); got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
	one, _ := made(t, 1, grid.Uint8, grid.Identity(grid.Uint8), 3, func(p *Part) {
		p.Type, p.Counted.Ladder, p.Steps = grid.Uint16.String(), "affine:0:1:2", p.Steps[:1]
		p.At, p.Slabs, p.Fingerprint = grid.Numbers(1), [][]byte{{1}}, fingerprint.Sum(make([]uint64, fingerprint.Derived("a").ForLevels(2).Functions())).String()
	})
	if alone, err := Load(one, 1); err != nil {
		t.Error(err)
	} else if got, want := alone.Digest(), grid.SumOf(alone.Shape(), grid.Uint16, slices.Values(hashes[:alone.Shape().Slices()])); got != want {
		t.Errorf("of one set, the digest %s, want %s", got, want)
	}
	n := 0
	if err := set.EachComponents(func(sets [][]byte) error {
		if n++; len(sets) != 2 || string(sets[0]) != "\x01\x02\x03" || len(sets[1]) != 0 {
			t.Errorf("components %v", sets)
		}
		return nil
	}); err != nil || n != 2 {
		t.Error(n, err)
	}
	torn, err := os.ReadFile(bettis[1])
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]string{sha256.Size: "its checksum is", sha256.Size + 1: "it ends in its components", sha256.Size + 4: "it ends in its changes"} {
		if err := os.WriteFile(bettis[1], torn[:len(torn)-n], 0o666); err != nil {
			t.Fatal(err)
		}
		if err := set.EachComponents(func([][]byte) error { return nil }); !errors.Is(err, ErrTorn) || !strings.Contains(err.Error(), want) {
			t.Errorf("components of a part that lacks %d bytes: %v", n, err)
		}
		if err := set.parts[1].each(func([]ecc.Step) error { return nil }); !errors.Is(err, ErrTorn) || !strings.Contains(err.Error(), want) {
			t.Errorf("steps of a part that lacks %d bytes: %v", n, err)
		}
	}
	torn[len(torn)-sha256.Size-1] ^= 1
	if err := os.WriteFile(bettis[1], torn, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := set.EachComponents(func([][]byte) error { return nil }); !errors.Is(err, ErrTorn) {
		t.Errorf("torn components: %v", err)
	}
	if missing, err := Missing(bettis, 1); List(missing) != "2" || err != nil {
		t.Errorf("%v are missing (%v)", missing, err)
	}
	damaged := slices.Clone(b)
	damaged[len(b)-40] ^= 1
	for path, b := range map[string][]byte{files[3]: b[:len(b)/2], files[5]: damaged} {
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if missing, err := Missing(slices.Delete(slices.Clone(files), 6, 7), 2); List(missing) != "4,6-7" || err != nil {
		t.Errorf("%v are missing (%v)", missing, err)
	}
}

// A part is rejected if its changes do not match its fingerprint, or if it changes the sum of all
// voxels.
func mergesAreVerified(t *testing.T) {
	judge := func(change func(*Part)) (verify.Verdict, *Set) {
		files, _ := made(t, 3, grid.Uint8, grid.Identity(grid.Uint8), 3, change)
		set, err := Load(files, 1)
		if err != nil {
			t.Fatal(err)
		}
		var seen ecc.VCEC
		w := Merging(set, func(steps ecc.VCEC) { seen = append(seen, steps...) })
		out, err := bench.Answer(w.Impls[0], set, bench.Conditions{})
		if err != nil {
			t.Fatal(err)
		}
		for steps, err := range set.Steps() { // all at once
			if err != nil || !slices.Equal(steps, seen) || out.Steps != int64(len(seen)) {
				t.Errorf("%d steps are seen and %d told, of %d (%v)", len(seen), out.Steps, len(steps), err)
			}
		}
		return verify.Judge([]string{"it"}, w.Policy.Check(verify.Question[*Set, Totals]{Name: "it", In: set, Out: out, Budget: 1 << 60})), set
	}
	total := func(p *Part) { // to one for the whole
		sum := int64(0)
		for _, s := range p.Steps[1:] {
			sum += s.Change
		}
		p.Steps[0].Change = -sum
		if p.Shard == 1 {
			p.Steps[0].Change++
		}
	}
	if v, set := judge(total); v.Status != verify.Verified {
		t.Errorf("%v: %s", v.Status, v.Reason)
	} else if wrong, err := set.Wrong(); wrong != nil || err != nil {
		t.Errorf("part %v is wrong (%v)", wrong, err)
	}
	if v, _ := judge(nil); v.Status != verify.Wrong || !strings.Contains(v.Reason, "sum of all changes") {
		t.Errorf("changes that sum to anything: %v: %s", v.Status, v.Reason)
	}
	v, set := judge(func(p *Part) {
		total(p)
		if p.Shard == 2 {
			f, err := ecc.SumOf(p.Steps, 256, fingerprint.Derived("a").ForLevels(256), 1)
			if err != nil {
				t.Fatal(err)
			}
			p.Fingerprint = f.String()
			p.Steps[1].Change++
			p.Steps[2].Change--
		}
	})
	wrong, err := set.Wrong()
	if v.Status != verify.Wrong || !strings.Contains(v.Reason, "fingerprint") || err != nil || wrong == nil || wrong.Shard != 2 {
		t.Errorf("%v: %s; part %v (%v)", v.Status, v.Reason, wrong, err)
	}
}

// Runs of steps on disk are added up as those in memory, for any number of runs, repeatedly, and
// leave no file.
func runsAddUp(t *testing.T, n int) {
	files, _ := made(t, 2, grid.Float32, grid.Identity(grid.Float32), 1<<29, nil)
	for _, superlevel := range []bool{false, true} {
		p, err := Open(files[0])
		if err != nil {
			t.Fatal(err)
		}
		p.Head.Superlevel = superlevel
		folder := t.TempDir()
		levels := grid.Identity(grid.Float32).Len()
		runs := NewRuns(folder, p.Head, levels)
		rng := rand.New(rand.NewPCG(8, 9))
		changes := map[int64]int64{}
		var opened []*Part
		for range n {
			var steps ecc.VCEC
			for level := rng.Int64N(40); level < 90; level += 1 + rng.Int64N(40) {
				s := ecc.Step{Level: level * 17, Change: rng.Int64N(5) - 2}
				if s.Change != 0 {
					steps = append(steps, s)
				}
				changes[s.Level] += s.Change
			}
			if err := runs.Add(steps); err != nil {
				t.Fatal(err)
			}
			opened = append(opened, runs.all()...)
		}
		var want ecc.VCEC
		for level, change := range changes {
			if change != 0 {
				want = append(want, ecc.Step{Level: level, Change: change})
			}
		}
		slices.SortFunc(want, func(a, b ecc.Step) int { return int(a.Level - b.Level) })
		if n := len(runs.all()); n > 3*mostRuns || !runs.Any() {
			t.Errorf("%d runs are open", n)
		}
		k := fingerprint.Derived("a").ForLevels(levels)
		merged, sum := runs.Steps(k, 1)
		for range 2 {
			var got ecc.VCEC
			for steps, err := range merged {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, steps...)
			}
			if !slices.Equal(got, want) {
				t.Errorf("superlevel %v: %v, want %v", superlevel, got, want)
			}
		}
		sums, err := ecc.SumOf(want, levels, k, 1)
		if err != nil || !sum.Equal(sums) {
			t.Error(sum, sums, err)
		}
		if err := runs.Close(); err != nil {
			t.Error(err)
		}
		for _, p := range opened {
			if err := p.file.Close(); !errors.Is(err, os.ErrClosed) {
				t.Fatalf("a run is left open (%v)", err)
			}
		}
		if left, err := os.ReadDir(folder); len(left) > 0 || err != nil {
			t.Errorf("%v are left (%v)", left, err)
		}
	}
	if NewRuns("nowhere", Head{Key: fingerprint.Derived("a").String()}, 2).Add(nil) == nil {
		t.Error("a run in no folder")
	}
}

// An impossible head is rejected with the reason.
func headsThatLie(t *testing.T) {
	files, _ := made(t, 3, grid.Uint8, grid.Identity(grid.Uint8), 3, nil)
	components := func(p *Part) {
		p.Counted.Ladder, p.Steps, p.At, p.Slabs = "affine:0:1:3", nil, grid.Numbers(1, 2), [][]byte{{1, 2, 3}, nil}
		p.Fingerprint = fingerprint.Sum{0}.String()
		if p.Span().Len() == 0 {
			p.Slabs = nil
		}
	}
	bettis, _ := made(t, 3, grid.Uint8, grid.Identity(grid.Uint8), 3, components)
	if some, _ := made(t, 12, grid.Uint8, grid.Identity(grid.Uint8), 3, components); true { // some have no slices
		if _, err := Load(some, 1); err != nil {
			t.Error(err)
		}
	}
	open := func(file string, change func(h map[string]any)) (*Part, error) {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		at, h := len(magic)+4, map[string]any{}
		end := at + int(binary.LittleEndian.Uint32(b[len(magic):]))
		if err := json.Unmarshal(b[at:end], &h); err != nil {
			t.Fatal(err)
		}
		change(h)
		head, err := json.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		b = slices.Concat(b[:len(magic)], binary.LittleEndian.AppendUint32(nil, uint32(len(head))), head, b[end:])
		return read(bytes.NewReader(b), int64(len(b)))
	}
	whole, err := open(files[1], func(map[string]any) {})
	if err != nil {
		t.Fatal(err)
	}
	n, k := whole.Changes, whole.Bytes
	for i, c := range []struct {
		key  string
		says any
		want string
	}{
		{"shards", 0, "shard 2 of 0"}, {"shards", shard.MaxShards + 1, fmt.Sprintf("shard 2 of %d", shard.MaxShards+1)}, {"shard", 0, "shard 0 of 3"}, {"shard", 4, "shard 4 of 3"},
		{"step", -1, "steps of -1 slices"}, {"step", 10, "steps of 10 slices, of 9"}, {"step", 9, ""},
		{"first", 2, "has slices 2 to 5 of 9"}, {"end", 7, "has slices 3 to 6 of 9"}, {"fingerprint", fingerprint.Sum{0, 0}.String(), "a fingerprint of 2 functions"}, {"fingerprint", "0", "fingerprint"},
		{"key", "0", "key"}, {"shape", "4x3x0", "shape"}, {"counted", map[string]any{"type": "int", "ladder": "identity"}, "type"}, {"counted", map[string]any{"type": "uint8", "ladder": "odd"}, "ladder"}, {"periodic", "w", "w"},
		{"components", []int{1}, "components of 1 sets, of 0"}, {"at", []int{1}, "components of 0 sets, of 1"}, {"values", map[string]any{"voxels": 36}, "values of 36 voxels"},
		{"changes", -1, "-1 changes in"}, {"changes", 257, "257 changes in"}, {"bytes", 2*n - 1, fmt.Sprintf("%d changes in %d bytes", n, 2*n-1)}, {"bytes", 20*n + 1, fmt.Sprintf("%d changes in %d bytes", n, 20*n+1)},
		{"bytes", 20 * n, fmt.Sprintf("%d bytes of changes in a file of", 20*n)}, {"bytes", k - 1, "bytes of"}, {"bytes", k + 1, "bytes of"},
		{"table", -1, "a table of -1 values"}, {"table", MostTable + 1, "a table of 16777217 values"}, {"table", 1 << 20, "a table of 1048576 values"}, {"command", strings.Repeat("x", mostHead), "the limit is"},
		{"components", []int{1, 1, 1}, "components of 3 sets, of 2"}, {"components", []int{-1, 4}, "-1 bytes of components"}, {"components", []int{1 << 30, 3}, "1073741824 bytes of components"}, {"at", []int{1, 2, 3}, "components of 2 sets, of 3"},
		{"type", "int", "type"}, {"shards", shard.MaxShards, "has slices"},
	} {
		file := files[1]
		if i >= 30 {
			file = bettis[1]
		}
		if _, err := open(file, func(h map[string]any) { h[c.key] = c.says }); (c.want != "" || err != nil) && (!errors.Is(err, ErrTorn) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s %.40v: %v, want %q", c.key, c.says, err, c.want)
		}
	}
	if _, err := open(bettis[1], func(h map[string]any) { h["at"], h["components"] = []int{1, 2, 3}, []int{1, 1, 1} }); err == nil || !strings.Contains(err.Error(), "a ladder of 3 levels, of 3 sets") {
		t.Error(err)
	}
	if _, err := open(files[1], func(h map[string]any) {
		h["changes"], h["bytes"], h["values"] = 0, 0, map[string]any{"voxels": 35}
	}); err == nil || !strings.Contains(err.Error(), "values of 35 voxels") {
		t.Error(err)
	}
}

// A part is the same bytes however many of its changes are kept while they are counted, and all of
// them, or an error.
func writesAreWhole(t *testing.T) {
	files, _ := made(t, 2, grid.Uint8, grid.Identity(grid.Uint8), 9, nil)
	p, err := Open(files[1])
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(files[1])
	if err != nil {
		t.Fatal(err)
	}
	if err := p.each(func(steps []ecc.Step) error { p.Steps = append(p.Steps, steps...); return nil }); err != nil {
		t.Fatal(err)
	}
	p.Slabs = nil
	for _, most := range []int64{0, p.Bytes - 1, p.Bytes, p.Bytes + 1} {
		var b bytes.Buffer
		if err := p.write(&b, 256, most); err != nil || !bytes.Equal(b.Bytes(), want) {
			t.Errorf("%d bytes are kept: %d other bytes, of %d (%v)", most, b.Len(), len(want), err)
		}
		for _, room := range []int{0, 9, len(want) - sha256.Size - 1, len(want) - 1} {
			if err := p.write(&full{room}, 256, most); !errors.Is(err, os.ErrInvalid) {
				t.Errorf("%d bytes are kept, of %d that are written: %v", most, room, err)
			}
		}
	}
	for fails := range 2 { // at the first call, and at the second
		p.Chunks = func(yield func(ecc.VCEC, error) bool) {
			if yield(p.Steps, nil) && fails == 0 {
				yield(nil, os.ErrInvalid)
			}
			fails--
		}
		if err := p.write(new(bytes.Buffer), 256, 0); !errors.Is(err, os.ErrInvalid) {
			t.Errorf("steps that fail: %v", err)
		}
	}
	p.Chunks, p.Command = nil, ""
	head, err := json.Marshal(p.Head)
	if err != nil {
		t.Fatal(err)
	}
	p.Command = strings.Repeat("x", mostHead-len(head))
	var b bytes.Buffer
	if err := p.Write(&b, 256); err != nil {
		t.Error(err)
	} else if _, err := read(&b, int64(b.Len())); err != nil {
		t.Error(err)
	}
	if p.Command += "x"; p.Write(&b, 256) == nil {
		t.Error("a head of any length is written")
	}
	if p.Command, p.At = "", grid.Numbers(math.NaN()); p.Write(&b, 256) == nil {
		t.Error("a head that is no text is written")
	}
}

// full takes some bytes and then no more.
type full struct{ left int }

func (f *full) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, os.ErrInvalid
	}
	return len(p), nil
}

// Text about parts is readable for a person and for a shell.
func wordsOfParts(t *testing.T) {
	for want, h := range map[string]Head{
		"no values": {Values: &Values{}}, "values from 1 to 4": {Values: &Values{Voxels: 1, Least: 1, Greatest: 4}},
		"3 distinct values from 1 to 4": {Values: &Values{Voxels: 1, Least: 1, Greatest: 4, Most: 1}, Table: 3},
		"7 changes":                     {Changes: 7}, "components of the sets at 1, 2.5": {At: grid.Numbers(1, 2.5)},
	} {
		if got := h.Has(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for word, want := range map[string]string{"azAZ09_-./=:,+@%": "azAZ09_-./=:,+@%", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "a`": "'a`'", "{z": "'{z'", "@[": "'@['", "a;b": "'a;b'"} {
		if got := Quote(word); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	for path, want := range map[string]string{"a": "./", "/a": "/", "b/a": "b/"} {
		if got := (&Part{path: path}).folder(); got != want {
			t.Errorf("%s is in %s, want %s", path, got, want)
		}
	}
	for _, c := range []struct {
		of     grid.Span
		closed bool
		want   []int64
	}{
		{grid.Span{Lo: 0, Hi: 2}, true, []int64{0, 1}}, {grid.Span{Lo: 1, Hi: 2}, true, []int64{1, 0}}, {grid.Span{Lo: 1, Hi: 4}, true, []int64{1, 2, 3, 0}}, {grid.Span{Lo: 2, Hi: 4}, true, []int64{2, 3, 1, 0}},
		{grid.Span{Lo: 2, Hi: 4}, false, []int64{2, 3, 1}}, {grid.Span{Lo: 4, Hi: 4}, true, nil}, {grid.Span{Lo: 2, Hi: 3}, true, []int64{2, 1}},
	} {
		all := slices.Collect(HashedSlices(c.of, 4, c.closed))
		if !slices.Equal(all, c.want) {
			t.Errorf("%v of 4, closed %v: hashes of %v, want %v", c.of, c.closed, all, c.want)
		}
		for range HashedSlices(c.of, 4, c.closed) { // a stopped loop is not continued
			break
		}
	}
}

// A level at which the changes of the parts cancel has no step, however the parts are merged.
func TestChangesThatCancel(t *testing.T) {
	steps := map[int64]ecc.VCEC{
		1: {{Level: 3, Change: 1}, {Level: 5, Change: 2}, {Level: 9, Change: 4}},
		2: {{Level: 3, Change: -1}, {Level: 5, Change: 1}, {Level: 9, Change: -4}},
	}
	files, _ := made(t, 2, grid.Uint8, grid.Identity(grid.Uint8), 4, func(p *Part) { p.Steps = steps[p.Shard] })
	var set Set
	for _, path := range files {
		p, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		set.parts = append(set.parts, p)
	}
	for name, merge := range map[string]iter.Seq2[ecc.VCEC, error]{
		"in a table": set.Steps(), "as they are read": set.merged(),
	} {
		var got ecc.VCEC
		for some, err := range merge {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, some...)
		}
		if want := (ecc.VCEC{{Level: 5, Change: 3}}); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
