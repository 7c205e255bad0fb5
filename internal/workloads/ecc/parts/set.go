package parts

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"eccbench/internal/crew"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/fingerprint"
)

// A Set is the list of all parts of one curve, in order.
type Set struct {
	parts   []*Part
	threads int
}

// A MissingError lists the shards without a part.
type MissingError struct {
	Shards []int64 // ascending
	Of     int64
	Torn   []error // about damaged files
	set    *Set    // the other parts
}

// Error names the shards and the command that makes their parts.
func (e *MissingError) Error() string {
	text := ""
	for _, t := range e.Torn {
		text += t.Error() + "; "
	}
	command := e.set.parts[0].commandFor(e.Shards)
	if len(e.Shards) == 1 {
		return fmt.Sprintf("%sshard %d of %d is missing; make it: %s", text, e.Shards[0], e.Of, command)
	}
	return fmt.Sprintf("%sshards %s of %d are missing; make them: %s", text, List(e.Shards), e.Of, command)
}

// List formats ascending numbers briefly: "3,5-7".
func List(numbers []int64) string {
	var words []string
	for i := 0; i < len(numbers); {
		k := i
		for k+1 < len(numbers) && numbers[k+1] == numbers[k]+1 {
			k++
		}
		word := fmt.Sprint(numbers[i])
		if k > i {
			word += fmt.Sprintf("-%d", numbers[k])
		}
		words = append(words, word)
		i = k + 1
	}
	return strings.Join(words, ",")
}

// commandFor returns the command that makes the parts of shards in the folder of a part, with its
// options.
func (p *Part) commandFor(shards []int64) string {
	return fmt.Sprintf("%s --shard %s/%d -o %s", p.Command, List(shards), p.Shards, Quote(p.folder()))
}

func (p *Part) folder() string {
	if i := strings.LastIndexByte(p.path, '/'); i >= 0 {
		return p.path[:i+1]
	}
	return "./"
}

