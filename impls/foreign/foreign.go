// Package foreign puts the questions of workloads to peers: programs from outside that speak the
// protocol of package peers.
package foreign

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/peers"
	"eccbench/internal/quantity"
	"eccbench/internal/stats"
)

// A Question converts the inputs of a workload for peers, and their answers back. A service converts
// in the other direction.
type Question struct{ typed[any, any] }

// A typed question has the types of a workload. Code that uses them would be compiled for each
// workload.
type typed[In, Out any] struct {
	image func(In) grid.Source
	// refuse returns the reason why no peer can answer an input, or nil.
	refuse func(In) error
	words  func(In) []string // KEY=VALUE, in addition to the image
	parts  func(In) []part   // of the answer
	levels bool              // the ladder is part of the question
	tuned  bool              // few levels make implementations of this program faster
	read   func(In, [][]byte) Out
	// edits plans small changes of the image before a call, in the memory of earlier ones; nil for answers that do not
	// change locally.
	edits func(In, []byte, peers.Claim, edits) edits
	// input makes the input of a service from an image and the words, and write writes its answer.
	input func(grid.Source, words) (In, error)
	write func(Out, [][]byte)
	// caches is set if inputs cache results about the image. A service then makes the input anew for
	// each answer.
	caches bool
}

// untyped returns the question for an untyped workload.
func (q typed[In, Out]) untyped() Question {
	u := typed[any, any]{
		image:  func(in any) grid.Source { return q.image(in.(In)) },
		words:  func(in any) []string { return q.words(in.(In)) },
		parts:  func(in any) []part { return q.parts(in.(In)) },
		read:   func(in any, a [][]byte) any { return q.read(in.(In), a) },
		input:  func(s grid.Source, w words) (any, error) { return q.input(s, w) },
		write:  func(out any, a [][]byte) { q.write(out.(Out), a) },
		levels: q.levels, tuned: q.tuned, caches: q.caches,
	}
	if q.refuse != nil {
		u.refuse = func(in any) error { return q.refuse(in.(In)) }
	}
	if q.edits != nil {
		u.edits = func(in any, data []byte, c peers.Claim, earlier edits) edits {
			return q.edits(in.(In), data, c, earlier)
		}
	}
	return Question{u}
}

// A part is an array of an answer.
type part struct {
	name, kind string // a type of NumPy
	shape      []int64
}

// Of returns the implementation of a peer that claims a workload. A broken peer has one for every
// workload.
func (q Question) Of(p *peers.Peer, workload string) []bench.Implementation[any, any] {
	claim := p.Claims(workload)
	if p.Broken != "" {
		claim = &peers.Claim{Workload: workload}
	}
	if claim == nil {
		return nil
	}
	return []bench.Implementation[any, any]{implementation{p, *claim, new(tally), q}}
}

type implementation struct {
	peer  *peers.Peer
	claim peers.Claim
	*tally
	Question
}

// About describes the peer in its own words.
func (i implementation) About() bench.About {
	return bench.About{
		Name: peers.Prefix + i.peer.Name, Where: i.peer.Where, Method: i.peer.Method, Source: i.peer.Source,
		Scopes: []bench.Scope{bench.E2E}, Foreign: i.peer,
	}
}

// CanDo rejects inputs outside of the peer's claim. It starts nothing.
func (i implementation) CanDo(in any, c bench.Conditions) error {
	image := i.image(in)
	if i.levels {
		if err := image.Ladder().CheckIndexed(); err != nil {
			return err
		}
	}
	if i.refuse != nil {
		if err := i.refuse(in); err != nil {
			return err
		}
	}
	if err := i.claim.Allows(image); err != nil {
		return err
	}
	n := float64(image.Shape().Voxels())
	each, bytes := i.claim.NSPerVoxel, i.claim.BytesPerVoxel
	if err := c.Allow(quantity.Seconds(n*each*1e-9), "%.0f voxels × %g ns", n, each); err != nil {
		return err
	}
	own := int64(0)
	if home, _, _ := i.inPlace(image); home == nil {
		own = grid.TotalBytes(image)
	}
	if i.sendsLevels(image) {
		own += image.Ladder().Len() * levelBytes
	}
	for _, p := range i.parts(in) {
		own += peers.Bytes(p.kind, p.shape)
	}
	return c.AllowMemory(own+int64(n*bytes),
		"a copy of the image and its levels, the answer, and %.0f voxels × %g bytes", n, bytes)
}

