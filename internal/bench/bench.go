// Package bench is the contract between the runner and implementations: a Workload is one question
// for several implementations, an Implementation answers it in one way, a Job is one implementation
// bound to one input, and a Record is one line of a results file. Nothing here knows the question.
package bench

import (
	"fmt"
	"io"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"eccbench/internal/name"
	"eccbench/internal/peers"
	"eccbench/internal/quantity"
	"eccbench/internal/verify"
)

// A Workload is one question put to several implementations. The runner never
// looks inside In or Out.
type Workload[In, Out any] struct {
	Name string // in records and on the command line
	Question
	Inputs Inputs[In]
	Impls  []Implementation[In, Out]
	// Reference names the implementation that answers by the definition. Where
	// it is affordable its answers are the witness of the others.
	Reference string
	Policy    verify.Policy[In, Out]
	// Encode writes an answer so that equal answers are equal bytes; Decode is its
	// inverse, of bytes that stay valid and unmodified while the answer is used. An
	// answer may be larger than what a program would hold as bytes.
	Encode func(io.Writer, Out) error
	Decode func([]byte) (Out, error)
}

// A Question is what people are told of a workload, and what commands make of it.
type Question struct {
	Doc string // one line
	// Form is what the names of its inputs look like that are made of an image; the zero
	// Form where the images themselves are inputs.
	Form name.Form
	// Named is the canonical name of what a user calls an input, a name or the path of a file,
	// where inputs are no images; nil where they are. Kinds are what there is of them.
	Named func(string) (string, error)
	Kinds []Kind
	// Adversarial inputs break implementations, Long ones by their size. Small are a few
	// on which programs can be compared within minutes.
	Adversarial, Long, Small []string
	// Ceiling names the workload that reads the same bytes and does nothing else, in a
	// scope; nil where nothing bounds the workload.
	Ceiling func(Scope) string
	// Reads names the input whose reading moves the bytes of a named one in the same
	// place; nil where that is the input itself.
	Reads func(input string) string
}

// OfImages reports whether the inputs are images themselves, neither made of them nor other things.
func (q Question) OfImages() bool { return q.Form.Kind == "" && q.Named == nil }

// A Kind is one kind of inputs that names can describe.
type Kind struct {
	Name    string `json:"name"`
	Doc     string `json:"doc"`     // one line
	Example string `json:"example"` // a whole name
}

// Small is the Encode of answers that are best made as bytes at once.
func Small[Out any](encode func(Out) []byte) func(io.Writer, Out) error {
	return func(w io.Writer, out Out) error {
		_, err := w.Write(encode(out))
		return err
	}
}

// Inputs makes the inputs of a workload from their printable names.
type Inputs[In any] interface {
	// Open makes the input that a name describes. When the input is an
	// io.Closer, the caller closes it.
	Open(name string) (In, error)
	// Variants names up to n different inputs that weigh the same; the first is
	// the given one.
	Variants(name string, n int) ([]string, error)
	// Smaller names inputs that are like the given one and weigh less, the
	// smallest first; none when there is no such thing.
	Smaller(name string) []string
	// Cost is what one answer about the named input has to look at.
	Cost(name string, in In) Cost
	// Size is the number of bytes Share writes, header included, or a little more.
	Size(In) int64
	// Share writes the whole input to a file for Attach to map, from its start on,
	// and leaves the file where the input ends: it may have been longer. Attach makes
	// the input of those bytes, which stay valid and unmodified while it is
	// used.
	Share(In, *os.File) error
	Attach(mapped []byte) (In, error)
}

// Repeating are Inputs of which Share may write fewer bytes than Attach is given, where an
// input repeats itself. Extent is how many Attach is given: those that Share wrote, and
// then those of them that begin at from again and again; a size of 0 is of an input that
// is given as it was written. Both are multiples of a page, but for size.
type Repeating[In any] interface {
	Extent(In) (from, size int64, err error)
}

// Sketched are Inputs of which some have a known size before they are made. Sketch returns an
// input whose size alone is right, for CanDo of implementations on the host, Cost and Size; or false.
type Sketched[In any] interface{ Sketch(name string) (In, bool) }

// Stored are Inputs of which some are read from files. Files names those of a named
// input; none where it is made.
type Stored interface{ Files(name string) []string }

