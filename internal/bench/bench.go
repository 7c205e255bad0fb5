// Package bench defines the contract between the runner and the implementations. A Workload is one
// question for several implementations, an Implementation answers it with one method, a Job is an
// implementation bound to one input, and a Record is one line of a results file. The package knows
// no particular question: internal/workloads defines those, and internal/runner measures them.
package bench

import (
	"errors"
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
	// Reference names the implementation that follows the definition. Its answers are witnesses for
	// the others, wherever its estimated cost is affordable.
	Reference string
	Policy    verify.Policy[In, Out]
	// Encode writes an answer; equal answers give equal bytes. Decode is its inverse. The bytes
	// given to Decode stay valid and unmodified while the answer is in use. Encode writes to a
	// stream because an answer may be too large for a second copy in memory.
	Encode func(io.Writer, Out) error
	Decode func([]byte) (Out, error)
}

// A Question describes a workload to users and to commands.
type Question struct {
	Doc string // one line
	// Form is the syntax of input names that are built from an image name. It is zero if the images
	// themselves are the inputs.
	Form name.Form
	// Named returns the canonical name for a name or file path that a user gave. It is nil if the
	// inputs are images. Kinds lists the kinds of such inputs.
	Named func(string) (string, error)
	Kinds []Kind
	// Adversarial lists inputs that tend to break implementations, and Long lists large ones. Small
	// lists a few inputs on which programs can be compared within minutes.
	Adversarial, Long, Small []string
	// Ceiling returns the name of the workload that only reads the same bytes, for a scope. It is
	// nil if memory speed does not bound the workload.
	Ceiling func(Scope) string
	// Reads returns the input of the ceiling workload that moves the same bytes, in the same
	// memory, as the given input. It is nil if that is the input itself.
	Reads func(input string) string
}

// OfImages reports whether the inputs are plain images.
func (q Question) OfImages() bool { return q.Form.Kind == "" && q.Named == nil }

// A Kind is one kind of input that a name can describe.
type Kind struct {
	Name    string `json:"name"`
	Doc     string `json:"doc"`     // one line
	Example string `json:"example"` // a whole name
}

// Small makes an Encode for answers that fit in memory as bytes.
func Small[Out any](encode func(Out) []byte) func(io.Writer, Out) error {
	return func(w io.Writer, out Out) error {
		_, err := w.Write(encode(out))
		return err
	}
}

// Inputs makes the inputs of a workload from their names.
type Inputs[In any] interface {
	// Open makes the input with the given name. The caller closes it if it is an io.Closer.
	Open(name string) (In, error)
	// Variants names up to n different inputs of equal cost, the given one first.
	Variants(name string, n int) ([]string, error)
	// Smaller names similar inputs of lower cost, the smallest first, or none.
	Smaller(name string) []string
	// Cost returns the size of the named input, in the units of speed.
	Cost(name string, in In) Cost
	// Size returns an upper bound of the bytes that Share writes, header included.
	Size(In) int64
	// Share writes the whole input to a file from offset 0 and truncates the file after it. Attach
	// makes the input from the mapped bytes, which stay valid and unmodified while it is in use.
	Share(In, *os.File) error
	Attach(mapped []byte) (In, error)
}

// Housed is implemented by Inputs that can attach to the writable mapping of a file, so that calls
// can edit it.
type Housed[In any] interface {
	AttachIn(home *os.File, mapped []byte) (In, error)
}

// Repeating is implemented by Inputs that contain periodic data, so that Share can write one period
// only. Extent returns the offset at which the period starts and the size that Attach expects: the
// mapping repeats the bytes from that offset on. A size of 0 means no repetition. The offset, and
// the end of the written bytes, are multiples of a page.
type Repeating[In any] interface {
	Extent(In) (from, size int64, err error)
}

// Sketched is implemented by Inputs that know the size of some inputs before they make them. Sketch
// returns an input with the right size and no data, or false. It serves Cost, Size, and CanDo of
// implementations on the host.
type Sketched[In any] interface{ Sketch(name string) (In, bool) }

