//go:build cgo

// Package exports is the C library, built by -buildmode=c-shared. It computes the verified Euler
// characteristic curve, Betti numbers, persistence pairs and gradient vector flow of an image in the caller's memory or
// in a file, and the soft curve of an image in memory with its gradients. The Python package uses it.
//
// A request is a JSON object (internal/library.Request), and so is its result. The caller numbers
// its jobs. Voxels must not change until the job is over; only a request to read writes them. All
// other memory may be freed when a call returns. No call prints, ends the process or keeps a thread
// of the caller.
//
//	eccbench_start(job, request, length, voxels, bytes, mask, masked, text, size)   -1, or the result's length if over
//	eccbench_soft(job, request, length, memory, bytes, text, size)                  the same, for soft curves
//	eccbench_wait(job, milliseconds)                          1 if the job is over, else 0
//	eccbench_answer(job, text, size)                          the length of the result, see below
//	eccbench_rows(job, image, levels, bytes, numbers)         1 if the rows of an image were written, see below
//	eccbench_cancel(job)                                      ends the job early
//	eccbench_end(job)                                         frees the job
//	eccbench_version(text, size)                              the length of the version
//
// The memory of eccbench_soft is five pieces, with the sizes of ask.SoftMemory. It reads the voxels,
// and for the gradients also the changes and the numbers; it writes the others.
//
// A text of more than size bytes is not written; the length is the size that it needs.
//
// An answer has "rows" and the type of their "levels", which may differ from that of the image.
// Answers at given values have no levels, so bytes is 0. Rows of persistence pairs have two levels, birth and
// death, and three numbers: the dimension and both voxels, as indices, x fastest; the death of a class that never ends
// is voxel -1. Otherwise bytes must be the size of all levels. The numbers are int64.
package exports

// #include <stdint.h>
import "C"

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"syscall"
	"time"
	"unsafe"

	"eccbench/datasets/element"
	"eccbench/internal/ask"
	"eccbench/internal/grid"
	"eccbench/internal/library"
)

// version is set by the linker.
var version = "development"

var jobs library.Jobs

// A result is the result of a job: its answers, or the error.
type result struct {
	Answers []library.Answer `json:"answers,omitempty"`
	Error   string           `json:"error,omitempty"`
	// of the error: value, finite, levels, missing, denied, system, internal
	Kind string `json:"kind,omitempty"`
}

func failed(err error) result {
	k := result{Error: err.Error(), Kind: "value"}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		k.Kind = "missing"
	case errors.Is(err, fs.ErrPermission):
		k.Kind = "denied"
	case errors.As(err, new(syscall.Errno)):
		k.Kind = "system"
	case errors.As(err, new(*grid.NotFiniteError)):
		k.Kind = "finite"
	case errors.As(err, new(element.LevelsError)):
		k.Kind = "levels"
	case errors.As(err, new(ask.VerdictError)), errors.As(err, new(library.Fault)):
		k.Kind = "internal"
	}
	return k
}

func put(s []byte, text *C.char, size C.int64_t) C.int64_t {
	if int64(len(s)) <= int64(size) && text != nil {
		copy(unsafe.Slice((*byte)(unsafe.Pointer(text)), size), s)
	}
	return C.int64_t(len(s))
}

func putJSON(k result, text *C.char, size C.int64_t) C.int64_t {
	s, err := json.Marshal(k)
	if err != nil {
		s = []byte(`{"error":"internal error: an answer that is no JSON","kind":"internal"}`)
	}
	return put(s, text, size)
}

//export eccbench_start
func eccbench_start(job C.uint64_t, request *C.char, length C.int64_t, voxels unsafe.Pointer, bytes C.int64_t,
	mask unsafe.Pointer, masked C.int64_t, text *C.char, size C.int64_t) C.int64_t {
	var problem error
	in, within := piece[byte]("voxels", voxels, bytes, &problem), piece[byte]("mask", mask, masked, &problem)
	if problem != nil {
		return putJSON(failed(problem), text, size)
	}
	effort := func(r library.Request) library.Effort { return r.Effort(len(in), len(within) > 0) }
	return start(job, request, length, text, size, effort,
		func(ctx context.Context, r library.Request) ([]library.Answer, error) {
			return library.Answers(ctx, r, in, within)
		})
}

