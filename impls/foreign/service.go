package foreign

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/peers"
	"eccbench/internal/quantity"
)

// words are the words of a question by their keys.
type words map[string]string

// A Service answers the questions of a harness with implementations of this program, by workload.
type Service map[string]func(words) (peers.Task, error)

// Claims returns the questions that the service answers.
func (s Service) Claims() (list []peers.Claim) {
	for _, workload := range slices.Sorted(maps.Keys(s)) {
		list = append(list, peers.ClaimOf(workload))
	}
	return list
}

// Bind returns the task of a question.
func (s Service) Bind(w map[string]string) (peers.Task, error) {
	workload := peers.Claim{Workload: w["workload"], Construction: w["construction"], Sets: w["sets"]}.Question()
	bind, ok := s[workload]
	if !ok {
		return nil, refusal(errors.New("it does not answer " + workload))
	}
	return bind(w)
}

func refusal(err error) error {
	return &peers.Error{Kind: peers.Refused, Verb: "bind", Why: err.Error()}
}

// Serve adds the implementation of a workload that has a name and runs on the CPU.
func (q Question) Serve(s Service, w bench.Workload[any, any], impl string) {
	for _, i := range w.Impls {
		if a := i.About(); a.Name == impl && a.Where == "cpu" && a.Foreign == nil {
			s[w.Name] = func(w words) (peers.Task, error) { return q.bind(i, w) }
		}
	}
}

// A served question is bound to an implementation of this program.
type served struct {
	Question
	report bool // the times of each call
	setup  func() (bench.Job[any], error)
	job    bench.Job[any] // nil for inputs with caches
	arrays []*peers.Array // all of them
	answer []*peers.Array // the ones to write
}

// bind maps the arrays of a question and sets the implementation up.
func (q Question) bind(i bench.Implementation[any, any], w words) (_ peers.Task, err error) {
	t := &served{Question: q, report: w["report"] != ""}
	defer func() {
		if err != nil {
			t.Close()
		}
	}()
	image, err := t.open(w)
	if err != nil {
		return nil, err
	}
	in, err := q.input(image, w)
	if err != nil {
		return nil, err
	}
	for _, p := range q.parts(in) {
		a, _, _, err := peers.Open(w[p.name], true)
		if err != nil {
			return nil, err
		}
		t.arrays, t.answer = append(t.arrays, a), append(t.answer, a)
	}
	c := bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, ISA: w["isa"], Options: w["options"]}}
	c.Threads, _ = strconv.Atoi(w["threads"]) // without the word, all
	limit, _ := strconv.ParseInt(w["time"], 10, 64)
	c.Time = time.Duration(limit)
	if err := i.CanDo(in, c); err != nil {
		return nil, refusal(err)
	}
	if q.caches {
		t.setup = func() (bench.Job[any], error) {
			in, err := q.input(image, w)
			if err != nil {
				return nil, err
			}
			return i.Setup(in, c)
		}
	} else {
		t.job, err = i.Setup(in, c)
	}
	return t, err
}

// open maps the image and its levels.
func (t *served) open(w words) (grid.Source, error) {
	if w["at"] != "" {
		return t.openInPlace(w)
	}
	a, kind, sides, err := peers.Open(w["image"], false)
	if err != nil {
		return nil, err
	}
	t.arrays = append(t.arrays, a)
	shape := grid.Shape{D: 1}
	switch len(sides) {
	case 2:
		shape.H, shape.W = sides[0], sides[1]
	case 3:
		shape = grid.Shape{D: sides[0], H: sides[1], W: sides[2]}
	default:
		return nil, fmt.Errorf("an image of %d axes, want 2 or 3", len(sides))
	}
	for _, typ := range grid.Types() {
		if kindOf(typ) != kind {
			continue
		}
		return withLevels(shape, typ, a.Data(), w)
	}
	return nil, fmt.Errorf("an image of type %s", kind)
}