// Stored is implemented by Inputs that read some inputs from files. Files lists the files of a
// named input, and is empty for generated inputs.
type Stored interface{ Files(name string) []string }

// Seeded is implemented by Inputs with generated data. Reseed names an input that differs only in
// the seed of its random numbers, or returns "" for an input without.
type Seeded interface {
	Reseed(name string, seed uint64) string
}

// A Cooler is an input that a job reads from storage. Cool is never timed.
type Cooler interface {
	// Cool evicts the input from the host's caches, and reports whether the storage allows that.
	Cool() (cold bool, err error)
}

// A Holder is an input that can stay in memory in every scope: no part of it is generated or read
// while the clock runs.
type Holder interface{ InMemory() bool }

// A Cost is the size of an input in the units of the reported speed.
type Cost struct {
	Items int64  `json:"items"` // such as voxels
	Unit  string `json:"unit"`  // the unit of speed is Unit/s: "vox"
	Bytes int64  `json:"bytes"` // one read of the input
	Class string `json:"class"` // key=value/key=value…: the properties that inputs of different size or seed share
	Size  string `json:"size"`  // the size in the usual notation, such as 512x512x512
}

// A Scope is the work that the clock of a sample covers. Ratios never mix scopes.
type Scope string

// The scopes, from the narrowest to the widest.
const (
	Kernel Scope = "kernel" // device events around the launches, memsets and reductions included
	Device Scope = "device" // wall clock around a call with the input resident and the answer back on the host
	E2E    Scope = "e2e"    // input in host memory, answer in host memory
	File   Scope = "file"   // E2E plus reading or generating the input
)

// Scopes lists every scope.
func Scopes() []Scope { return []Scope{Kernel, Device, E2E, File} }

// A Setting is the part of a cell's conditions that distinguishes rows. Samples under two settings
// are never averaged, and ratios between settings appear only in columns that name both.
type Setting struct {
	Scope   Scope  `json:"scope"`
	Threads int    `json:"threads"`           // an upper limit on cores
	Devices string `json:"devices,omitempty"` // "all" or a comma list, for a multi-device implementation
	ISA     string `json:"isa,omitempty"`     // instruction set; "" for the best one, or for no choice
	Hot     bool   `json:"hot,omitempty"`     // caches (of the device; of the disk in scope file) stay warm
	// Options lists the method's own options in the order of About, without defaults:
	// "precision=fp16/fused=4".
	Options string `json:"options,omitempty"`
}

// Cores returns the number of cores that the setting allows: Threads, or all cores of the process.
func (s Setting) Cores() int {
	if s.Threads < 1 {
		return runtime.GOMAXPROCS(0)
	}
	return s.Threads
}

// Option returns the value of a method option, or def if the setting leaves it at its default.
func (s Setting) Option(key, def string) string {
	for o := range strings.SplitSeq(s.Options, "/") {
		if k, v, ok := strings.Cut(o, "="); ok && k == key {
			return v
		}
	}
	return def
}

// Conditions are a Setting with the limits under which an implementation runs.
type Conditions struct {
	Setting
	Time   time.Duration // for the whole cell; 0 means no limit
	Memory int64         // bytes of the worker's own memory; 0 means no limit
	Device string        // the accelerator; "" means the first
	// Once is for a single answer, or for callers that skip an input if a call refuses it. CanDo may then leave to Do a
	// test that costs as much as an answer; Do returns a Refusal, or TooMuch.
	Once bool
}

// Allow returns a TooLong error if one answer is estimated to take longer than the limit. The sum
// explains the estimate.
func (c Conditions) Allow(estimate time.Duration, sum string, args ...any) error {
	if c.Time == 0 || estimate <= c.Time {
		return nil
	}
	return TooLong{estimate, c.Time, fmt.Sprintf(sum, args...)}
}

