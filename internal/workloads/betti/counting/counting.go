// Package counting runs kernels that count the Betti numbers of an image in device memory.
package counting

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
)

// A Method answers with kernels that count an image on an NVIDIA device.
type Method[In grid.Source, Out any] struct {
	Name, Method, Source string
	Open                 resident.Opener
	Plan                 func(In) (Plan, error) // the error describes inputs that the kernels cannot count
	Read                 func(in In, counts []int64) Out
	Poisoned             Out
}

// A Plan describes how kernels count an image.
type Plan struct {
	Module  string
	What    string // is resident: "the image with a label for each voxel"
	Tables  []Table
	Scratch []Scratch // buffers shared by kernels, undefined before each call
	Counts  int64     // number of int64 counters, zero before each call
	Bring   []int     // indices of the scratch buffers that a call copies to the host with the counts
	// Answer is the number of int64 of an answer in a batch, which Numbers makes of the counts.
	Answer  int64
	Numbers func(counts, answer device.Buffer) Launch
	// Launches are the kernels in order.
	Launches func(Memory) []Launch
	// Words means that kernels read words of 16 bytes, wherever the first image begins (QuestionSet.From).
	Words bool
}

// A Table is an additional input of kernels: integers, or the bits of float32.
type Table struct {
	Name    string
	Numbers []uint32
}

// Scratch is a buffer in the memory of the device.
type Scratch struct {
	Name  string
	Bytes int64
}

// Memory is the buffers of a plan on the device. The images have whole words of 16 bytes together.
type Memory struct {
	Image, Counts   device.Buffer
	Tables, Scratch []device.Buffer
	QuestionSet
}

// QuestionSet are the questions of a launch about consecutive images, one for each row of the grid
// (kernels/betti/asked.h): question q is image q / Levels at limit q % Levels.
type QuestionSet struct {
	From             int64 // the first voxel of the first image
	Images, Levels   int64
	First, Questions int64 // the first question of the launch, and their number
	Above            bool  // sets have the voxels above their limits, not those up to them
}

// single is the only question about an image.
var single = QuestionSet{Images: 1, Levels: 1, Questions: 1}

// Arguments returns the first parameters of kernels that read images of w×h×d voxels. The limits are the first table.
func (m Memory) Arguments(w, h, d int64) []any {
	images := []any{m.Image, m.From, m.Images, int32(w), int32(h), int32(d)}
	return append(images, m.Tables[0], uint32(m.Levels), device.Flag(m.Above), uint32(m.First))
}

// A Part is a job of a Method whose result is combined with others.
type Part[Out any] interface {
	bench.Job[Out]
	bench.DeviceJob
	ScratchOnHost() [][]byte
}

// A Launch is a kernel with its threads, its dynamic shared memory in bytes and its parameters.
type Launch struct {
	Kernel                  string
	Blocks, Threads, Shared int64
	Args                    []any
	Together                bool // one row of the grid has all questions
}

// SumCounts is the number of counts of Sums, in 32 copies that blocks add to.
const SumCounts = 32 * 3

// Sums returns the number of components of a set, the number of cavities, and χ.
func Sums(counts []int64) (components, cavities, characteristic int64) {
	var sums [3]int64
	for i, n := range counts {
		sums[i%3] += n
	}
	return sums[0], sums[1], sums[2]
}

// imageBytes returns the size of the image in whole words of 16 bytes, which kernels read.
func imageBytes(in grid.Source) int64 { return (grid.TotalBytes(in) + 15) / 16 * 16 }

// bytes returns the device memory of a plan, with the image.
func (p Plan) bytes(in grid.Source) int64 {
	need := imageBytes(in) + 8*p.Counts
	for _, t := range p.Tables {
		need += 4 * int64(len(t.Numbers))
	}
	for _, s := range p.Scratch {
		need += s.Bytes
	}
	return need
}

// About describes the method.
func (m Method[In, Out]) About() bench.About {
	return bench.OnDevice(m.Name, m.Method, m.Source)
}