// A Cooler is an input that is read from where it is stored. Cool is never timed.
type Cooler interface {
	// Cool leaves nothing of the input in the host's caches, and reports whether
	// that can be done where it is stored.
	Cool() (cold bool, err error)
}

// A Holder is an input that may be in memory whatever the scope, where nothing of it is
// made or read while the clock runs.
type Holder interface{ InMemory() bool }

// A Cost is the size of an input in the units that speeds are quoted in.
type Cost struct {
	Items int64  `json:"items"` // voxels, say
	Unit  string `json:"unit"`  // the unit of speed is Unit/s: "vox"
	Bytes int64  `json:"bytes"` // one read of the input
	Class string `json:"class"` // key=value/key=value…: what inputs that differ in size or seed share
	Size  string `json:"size"`  // the size as people write it
}

// A Scope is what a sample's clock runs over. Scopes never mix in a ratio.
type Scope string

// The scopes, from the narrowest to the widest.
const (
	Kernel Scope = "kernel" // device events around the launches, memsets and reductions included
	Device Scope = "device" // wall clock around a call with the input resident and the answer back on the host
	E2E    Scope = "e2e"    // input in host memory, answer in host memory
	File   Scope = "file"   // reading, or generating, the input included
)

// Scopes lists every scope.
func Scopes() []Scope { return []Scope{Kernel, Device, E2E, File} }

// A Setting is what a cell runs under, as far as it makes another cell of it: rows of
// two settings are never averaged, and are divided by each other only where a column
// says so.
type Setting struct {
	Scope   Scope  `json:"scope"`
	Threads int    `json:"threads"`           // at most this many cores
	Devices string `json:"devices,omitempty"` // which accelerators, for what runs on several: "all" or a comma list, "" for no list
	ISA     string `json:"isa,omitempty"`     // the instruction set, of implementations that have several; "" for the best there is, or where there is no choice
	Hot     bool   `json:"hot,omitempty"`     // the caches are left as they are between calls: of a device, of the disk in scope file
	// Options are the method's own, as its About declares them, in that order and those
	// at their default left out: "precision=fp16/fused=4".
	Options string `json:"options,omitempty"`
}

// Cores is how many cores that is: all of the process's where Threads is not set.
func (s Setting) Cores() int {
	if s.Threads < 1 {
		return runtime.GOMAXPROCS(0)
	}
	return s.Threads
}

// Option is the value of one of the options, def where it is at its default.
func (s Setting) Option(key, def string) string {
	for o := range strings.SplitSeq(s.Options, "/") {
		if k, v, ok := strings.Cut(o, "="); ok && k == key {
			return v
		}
	}
	return def
}

// Conditions are what an implementation runs under.
type Conditions struct {
	Setting
	Time   time.Duration // for the whole cell, 0 for no limit
	Memory int64         // bytes of the worker's own memory, 0 for no limit
	Device string        // which accelerator, "" for the first
}

// Allow refuses what takes longer for each answer than is left for one, with a TooLong.
// The sum says how the estimate came about.
func (c Conditions) Allow(estimate time.Duration, sum string, args ...any) error {
	if c.Time == 0 || estimate <= c.Time {
		return nil
	}
	return TooLong{estimate, c.Time, fmt.Sprintf(sum, args...)}
}

// AllowMemory refuses what takes more bytes than a worker may have of its own, with a TooMuch. The
// sum says what takes them.
func (c Conditions) AllowMemory(need int64, sum string, args ...any) error {
	if c.Memory == 0 || need <= c.Memory {
		return nil
	}
	return TooMuch{need, c.Memory, fmt.Sprintf(sum, args...)}
}

// TooMuch is why an implementation refuses what would take more memory than it may.
type TooMuch struct {
	Need, Limit int64
	Sum         string
}

func (e TooMuch) Error() string {
	return fmt.Sprintf("needs %s (%s), the limit is %s", quantity.Bytes(e.Need), e.Sum, quantity.Bytes(e.Limit))
}

// TooLong is why an implementation refuses what would take longer than it may.
type TooLong struct {
	Estimate, Left time.Duration // of one answer
	Sum            string
}

func (e TooLong) Error() string {
	return fmt.Sprintf("needs about %s for each answer (%s), %s is left for one",
		quantity.Duration(e.Estimate), e.Sum, quantity.Duration(e.Left))
}