// AllowMemory returns a TooMuch error if a worker needs more bytes of its own than the limit. The
// sum explains the need.
func (c Conditions) AllowMemory(need int64, sum string, args ...any) error {
	if c.Memory == 0 || need <= c.Memory {
		return nil
	}
	return TooMuch{need, c.Memory, fmt.Sprintf(sum, args...)}
}

// TooMuch is the error for an input that needs more memory than the limit.
type TooMuch struct {
	Need, Limit int64
	Sum         string
}

func (e TooMuch) Error() string {
	return fmt.Sprintf("needs %s (%s), the limit is %s", quantity.Bytes(e.Need), e.Sum, quantity.Bytes(e.Limit))
}

// TooLong is the error for an input that is estimated to take longer than the limit.
type TooLong struct {
	Estimate, Left time.Duration // of one answer
	Sum            string
}

func (e TooLong) Error() string {
	return fmt.Sprintf("estimated %s per answer (%s); the limit is %s",
		quantity.Duration(e.Estimate), e.Sum, quantity.Duration(e.Left))
}

// About describes an implementation to users.
type About struct {
	Name   string  `json:"name"`
	Where  string  `json:"where"`  // "cpu", "gpu", or "gpus" for several at once
	Method string  `json:"method"` // one line
	Source string  `json:"source"` // the paper and section that describe the method
	Scopes []Scope `json:"scopes"` // the scopes that it supports
	// ISAs lists the instruction sets available on this machine, the fastest first, which is the
	// default. It is empty if there is no choice.
	ISAs []string `json:"isas,omitempty"`
	// Options declares the method's own options. Each value that a user requests is a row.
	Options []Option `json:"options,omitempty"`
	// Foreign is the external program that computes the answer, or nil for our own code. Such a row
	// is never a witness, a ceiling or the best CPU row.
	Foreign *peers.Peer `json:"foreign,omitempty"`
}

// OnHost describes an implementation on the processor. Its scopes are E2E and File unless others are given.
func OnHost(name, method, source string, scopes ...Scope) About {
	if len(scopes) == 0 {
		scopes = []Scope{E2E, File}
	}
	return About{Name: name, Where: "cpu", Method: method, Source: source, Scopes: scopes}
}

// OnDevice describes an implementation on a device. It has all scopes unless others are given.
func OnDevice(name, method, source string, scopes ...Scope) About {
	if len(scopes) == 0 {
		scopes = Scopes()
	}
	return About{Name: name, Where: "gpu", Method: method, Source: source, Scopes: scopes}
}

// WithFault returns the description of a method with a defect that a test planted, or a itself for "".
func (a About) WithFault(fault string) About {
	if fault != "" {
		a.Method += "; planted fault: " + fault
	}
	return a
}

// An Option is a choice that a method offers in addition to its input.
type Option struct {
	Key    string   `json:"key"`
	Values []string `json:"values"` // the default first
	Doc    string   `json:"doc"`    // one line
}

// Choose formats chosen values as the Options of a Setting, without defaults. An unknown option or
// value is an error that lists the valid ones.
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

// An Implementation answers a workload's question with one method.
type Implementation[In, Out any] interface {
	About() About
	// CanDo returns nil, or the reason to reject the input under the conditions, with the estimate.
	CanDo(In, Conditions) error
	// Setup binds the implementation to an input and allocates all memory that it needs.
	Setup(In, Conditions) (Job[Out], error)
}

// NameOfFirst returns the name of the first implementation, or "" for none.
func NameOfFirst[In, Out any](impls []Implementation[In, Out]) string {
	if len(impls) == 0 {
		return ""
	}
	return impls[0].About().Name
}

// A Job is an implementation bound to one input. One goroutine calls its methods.
type Job[Out any] interface {
	// Do computes the answer from scratch. Only Do is timed.
	Do(*Trace) error
	// Poison overwrites every buffer that Out reads with values that no right answer contains.
	Poison()
	// Out returns the answer of the last Do in canonical form.
	Out() (Out, error)
	// Close frees what Setup allocated.
	Close() error
}