// Setup starts the peer unless it runs, and binds arrays. Poison writes the image into them.
func (i implementation) Setup(in any, c bench.Conditions) (bench.Job[any], error) {
	process, err := i.peer.Acquire(c.Cores())
	if err != nil {
		return nil, err
	}
	j := &job{implementation: i, in: in, process: process, cores: c.Cores()}
	if i.peer.Own {
		j.isa = c.ISA
	}
	if err := j.bind(c); err != nil {
		j.Close()
		return nil, err
	}
	return j, nil
}

// Edits reports whether calls change the image a little.
func (q Question) Edits() bool { return q.edits != nil }

// inPlace returns the file, the bytes and their offset of an image that needs no copy: our own code in another process
// can map it. A burst needs several copies of a small one.
func (i implementation) inPlace(image grid.Source) (home *os.File, data []byte, at int64) {
	f, ok := image.(*grid.Field)
	if !ok || !i.peer.Own || !i.Edits() || len(f.Data()) <= mostShared {
		return nil, nil, 0
	}
	home, at = f.Home()
	return home, f.Data(), at
}

// Renews reports whether the job takes new images, because its answer does not change locally.
func (j *job) Renews() bool { return !j.Edits() }

// Renew replaces the image of the next call. The peer keeps its arrays, so the question is the same.
func (j *job) Renew(in any) error {
	question := func(in any) string {
		image := j.implementation.image(in)
		return fmt.Sprint(image.Shape(), image.Type(), image.Ladder().Key(), j.words(in))
	}
	if was, now := question(j.in), question(in); was != now {
		return fmt.Errorf("the question is bound to %s, not to %s", was, now)
	}
	j.in, j.current = in, false
	return nil
}

type job struct {
	implementation
	in            any
	process       *peers.Process
	number        int          // of the binding
	data          []byte       // of the image, which the peer reads
	image, ladder *peers.Array // image is nil if its data are those of the input
	answer        []*peers.Array
	given         [][]byte // the answer of the last call
	copies        [][]byte // room for the answer, of a burst
	edits         edits    // that the next call makes
	edited        bool     // calls can have new images, or the last one has edits
	current       bool     // the array has the image, with the edits of the last call
	cores         int
	unready       error // why it could not be made ready for a call
	reported      bench.Reported
}

// Reported returns the mean times of the last burst, if the process is one of this program.
func (j *job) Reported() (bench.Reported, bool) { return j.reported, j.peer.Own }

// Allocated returns the heap bytes that a call allocates.
func (j *job) Allocated(calls int) (int64, error) {
	return j.process.Allocated(j.number, calls)
}

// bind makes the arrays and sends their paths to the peer.
func (j *job) bind(c bench.Conditions) (err error) {
	image := j.implementation.image(j.in)
	words := []string{"workload=" + j.claim.Workload, fmt.Sprintf("threads=%d", c.Cores())}
	if home, data, at := j.inPlace(image); home != nil {
		j.data, j.current = data, true
		words = append(words, "image="+peers.PathOf(home), fmt.Sprintf("at=%d", at), "type="+image.Type().String(),
			"shape="+image.Shape().String())
	} else {
		if j.image, err = j.process.Image(kindOf(image.Type()), image.Shape().Sides()); err != nil {
			return err
		}
		j.data = j.image.Data()
		words = append(words, "image="+j.image.Path())
	}
	if j.claim.Construction != "" {
		words = append(words, "construction="+j.claim.Construction)
	}
	if j.claim.Sets != "" {
		words = append(words, "sets="+j.claim.Sets)
	}
	if j.peer.Own {
		words = append(words, "report=1")
	}
	if c.Time > 0 {
		words = append(words, fmt.Sprintf("time=%d", c.Time))
	}
	for _, w := range [][2]string{{"isa", c.ISA}, {"options", c.Options}} {
		if w[1] != "" {
			words = append(words, w[0]+"="+w[1])
		}
	}
	if j.sendsLevels(image) {
		if j.ladder, err = ladderOf(image); err != nil {
			return err
		}
		words = append(words, "levels="+j.ladder.Path())
	}
	for _, p := range j.parts(j.in) {
		a, err := peers.NewArray("answer", p.kind, p.shape, false)
		if err != nil {
			return err
		}
		j.answer = append(j.answer, a)
		words = append(words, p.name+"="+a.Path())
	}
	j.number, err = j.process.Bind(append(words, j.words(j.in)...)...)
	return err
}