//export eccbench_soft
func eccbench_soft(job C.uint64_t, request *C.char, length C.int64_t, memory *unsafe.Pointer, bytes *C.int64_t,
	text *C.char, size C.int64_t) C.int64_t {
	const pieces = 5
	if memory == nil || bytes == nil {
		return putJSON(failed(errors.New("memory or bytes is NULL: want five pieces and their sizes")), text, size)
	}
	at, sizes := unsafe.Slice(memory, pieces), unsafe.Slice(bytes, pieces)
	var problem error
	m := ask.SoftMemory{
		Voxels:     piece[byte]("voxels", at[0], sizes[0], &problem),
		Changes:    piece[byte]("changes", at[1], sizes[1], &problem),
		Numbers:    piece[float64]("numbers", at[2], sizes[2], &problem),
		Gradient:   piece[byte]("gradient", at[3], sizes[3], &problem),
		Parameters: piece[float64]("parameters", at[4], sizes[4], &problem),
	}
	if problem != nil {
		return putJSON(failed(problem), text, size)
	}
	effort := func(r ask.Soft) library.Effort {
		return library.Effort{Threads: r.Threads, Brief: r.Brief(), Bounded: true}
	}
	return start(job, request, length, text, size, effort,
		func(ctx context.Context, r ask.Soft) ([]library.Answer, error) { return nil, r.Answer(ctx, m) })
}

// piece returns a part of the caller's memory as a slice. It sets problem if there is no such part.
func piece[T byte | float64](name string, at unsafe.Pointer, bytes C.int64_t, problem *error) []T {
	n := int64(bytes) / int64(unsafe.Sizeof(T(0)))
	switch {
	case n < 0:
		*problem = fmt.Errorf("%s: %d bytes", name, bytes)
	case n > 0 && at == nil:
		*problem = fmt.Errorf("%s is NULL: want a pointer to %d bytes", name, bytes)
	case at != nil:
		return unsafe.Slice((*T)(at), n)
	}
	return nil
}

// start begins to answer a request.
func start[R any](job C.uint64_t, request *C.char, length C.int64_t, text *C.char, size C.int64_t,
	effort func(R) library.Effort, answer func(context.Context, R) ([]library.Answer, error)) C.int64_t {
	var r R
	var err error
	written := piece[byte]("request", unsafe.Pointer(request), length, &err)
	if err == nil {
		err = json.Unmarshal(written, &r)
	}
	if err == nil {
		e := effort(r)
		err = jobs.Start(uint64(job), e, func(ctx context.Context) ([]library.Answer, error) { return answer(ctx, r) })
		if err == nil && e.Brief {
			return eccbench_answer(job, text, size)
		}
	}
	if err != nil {
		return putJSON(failed(err), text, size)
	}
	return -1
}

//export eccbench_wait
func eccbench_wait(job C.uint64_t, milliseconds C.int64_t) C.int32_t {
	longest := C.int64_t(math.MaxInt64 / time.Millisecond)
	if jobs.Wait(uint64(job), time.Duration(min(max(milliseconds, 0), longest))*time.Millisecond) {
		return 1
	}
	return 0
}

//export eccbench_answer
func eccbench_answer(job C.uint64_t, text *C.char, size C.int64_t) C.int64_t {
	answers, err := jobs.Answers(uint64(job))
	if err != nil {
		return putJSON(failed(err), text, size)
	}
	return putJSON(result{Answers: answers}, text, size)
}

//export eccbench_rows
func eccbench_rows(job C.uint64_t, image C.int64_t, levels unsafe.Pointer, bytes C.int64_t,
	numbers *C.int64_t) C.int32_t {
	answers, err := jobs.Answers(uint64(job))
	if err != nil || image < 0 || int(image) >= len(answers) {
		return 0
	}
	a := answers[image]
	into := piece[byte]("levels", levels, bytes, &err)
	if n := a.Numbers(); err == nil && (n == 0 || numbers != nil) &&
		a.Fill(into, unsafe.Slice((*int64)(unsafe.Pointer(numbers)), n)) == nil {
		return 1
	}
	return 0
}

//export eccbench_cancel
func eccbench_cancel(job C.uint64_t) { jobs.Cancel(uint64(job)) }

//export eccbench_end
func eccbench_end(job C.uint64_t) { jobs.End(uint64(job)) }

//export eccbench_version
func eccbench_version(text *C.char, size C.int64_t) C.int64_t {
	return put([]byte(version), text, size)
}