// CanDo rejects inputs that the kernels cannot count or that do not fit the device.
func (m Method[In, Out]) CanDo(in In, c bench.Conditions) error {
	d, err := m.Open(c.Device)
	if err != nil {
		return err
	}
	p, err := m.Plan(in)
	if err != nil {
		return err
	}
	return resident.Fits(d, p.bytes(in), p.What)
}

// Setup loads the kernels and copies the image to the device.
func (m Method[In, Out]) Setup(in In, c bench.Conditions) (bench.Job[Out], error) {
	d, err := m.Open(c.Device)
	if err != nil {
		return nil, err
	}
	p, err := m.Plan(in)
	if err != nil {
		return nil, err
	}
	j := &job[In, Out]{Objects: resident.NewObjects(d), in: in, method: m, Memory: Memory{QuestionSet: single}}
	return bench.Ready(j, j.setup(c, p))
}

// A job counts a resident image; a whole call copies the image first.
type job[In grid.Source, Out any] struct {
	resident.Objects
	in         In
	method     Method[In, Out]
	stream     device.Stream
	start, end device.Event
	steps      []step

	Memory
	result  device.Pinned
	bring   []int
	brought []device.Pinned
	feed    *resident.Feed // of whole calls
	out     Out
}

var _ Part[int] = (*job[grid.Source, int])(nil)

type step struct {
	kernel device.Function
	shape  device.Launch
	args   []any
}

func (j *job[In, Out]) setup(c bench.Conditions, p Plan) error {
	j.stream, j.start, j.end = j.NewStream("Betti numbers"), j.NewEvent("start"), j.NewEvent("end")
	j.Image = j.NewBuffer("image", imageBytes(j.in))
	if err := j.Err(); err != nil {
		return err
	}
	end := grid.TotalBytes(j.in) // the memory after the image is read without effect
	if err := j.stream.Fill(j.Image, end, imageBytes(j.in)-end, 0); err != nil {
		return err
	}
	if c.Scope == bench.Kernel || c.Scope == bench.Device {
		if err := resident.Stage(j.On, j.stream, j.Image, 0, j.in); err != nil {
			return err
		}
	} else {
		j.feed = j.NewFeed(j.in, 0, c.Threads)
	}
	j.Tables = p.tables(&j.Objects, j.stream)
	for _, s := range p.Scratch {
		j.Scratch = append(j.Scratch, j.NewBuffer(s.Name, s.Bytes))
	}
	j.Counts, j.result = j.NewBuffer("counts", 8*p.Counts), j.NewPinned("counts on the host", 8*p.Counts)
	for _, i := range p.Bring {
		j.bring = append(j.bring, i)
		j.brought = append(j.brought, j.NewPinned(p.Scratch[i].Name+" on the host", p.Scratch[i].Bytes))
	}
	if err := j.Err(); err != nil {
		return err
	}
	j.Poison()
	j.steps = load(&j.Objects, p.Module, p.Launches(j.Memory))
	return j.Err()
}

// tables copies the tables to the device.
func (p Plan) tables(o *resident.Objects, s device.Stream) (list []device.Buffer) {
	for _, t := range p.Tables {
		list = append(list, resident.NewNumbers(o, s, t.Name, t.Numbers))
	}
	return list
}

// load loads the kernels of launches.
func load(o *resident.Objects, module string, list []Launch) (steps []step) {
	var names []string
	for _, l := range list {
		names = append(names, l.Kernel)
	}
	m := o.NewModule(module, names...)
	for _, l := range list {
		f := o.Function(m, l.Kernel)
		if o.Err() == nil && l.Shared+f.Attributes().Shared > o.On.Info().Shared {
			o.Fail(f.AllowShared(l.Shared))
		}
		shape := device.Launch{Grid: device.Dim{X: l.Blocks}, Block: device.Dim{X: l.Threads}, Shared: l.Shared}
		steps = append(steps, step{f, shape, l.Args})
	}
	return steps
}