// Quote quotes a word for a shell.
func Quote(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./=:,+@%", r)
	}
	if word != "" && strings.TrimFunc(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Load reads part files up to their steps. Together they must make a curve. Threads is the number
// of cores for later work.
func Load(paths []string, threads int) (*Set, error) {
	var list []*Part
	var broken []error
	for _, path := range paths {
		p, err := Open(path)
		switch {
		case errors.Is(err, ErrTorn):
			broken = append(broken, err)
		case err != nil:
			return nil, err
		default:
			if len(list) > 0 && p.Values == nil && p.Counted.Ladder == list[0].Counted.Ladder {
				p.lad, p.Listed = list[0].lad, nil // share one table, to save memory
			}
			list = append(list, p)
		}
	}
	if len(list) == 0 {
		return nil, errors.Join(append(broken,
			errors.New("no part is whole; make them again by the commands that made them"))...)
	}
	return newSet(list, broken, threads)
}

// newSet returns a set of compatible parts.
func newSet(list []*Part, broken []error, threads int) (*Set, error) {
	first := list[0]
	for _, p := range list[1:] {
		if err := p.compatibleWith(first); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(list, func(a, b *Part) int { return cmp.Compare(a.Shard, b.Shard) })
	var missing []int64
	at := int64(1)
	for i, p := range list {
		if i > 0 && p.Shard == list[i-1].Shard {
			return nil, fmt.Errorf("%s and %s: both are shard %v; give one of them", list[i-1].path, p.path, p.Which())
		}
		for ; at < p.Shard; at++ {
			missing = append(missing, at)
		}
		at = p.Shard + 1
	}
	for ; at <= first.Shards; at++ {
		missing = append(missing, at)
	}
	if len(missing) > 0 {
		return nil, &MissingError{missing, first.Shards, broken, &Set{list, threads}}
	}
	if len(broken) > 0 {
		return nil, fmt.Errorf("%w; the other parts are whole without it: leave it out", errors.Join(broken...))
	}
	s := &Set{list, threads}
	return s, s.hashed()
}

// compatibleWith returns an error if two parts belong to different curves.
func (p *Part) compatibleWith(first *Part) error {
	remake := func() string { return first.commandFor([]int64{min(p.Shard, first.Shards)}) }
	for _, c := range []struct{ what, got, want string }{
		{"values of the sets", list(p.At), list(first.At)},
		{"inputs", p.Input, first.Input},
		{"shapes", p.Shape, first.Shape},
		{"types", p.Type, first.Type},
		{"masks", p.Mask, first.Mask},
		{"digests of the sizes and times of the image's files", p.Source, first.Source},
		{"ladders", p.Counted.Ladder, first.Counted.Ladder},
		{"ladders", p.Ladder, first.Ladder},
		{"constructions", p.Construction, first.Construction},
		{"filtrations", strconv.Quote(p.Filtration), strconv.Quote(first.Filtration)},
		{"periodic axes", p.Periodic, first.Periodic},
		{"programs", p.Program, first.Program},
		{"implementations", p.Implementation, first.Implementation},
		{"keys", p.Key, first.Key},
		{"numbers of slices read together", fmt.Sprint(p.Step), fmt.Sprint(first.Step)},
		{"numbers of shards", fmt.Sprint(p.Shards), fmt.Sprint(first.Shards)},
	} {
		if c.got != c.want {
			return fmt.Errorf("%s and %s have different %s: %s and %s; leave the first out, or make it as the "+
				"second: %s", p.path, first.path, c.what, cmp.Or(c.got, "none"), cmp.Or(c.want, "none"), remake())
		}
	}
	if (p.Values == nil) != (first.Values == nil) {
		return fmt.Errorf("%s and %s: parts of a curve and of levels", p.path, first.path)
	}
	if p.Values != nil && p.Values.Most != first.Values.Most {
		return fmt.Errorf("%s has at most %d distinct values, and %s %d; make one of them as the other was: %s",
			p.path, p.Values.Most, first.path, first.Values.Most, remake())
	}
	if p.in != first.in || p.Counted.Type != first.Counted.Type || p.Unhashed != first.Unhashed {
		return fmt.Errorf("%s and %s: parts of different curves", p.path, first.path)
	}
	return nil
}

// Values returns the values of the image, if its parts describe values.
func (s *Set) Values() Values {
	var all Values
	for _, p := range s.parts {
		switch v := *p.Values; {
		case all.Voxels == 0:
			all = v
		case v.Voxels > 0:
			all = Values{all.Voxels + v.Voxels, min(all.Least, v.Least), max(all.Greatest, v.Greatest), v.Most}
		}
	}
	return all
}

// Tables returns the tables of the parts.
func (s *Set) Tables() (list [][]float32) {
	for _, p := range s.parts {
		list = append(list, p.Listed)
	}
	return list
}

// Check reads all parts to their end.
func (s *Set) Check() error {
	for _, p := range s.parts {
		if err := p.each(func([]ecc.Step) error { return nil }); err != nil {
			return err
		}
	}
	return nil
}

// EachComponents calls f with the components of each set, part by part in the order of the shards.
// The list is empty for a part without slices.
func (s *Set) EachComponents(f func(sets [][]byte) error) error {
	for _, p := range s.parts {
		list, err := p.components()
		if err != nil {
			return err
		}
		if err := f(list); err != nil {
			return fmt.Errorf("%s: %w", p.path, err)
		}
	}
	return nil
}

// list joins values with spaces.
func list(values []grid.Number) string { return strings.Trim(fmt.Sprint(values), "[]") }

// hashed returns an error if two parts have read different bytes for a shared slice.
func (s *Set) hashed() error {
	h := s.parts[0]
	if h.Unhashed {
		return nil
	}
	of := make([]*Part, h.shape.Slices())
	hashes := make([]grid.SliceHash, len(of))
	for _, p := range s.parts {
		for i := range p.Span().Len() {
			of[p.First+i], hashes[p.First+i] = p, p.Hashes[i]
		}
	}
	for _, p := range s.parts {
		i := 0
		for slice := range HashedSlices(p.Span(), int64(len(of)), p.closed()) {
			i++
			if hashes[slice] != p.Hashes[i-1] {
				return fmt.Errorf("%s and %s have read slice %d differently: the image changed meanwhile; make all parts again",
					of[slice].path, p.path, slice)
			}
		}
	}
	return nil
}

// Digest returns the digest of the image, or "" if it repeats.
func (s *Set) Digest() string {
	h := s.parts[0]
	if h.Unhashed {
		return ""
	}
	var hashes []grid.SliceHash
	for _, p := range s.parts {
		hashes = append(hashes, p.Hashes[:p.Span().Len()]...)
	}
	typ := h.typ
	switch {
	case len(h.At) > 0 && h.Mask != "": // as views.Mask reads it
		typ = grid.Float32
	case len(h.At) > 0: // the counted image has another type
		typ, _ = grid.ParseType(h.Type) // parse has checked it
	}
	return grid.SumOf(h.shape, typ, slices.Values(hashes))
}

// Head returns the head of the first part, with the missing data of all parts.
func (s *Set) Head() Head {
	h := s.parts[0].Head
	var lacking []string
	for _, p := range s.parts {
		if p.Missing != "" {
			lacking = append(lacking, fmt.Sprintf("shard %d/%d: %s", p.Shard, p.Shards, p.Missing))
		}
	}
	h.Missing = strings.Join(lacking, ", ")
	return h
}

// Len returns the number of parts.
func (s *Set) Len() int { return len(s.parts) }

// Ladder returns the ladder of the image.
func (s *Set) Ladder() grid.Ladder { return s.parts[0].lad }

// Shape returns the shape of the image.
func (s *Set) Shape() grid.Shape { return s.parts[0].shape }

// Convention returns the convention of the curve.
func (s *Set) Convention() ecc.Convention { return s.parts[0].in }

// Key returns the key of the fingerprint.
func (s *Set) Key() fingerprint.Key { return s.parts[0].key }

// Sum returns the fingerprint of the image: the sum over its parts.
func (s *Set) Sum() fingerprint.Sum {
	var sum fingerprint.Sum
	for _, p := range s.parts {
		sum.Add(p.sum, 1)
	}
	return sum
}

// MostTable is the maximum number of levels for which changes are added up in a table. It is also
// the maximum number of values in a part's own table.
const MostTable = 1 << 24

// Steps yields the steps of the curve in chunks, at least one. Each chunk is ascending, and chunks
// come in the order in which sets grow. With few levels a table adds up all changes in memory.
// Otherwise the sorted parts are merged as they are read.
func (s *Set) Steps() iter.Seq2[ecc.VCEC, error] {
	if s.Ladder().Len() <= MostTable {
		return func(yield func(ecc.VCEC, error) bool) { yield(s.added()) }
	}
	return s.merged()
}

// fewLevels is the maximum number of levels for which each core has its own table.
const fewLevels = 1 << 20

// blockSteps is the number of steps that are read from a part together.
const blockSteps = 1 << 10

// added returns all steps, added up in tables.
func (s *Set) added() (ecc.VCEC, error) {
	levels := s.Ladder().Len()
	cores := 1
	if levels <= fewLevels {
		cores = max(1, min(s.threads, len(s.parts)))
	}
	tables := make([][]int64, cores)
	err := crew.Work(cores, len(s.parts), func(core int, next func() (int, bool)) error {
		table := make([]int64, levels)
		tables[core] = table
		for i, ok := next(); ok; i, ok = next() {
			err := s.parts[i].each(func(steps []ecc.Step) error {
				for _, s := range steps {
					table[s.Level] += s.Change
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, t := range tables[1:] {
		for k, v := range t {
			tables[0][k] += v
		}
	}
	if s.Convention().Superlevel {
		slices.Reverse(tables[0])
	}
	return ecc.FromDense(tables[0]), nil
}

// each calls f with the steps of a part, whose levels are places.
func (p *Part) each(f func([]ecc.Step) error) error {
	c, err := p.open()
	if err != nil {
		return err
	}
	defer c.close()
	block := make([]ecc.Step, blockSteps)
	for {
		n, err := c.next(block)
		if n == 0 || err != nil {
			return err
		}
		if err := f(block[:n]); err != nil {
			return err
		}
	}
}

// mergedSteps is the number of merged steps per chunk.
const mergedSteps = 1 << 18

// A run is a part during a merge, with the steps that were read but not merged.
type run struct {
	*cursor
	block, steps []ecc.Step
}

// fill reads further steps if none are left, and reports whether there are any.
func (r *run) fill() (bool, error) {
	if len(r.steps) == 0 {
		n, err := r.next(r.block)
		if err != nil {
			return false, err
		}
		r.steps = r.block[:n]
	}
	return len(r.steps) > 0, nil
}

// merged yields the merged steps of all parts. It reads a block of each part at a time.
func (s *Set) merged() iter.Seq2[ecc.VCEC, error] {
	return func(yield func(ecc.VCEC, error) bool) {
		var heap runs
		defer func() {
			for _, r := range heap {
				r.close()
			}
		}()
		for _, p := range s.parts {
			c, err := p.open()
			if err != nil {
				yield(nil, err)
				return
			}
			r := &run{cursor: c, block: make([]ecc.Step, blockSteps)}
			ok, err := r.fill()
			if err != nil || !ok {
				c.close()
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if ok {
				heap = append(heap, r)
			}
		}
		for i := len(heap)/2 - 1; i >= 0; i-- {
			heap.down(i)
		}
		all := make(ecc.VCEC, 0, mergedSteps)
		for once := true; once || len(heap) > 0; once = false { // a curve without steps has one chunk, too
			all = all[:0]
			for len(heap) > 0 && len(all) < mergedSteps {
				sum, err := heap.take()
				if err != nil {
					yield(nil, err)
					return
				}
				if sum.Change != 0 {
					all = append(all, sum)
				}
			}
			if s.Convention().Superlevel {
				slices.Reverse(all)
				for i := range all {
					all[i].Level = place(all[i].Level, s.Ladder().Len(), true)
				}
			}
			if !yield(all, nil) {
				return
			}
		}
	}
}

// runs is a min-heap by next level.
type runs []*run

// take removes the lowest level from all runs and returns the sum of its changes.
func (h *runs) take() (ecc.Step, error) {
	sum := ecc.Step{Level: (*h)[0].steps[0].Level}
	for len(*h) > 0 && (*h)[0].steps[0].Level == sum.Level {
		r := (*h)[0]
		sum.Change += r.steps[0].Change
		r.steps = r.steps[1:]
		ok, err := r.fill()
		if err != nil {
			return sum, err
		}
		if !ok {
			r.close()
			last := len(*h) - 1
			(*h)[0] = (*h)[last]
			*h = (*h)[:last]
		}
		h.down(0)
	}
	return sum, nil
}

// down moves run i down to its place in the heap.
func (h runs) down(i int) {
	for {
		least := 2*i + 1
		if least >= len(h) {
			return
		}
		if right := least + 1; right < len(h) && h[right].steps[0].Level < h[least].steps[0].Level {
			least = right
		}
		if h[i].steps[0].Level <= h[least].steps[0].Level {
			return
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}

// Wrong returns the first part whose changes do not match its own fingerprint, or nil.
func (s *Set) Wrong() (*Part, error) {
	for _, p := range s.parts {
		sum := make(fingerprint.Sum, p.key.Functions())
		err := p.each(func(steps []ecc.Step) error {
			levels := make(ecc.VCEC, len(steps))
			for i, s := range steps {
				levels[i] = ecc.Step{Level: place(s.Level, p.lad.Len(), p.Superlevel), Change: s.Change}
			}
			some, err := ecc.SumOf(levels, p.lad.Len(), p.key, s.threads)
			sum.Add(some, 1)
			return err
		})
		if err != nil {
			return nil, err
		}
		if !sum.Equal(p.sum) {
			return p, nil
		}
	}
	return nil, nil
}

// Path returns the file that the part was read from.
func (p *Part) Path() string { return p.path }

// RemakeCommand returns the command that makes the part.
func (p *Part) RemakeCommand() string { return p.commandFor([]int64{p.Shard}) }

// Missing lists the shards that have no complete part among the given files.
func Missing(paths []string, threads int) ([]int64, error) {
	set, err := Load(paths, threads)
	incomplete := (*MissingError)(nil)
	switch {
	case errors.As(err, &incomplete):
		set = incomplete.set
	case err != nil:
		return nil, err
	}
	errs := make([]error, len(set.parts))
	crew.InTurn(max(1, threads), len(errs), func(_, i int) {
		errs[i] = set.parts[i].each(func([]ecc.Step) error { return nil })
	})
	var missing []int64
	if incomplete != nil {
		missing = incomplete.Shards
	}
	for i, err := range errs {
		if errors.Is(err, ErrTorn) {
			missing = append(missing, set.parts[i].Shard)
		} else if err != nil {
			return nil, err
		}
	}
	slices.Sort(missing)
	return missing, nil
}