// About describes an implementation to people.
type About struct {
	Name   string  `json:"name"`
	Where  string  `json:"where"`  // "cpu", "gpu", or "gpus" for several at once
	Method string  `json:"method"` // one line
	Source string  `json:"source"` // the paper and section it follows
	Scopes []Scope `json:"scopes"` // the scopes it can be timed in
	// ISAs are the instruction sets that it can take on this machine, the fastest,
	// which it takes unless told otherwise, first; none where it has no choice.
	ISAs []string `json:"isas,omitempty"`
	// Options are the method's own: each value is a row of its own where a user asks for
	// it, and all that is to be declared of it stands here.
	Options []Option `json:"options,omitempty"`
	// Foreign is the program from outside that answers; nil for our own code. It is never a witness,
	// a ceiling or the best CPU row.
	Foreign *peers.Peer `json:"foreign,omitempty"`
}

// An Option is a choice that a method has beside its input.
type Option struct {
	Key    string   `json:"key"`
	Values []string `json:"values"` // the default first
	Doc    string   `json:"doc"`    // one line
}

// Choose is the Options of a Setting for a choice of values by key, those of the
// default left out; what the method does not have is an error that says what it has.
func (a About) Choose(chosen map[string]string) (string, error) {
	var list []string
	for _, o := range a.Options {
		v, ok := chosen[o.Key]
		switch {
		case !ok || v == o.Values[0]:
		case !slices.Contains(o.Values, v):
			return "", fmt.Errorf("%s: option %s=%s: want one of %s", a.Name, o.Key, v, strings.Join(o.Values, ", "))
		default:
			list = append(list, o.Key+"="+v)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(chosen)) {
		if !slices.ContainsFunc(a.Options, func(o Option) bool { return o.Key == key }) {
			return "", fmt.Errorf("%s has no option %s", a.Name, key)
		}
	}
	return strings.Join(list, "/"), nil
}

// An Implementation answers a workload's question in one way.
type Implementation[In, Out any] interface {
	About() About
	// CanDo returns nil, or why the implementation refuses the input under the
	// conditions, with the sum that says so.
	CanDo(In, Conditions) error
	// Setup binds the implementation to an input and allocates all it needs.
	Setup(In, Conditions) (Job[Out], error)
}

// A Job is one implementation bound to one input. Its methods are called from
// one goroutine.
type Job[Out any] interface {
	// Do does all the work again. It is what is timed.
	Do(*Trace) error
	// Poison overwrites every buffer that Out reads with values no right answer
	// has. It is never timed.
	Poison()
	// Out is the answer of the last Do in canonical form. It is never timed.
	Out() (Out, error)
	// Close frees what Setup allocated.
	Close() error
}

// An Adder is a job that can add up what it answers about several inputs, which are like its
// own but for their size. Begin empties its answer, which is that of all that was added since
// then. None of it is ever timed.
type Adder[In any] interface {
	Begin()
	Add(in In, times int64) error
}

// A Flagged job says what a reader should know beside its numbers. It is never
// timed.
type Flagged interface {
	Flags() []string
}

// A DeviceJob is a Job on a device with a clock and caches of its own. None of
// its methods is ever timed.
type DeviceJob interface {
	// Device describes the device, or the kinds of several, in one line, and UUIDs
	// tells which cards they are, in order.
	Device() string
	UUIDs() []string
	// DeviceMemory is the most bytes that buffers took on the devices together,
	// those of the jobs beside this one included.
	DeviceMemory() int64
	// Flagged gives, beside what holds for the job, what a reader should know of
	// what was measured since the last call: that the device was slowed down, its
	// clock moved, or others used it.
	Flagged
	// Sensors is what the devices' sensors showed when flags were last asked for, a
	// line for each device.
	Sensors() []string
	// Cool leaves nothing of the input in the device's caches.
	Cool() error
	// Elapsed is what the device's own events say the last Do took: its launches
	// with their memsets and reductions, without copies from and to the host. On
	// several devices it is from before the first launch to after the last, by the
	// clock of one of them.
	Elapsed() (time.Duration, error)
}

// A Remote is a Job in another process, which RoundTrip reaches and does nothing there: what a call
// takes beside the work.
type Remote interface {
	RoundTrip() (time.Duration, error)
}

// A Launcher is a Job that counts the kernels that it has launched.
type Launcher interface{ Launches() int64 }

// Poison is the value that jobs fill their buffers of counts with.
const Poison = -0x5a5a5a5a5a5a5a5a