// Limits returns thresholds as a table of kernels: of float32, or for integer types the greatest
// value not above each, as an int32. If there is none, it is the least value minus one.
func Limits(t grid.Type, thresholds ...float32) Table {
	table := Table{Name: "limits"}
	for _, v := range thresholds {
		bits := math.Float32bits(v)
		if limit, whole := Limit(t, v).(int32); whole {
			bits = uint32(limit)
		}
		table.Numbers = append(table.Numbers, bits)
	}
	return table
}

// Limit returns a threshold as a kernel's parameter: a float32 or an int32.
func Limit(t grid.Type, threshold float32) any {
	least, most := 0.0, float64(math.MaxUint16)
	switch t {
	case grid.Float32:
		return threshold
	case grid.Int16:
		least, most = math.MinInt16, math.MaxInt16
	}
	return int32(min(max(math.Floor(float64(threshold)), least-1), most))
}

// Do counts on the device; a whole call copies the image first.
func (j *job[In, Out]) Do(*bench.Trace) error {
	if j.feed != nil {
		if err := j.feed.Add(j.stream, j.Image, 0); err != nil {
			return err
		}
	}
	if err := j.On.Do(func() error { return j.count(j.steps) }); err != nil {
		return err
	}
	counts := make([]int64, len(j.result.Data())/8)
	if _, err := binary.Decode(j.result.Data(), binary.LittleEndian, counts); err != nil {
		return err
	}
	j.out = j.method.Read(j.in, counts)
	return nil
}

func (j *job[In, Out]) count(steps []step) error {
	if err := errors.Join(j.stream.Record(j.start), j.stream.Fill32(j.Counts, 0, j.Counts.Bytes()/4, 0)); err != nil {
		return err
	}
	for _, s := range steps {
		if err := j.stream.Launch(s.kernel, s.shape, s.args...); err != nil {
			return err
		}
	}
	if err := errors.Join(j.stream.Record(j.end), j.stream.Copy(j.result, 0, j.Counts, 0, j.Counts.Bytes())); err != nil {
		return err
	}
	for i, from := range j.bring {
		if err := j.stream.Copy(j.brought[i], 0, j.Scratch[from], 0, j.brought[i].Bytes()); err != nil {
			return err
		}
	}
	return j.stream.Wait()
}

// ScratchOnHost returns the scratch buffers that the last call copied to the host, in the plan's order.
func (j *job[In, Out]) ScratchOnHost() (list [][]byte) {
	for _, b := range j.brought {
		list = append(list, b.Data())
	}
	return list
}

// EachKernel runs the kernels separately, each on the result of the last call, with an empty
// second-level cache. It calls f with the time of each on the device.
func (j *job[In, Out]) EachKernel(f func(kernel string, took time.Duration)) error {
	for i, s := range j.steps {
		if err := errors.Join(j.Cool(), j.count(j.steps[i:i+1])); err != nil {
			return err
		}
		took, err := j.Elapsed()
		if err != nil {
			return err
		}
		f(s.kernel.Name(), took)
	}
	return nil
}

// Elapsed returns the time of the last Do on the device.
func (j *job[In, Out]) Elapsed() (time.Duration, error) { return j.end.Since(j.start) }

// Cool empties the device's second-level cache.
func (j *job[In, Out]) Cool() error { return errors.Join(j.On.FlushL2(j.stream), j.stream.Wait()) }

// Poison overwrites the answer and its counts.
func (j *job[In, Out]) Poison() {
	const poison = 0x5a
	for _, b := range append(slices.Clip(j.Scratch), j.Counts) {
		// If writing to the device fails, the next call fails with the reason.
		_ = j.stream.Fill(b, 0, b.Bytes(), poison)
	}
	_ = j.stream.Wait()
	for _, b := range append(j.brought[:len(j.brought):len(j.brought)], j.result) {
		resident.Overwrite(b.Data(), poison)
	}
	j.out = j.method.Poisoned
}

// Out returns the answer of the last call.
func (j *job[In, Out]) Out() (Out, error) { return j.out, nil }