// The most bytes of a level that is sent, and the most levels that are sent only for speed.
const (
	levelBytes = 8
	mostTuned  = 1 << 16
)

// sendsLevels reports whether the question has a table of levels.
func (i implementation) sendsLevels(image grid.Source) bool {
	l := image.Ladder()
	return i.levels || i.tuned && i.peer.Own && l.Indexed() && l.Len() <= mostTuned
}

// kindOf returns the NumPy type.
func kindOf(t grid.Type) string {
	return map[grid.Type]string{grid.Uint8: "|u1", grid.Int16: "<i2", grid.Uint16: "<u2", grid.Float32: "<f4"}[t]
}

// ladderOf returns the image's levels: in its own type if that holds all of them, else as float64.
func ladderOf(image grid.Source) (*peers.Array, error) {
	encode := map[grid.Type]func(grid.Ladder) ([]byte, bool){
		grid.Uint8: encoded[uint8], grid.Int16: encoded[int16],
		grid.Uint16: encoded[uint16], grid.Float32: encoded[float32],
	}
	l, kind := image.Ladder(), kindOf(image.Type())
	data, exact := encode[image.Type()](l)
	if !exact {
		kind = "<f8"
		data, _ = encoded[float64](l)
	}
	a, err := peers.NewArray("levels", kind, []int64{l.Len()}, true)
	if err == nil {
		copy(a.Data(), data)
	}
	return a, err
}

// encoded returns the levels as elements of a type, or false if the type does not hold one of them.
func encoded[T grid.Stored](l grid.Ladder) (data []byte, exact bool) {
	values := make([]T, l.Len())
	for k := range values {
		v := l.Value(int64(k))
		if values[k] = T(v); float32(values[k]) != v {
			return nil, false
		}
	}
	return grid.Bytes(values), true
}

// Poison overwrites the answer, and writes a new image in full. Out undoes the edits of a call, so that the rest stays
// in the caches. Poison plans those of the next call without making them, so a peer that works before it has a
// different image.
func (j *job) Poison() {
	if j.unready = j.ping(); j.unready == nil && !j.current {
		image := j.implementation.image(j.in)
		j.unready = image.ReadSlab(j.data, 0, image.Shape().Slices())
		j.current = j.unready == nil
	}
	for i, p := range j.parts(j.in) {
		poison(j.answer[i].Data(), p.kind)
		if len(j.copies) == i && j.peer.Bursts {
			j.copies = append(j.copies, slices.Clone(j.answer[i].Data()))
		}
	}
	if j.edits = j.edits[:0]; j.unready == nil && j.Question.edits != nil {
		j.edits = j.Question.edits(j.in, j.data, j.claim, j.edits)
	}
	j.edited = j.Renews() || len(j.edits) > 0
	j.between += j.process.Spent()
}

// ping measures a round trip without work, once before each command, before its image is written. Any
// other output of the peer is out of turn.
func (j *job) ping() error {
	if j.pinged {
		return nil
	}
	trip, err := j.process.Ping()
	j.pinged, j.trips = true, append(j.trips, trip.Seconds())
	return err
}

// poison fills an array with bench.Poison or NaN, which no right answer has.
func poison(data []byte, kind string) {
	pattern := grid.Bytes([]int64{bench.Poison})
	if kind[1] == 'f' {
		pattern = slices.Repeat([]byte{0xff}, 8)
	}
	for at := copy(data, pattern); at < len(data); {
		at += copy(data[at:], data[:at])
	}
}

// unwritten returns the number of elements that poison left, and of all.
func unwritten(data []byte, kind string) (left, all int) {
	switch kind {
	case "<f4":
		for _, v := range grid.Values[float32](data) {
			if all++; v != v && math.Float32bits(v) == math.MaxUint32 {
				left++
			}
		}
	case "<f8":
		for _, v := range grid.Values[float64](data) {
			if all++; v != v && math.Float64bits(v) == math.MaxUint64 {
				left++
			}
		}
	default:
		for _, v := range grid.Values[int64](data) {
			if all++; v == bench.Poison {
				left++
			}
		}
	}
	return left, all
}