// Ready returns a job that Setup has made. After an error, it closes the job instead.
func Ready[Out any](j Job[Out], err error) (Job[Out], error) {
	if err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return j, nil
}

// PoisonEach sets all numbers of a list to Poison.
func PoisonEach(list []int64) {
	for i := range list {
		list[i] = Poison
	}
}

// An Output is the part of a job that keeps its last answer in Go's memory. Embed it in a job for its
// Poison, Out and Close.
type Output[Out any] struct{ Last, poison Out }

// PoisonedBy returns an output whose Poison sets a value that no right answer has.
func PoisonedBy[Out any](poison Out) Output[Out] { return Output[Out]{poison, poison} }

// Poison replaces the last answer.
func (o *Output[Out]) Poison() { o.Last = o.poison }

// Out returns the last answer.
func (o *Output[Out]) Out() (Out, error) { return o.Last, nil }

// Close does nothing.
func (o *Output[Out]) Close() error { return nil }

// An Adder is a job that sums its answers over several inputs, which may differ from its own input
// only in size. Begin resets the sum, and Add adds the answer of an input, times a factor. Neither
// is ever timed.
type Adder[In any] interface {
	Begin()
	Add(in In, times int64) error
}

// A Flagged job reports remarks that belong next to its figures. It is never timed.
type Flagged interface {
	Flags() []string
}

// A DeviceJob is a Job on a device that has its own clock and caches. Only Do is timed.
type DeviceJob interface {
	// Device describes the device, or the kinds of several, in one line. UUIDs identifies the
	// cards, in order.
	Device() string
	UUIDs() []string
	// DeviceMemory returns the peak of allocated bytes over all devices, other jobs of the process
	// included.
	DeviceMemory() int64
	// Flagged also reports events since the last call: throttling, a change of the clock rate, or
	// other users of the device.
	Flagged
	// Sensors returns the readings at the last call of Flags, one line per device.
	Sensors() []string
	// Cool evicts the input from the device's caches.
	Cool() error
	// Elapsed returns the time of the last Do by device events: launches, memsets and reductions,
	// without copies from and to the host. With several devices it spans the first launch to the
	// last end, by the clock of one device.
	Elapsed() (time.Duration, error)
}

// Reported are the times of one call by the clock of the process that computed it. Poison includes all
// work before Do.
type Reported struct{ Poison, Do, Out time.Duration }

// Allocated returns the least number of heap bytes that one of some calls of a job allocates, because
// the runtime itself allocates now and then.
func Allocated[Out any](job Job[Out], calls int) (least int64, err error) {
	var before, after runtime.MemStats
	for n := range calls {
		job.Poison() // as before each timed call
		runtime.ReadMemStats(&before)
		if err := job.Do(nil); err != nil {
			return 0, err
		}
		runtime.ReadMemStats(&after)
		if allocated := int64(after.TotalAlloc - before.TotalAlloc); n == 0 || allocated < least {
			least = allocated
		}
	}
	return least, nil
}

// A Remote is a Job in another process.
type Remote interface {
	// RoundTrip returns the time of a command that does no work there, measured between the last calls: the
	// overhead that is not part of the answer.
	RoundTrip() time.Duration
	// Reported returns the times of the last call, the mean of a burst, by the clock of the process. It returns
	// false unless that is one of this program, which also answers Allocated: the least number of heap bytes
	// that one of some untimed calls allocates.
	Reported() (Reported, bool)
	Allocated(calls int) (int64, error)
}

// A Bursting job can be called together with other jobs of its process, by one command. Each call must be
// about an input of its own.
type Bursting interface {
	Bursts() bool
	// Burst is Do for all jobs, this one among them.
	Burst(all []Bursting) error
}

// A Renewable is a Job that takes another input, for the same question and of the same size, if it Renews.
type Renewable[In any] interface {
	Renews() bool
	Renew(In) error
}

// A Launcher is a Job that counts its kernel launches.
type Launcher interface{ Launches() int64 }

// Poison is the value that fills buffers of counts.
const Poison = -0x5a5a5a5a5a5a5a5a