// openInPlace maps an image in a file that is no array.
func (t *served) openInPlace(w words) (grid.Source, error) {
	at, err := strconv.ParseInt(w["at"], 10, 64)
	if err != nil {
		return nil, err
	}
	typ, err := grid.ParseType(w["type"])
	if err != nil {
		return nil, err
	}
	shape, err := grid.ParseShape(w["shape"])
	if err != nil {
		return nil, err
	}
	a, err := peers.OpenAt(w["image"], at, false)
	if err != nil {
		return nil, err
	}
	t.arrays = append(t.arrays, a)
	return withLevels(shape, typ, a.Data(), w)
}

// withLevels makes the image of a question.
func withLevels(shape grid.Shape, typ grid.Type, data []byte, w words) (grid.Source, error) {
	ladder := grid.Identity(typ)
	if w["levels"] != "" {
		b, kind, _, err := peers.Open(w["levels"], false)
		if err != nil {
			return nil, err
		}
		defer b.Close()
		if ladder, err = ladderFrom(b.Data(), kind, typ); err != nil {
			return nil, err
		}
	}
	return grid.Trusted(shape, typ, data, ladder)
}

// ladderFrom returns the ladder of the levels in an array: all values of the image's type, evenly
// spaced ones, or a table.
func ladderFrom(data []byte, kind string, typ grid.Type) (grid.Ladder, error) {
	decode := map[string]func([]byte) []float32{
		"|u1": decoded[uint8], "<i2": decoded[int16], "<u2": decoded[uint16],
		"<f4": decoded[float32], "<f8": decoded[float64],
	}[kind]
	if decode == nil {
		return grid.Ladder{}, fmt.Errorf("levels of type %s", kind)
	}
	levels := decode(data)
	n := len(levels)
	first, last := float64(levels[0]), float64(levels[n-1])
	even, err := grid.Affine(first, (last-first)/float64(max(1, n-1)), int64(n))
	for _, l := range []grid.Ladder{grid.Identity(typ), even} {
		differs := func(v float32) bool { return l.Value(l.Level(v)%l.Len()) != v }
		if l.Len() == int64(n) && err == nil && !slices.ContainsFunc(levels, differs) {
			return l, nil
		}
	}
	return grid.Table(levels)
}

func decoded[T grid.Stored](data []byte) []float32 {
	values := grid.Values[T](data)
	list := make([]float32, len(values))
	for k, v := range values {
		list[k] = float32(v)
	}
	return list
}

// The times of a call that a process of this program reports.
const poisonSpan, doSpan, outSpan = "before do", "do", "out"

// Answer answers the question about the image as it is now.
func (t *served) Answer(trace bool) (spans map[string]time.Duration, err error) {
	start := time.Now()
	job, done, err := t.ready()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	var parts *bench.Trace
	if trace {
		parts = new(bench.Trace)
	}
	if t.report {
		job.Poison()
	}
	began := time.Now()
	if err := job.Do(parts); err != nil {
		return nil, err
	}
	ended := time.Now()
	out, err := job.Out()
	if err != nil {
		return nil, err
	}
	var to [][]byte
	for _, a := range t.answer {
		to = append(to, a.Data())
	}
	if t.write(out, to); !t.report {
		return nil, nil
	}
	spans = map[string]time.Duration{}
	for name, seconds := range parts.Spans() {
		spans[name] = quantity.Seconds(seconds)
	}
	spans[poisonSpan], spans[doSpan], spans[outSpan] = began.Sub(start), ended.Sub(began), time.Since(ended)
	return spans, nil
}

// ready returns the job for a call, and a function to call after it.
func (t *served) ready() (job bench.Job[any], done func() error, err error) {
	if t.job != nil {
		return t.job, func() error { return nil }, nil
	}
	if job, err = t.setup(); err != nil {
		return nil, nil, err
	}
	return job, job.Close, nil
}

// Allocated returns the least number of heap bytes that one of some calls allocates.
func (t *served) Allocated(calls int) (n int64, err error) {
	job, done, err := t.ready()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, done()) }()
	return bench.Allocated(job, calls)
}

// Close releases the memory that bind mapped and allocated.
func (t *served) Close() (err error) {
	if t.job != nil {
		err = t.job.Close()
	}
	for _, a := range t.arrays {
		a.Close()
	}
	return err
}