// Do edits the image and has the peer answer.
func (j *job) Do(t *bench.Trace) error {
	j.given = j.given[:0]
	for _, a := range j.answer {
		j.given = append(j.given, a.Data())
	}
	return j.do(t, []*job{j})
}

// Limits of the bytes of an image and of its answer in a burst, which has many. Answers are copied
// while the clock runs.
const (
	mostShared = 256 << 10
	mostCopied = 16 << 10
)

// Bursts reports whether a command can have several calls: if each is about an image of its own.
func (j *job) Bursts() bool {
	answer := 0
	for _, a := range j.answer {
		answer += len(a.Data())
	}
	return j.peer.Bursts && j.edited && len(j.data) <= mostShared && answer <= mostCopied
}

// Burst has the peer answer several questions by one command, the one of this job among them. The
// answers are copied at once, in random order, so a peer gains nothing if it writes one later.
func (j *job) Burst(all []bench.Bursting) error {
	var jobs []*job
	for _, other := range all {
		jobs = append(jobs, other.(*job))
	}
	if err := j.do(nil, jobs); err != nil {
		return err
	}
	for _, k := range rand.Perm(len(jobs)) {
		of := jobs[k]
		of.given = of.given[:0]
		for i, a := range of.answer {
			of.given = append(of.given, append(of.copies[i][:0], a.Data()...))
		}
	}
	return nil
}

// do edits the images of some jobs and has the peer answer them.
func (j *job) do(t *bench.Trace, jobs []*job) error {
	numbers := make([]int, len(jobs))
	for k, of := range jobs {
		if of.unready != nil {
			return of.unready
		}
		numbers[k] = of.number
	}
	var words []string
	if t != nil && j.peer.Own {
		words = []string{peers.Trace}
	}
	j.pinged = false
	sampled := j.sample(j.process)
	start := time.Now()
	for _, of := range jobs {
		of.edits.apply(of.data)
	}
	spans, err := j.process.Do(numbers, words...)
	took := time.Since(start)
	sampled()
	j.calls, j.outer = j.calls+1, j.outer+took
	if err != nil {
		return err
	}
	if j.peer.Own {
		n := time.Duration(len(jobs))
		j.reported = bench.Reported{Poison: spans[poisonSpan] / n, Do: spans[doSpan] / n, Out: spans[outSpan] / n}
		for _, name := range []string{poisonSpan, doSpan, outSpan} {
			delete(spans, name)
		}
	}
	for name, d := range spans {
		switch {
		case d > took && !j.peer.Own: // else it may be a sum over cores
			why := fmt.Sprintf("it says that %s took %v of a call of %v", name, d, took)
			return &peers.Error{Kind: peers.Broken, Verb: "do", Why: why}
		case name == "inner":
			j.inner, j.explained = j.inner+d, j.explained+took
		default:
			t.Add(name, d)
		}
	}
	return nil
}

// Out returns the answer, or an error if the peer did not write all of it. The expected changes by
// the edits are subtracted, so the answer is about the original image.
func (j *job) Out() (out any, err error) {
	j.within += j.process.Spent()
	left, all := 0, 0
	for i, p := range j.parts(j.in) {
		n, of := unwritten(j.given[i], p.kind)
		left, all = left+n, all+of
	}
	if left > 0 {
		why := fmt.Sprintf("%d of %d numbers were not written", left, all)
		return out, &peers.Error{Kind: peers.Malformed, Verb: "do", Why: why}
	}
	j.edits.takeOff(j.given)
	j.edits.undo(j.data)
	return j.read(j.in, j.given), nil
}

// RoundTrip returns the median time of a command and its reply without work, before each call since
// the last Flags. Like the call it follows a pause, in which the peer and its caches go to sleep.
func (j *job) RoundTrip() time.Duration { return quantity.Seconds(stats.Median(j.trips)) }

// Flags returns remarks on the calls of all inputs since the last Flags.
func (j *job) Flags() []string { return j.flags(j.cores) }

// Close ends the question in the peer.
func (j *job) Close() (err error) {
	if j.number > 0 {
		err = j.process.Free(j.number)
	}
	j.edits.undo(j.data) // after a call that failed, in the file of the input
	for _, a := range append(j.answer, j.ladder) {
		if a != nil {
			a.Close()
		}
	}
	if j.image != nil {
		j.process.Recycle(j.image)
	}
	j.peer.Release()
	return err
}
