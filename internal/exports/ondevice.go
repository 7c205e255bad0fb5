//go:build cgo && linux

package exports

// #include <stdint.h>
import "C"

import (
	"encoding/json"
	"errors"
	"sync"
	"unsafe"

	"eccbench/internal/cuda"
	"eccbench/internal/device"
	"eccbench/internal/library"
	"eccbench/internal/library/ondevice"
	"eccbench/internal/resident"
)

// Requests about images in the memory of a device need no jobs and run on the caller's thread. Only
// eccbench_device_plan and eccbench_device_verify wait for the device; eccbench_device_add may be
// called repeatedly.
//
//	eccbench_device_plan(request, length, text, size)                            the length of the description or error
//	eccbench_device_add(plan, images, image, answer, memory, stream, text, size) -1, or the length of an error
//	eccbench_device_verify(plan, images, image, curve, stream, text, size)       the same, for curves; it waits
//	eccbench_device_soft(plan, backward, memory, stream, text, size)             the same, for soft curves
//	eccbench_device_launch(program, addresses, stream)                           0 if a program of a plan was launched
//	eccbench_device_close(plan)                                                  frees the plan once nothing uses it
//
// A request is internal/library/ondevice.Request. Addresses are in the device's memory; the memory of
// soft curves is the twelve addresses of ondevice.SoftCall. The stream is the driver's handle in the
// device's primary context. eccbench_device_launch is C, because a thread that enters Go can take as long as
// several launches. If it fails, or another context is current, eccbench_device_soft does the same.
var plans = ondevice.Plans{Open: resident.OpenOnce(sync.OnceValues(func() (device.Driver, error) {
	d, err := cuda.Load()
	if err != nil {
		return nil, err
	}
	return d, nil
}))}

func deviceFailed(err error) result {
	k := failed(err)
	if errors.As(err, new(ondevice.Wrong)) {
		k.Kind = "internal"
	}
	if device.IsUnavailable(err) || device.IsSticky(err) || device.IsOutOfMemory(err) {
		k.Kind = "device"
	}
	return k
}

//export eccbench_device_plan
func eccbench_device_plan(request *C.char, length C.int64_t, text *C.char, size C.int64_t) C.int64_t {
	plan, err := library.Caught(func() (*ondevice.Plan, error) {
		var r ondevice.Request
		if err := json.Unmarshal(unsafe.Slice((*byte)(unsafe.Pointer(request)), length), &r); err != nil {
			return nil, err
		}
		return plans.Make(r)
	})
	if err != nil {
		return putJSON(deviceFailed(err), text, size)
	}
	s, err := json.Marshal(plan)
	if err != nil {
		return putJSON(failed(err), text, size)
	}
	return put(s, text, size)
}

//export eccbench_device_add
func eccbench_device_add(plan C.uint64_t, images C.int64_t, image, answer, memory, stream C.uint64_t, text *C.char,
	size C.int64_t) C.int64_t {
	_, err := library.Caught(func() (struct{}, error) {
		return struct{}{}, plans.Add(uint64(plan), int64(images),
			ondevice.Call{Image: uint64(image), Answer: uint64(answer), Memory: uint64(memory), Stream: uint64(stream)})
	})
	if err != nil {
		return putJSON(deviceFailed(err), text, size)
	}
	return -1
}

//export eccbench_device_verify
func eccbench_device_verify(plan C.uint64_t, images C.int64_t, image, curve, stream C.uint64_t, text *C.char,
	size C.int64_t) C.int64_t {
	_, err := library.Caught(func() (struct{}, error) {
		return struct{}{}, plans.Verify(uint64(plan), int64(images),
			ondevice.Call{Image: uint64(image), Answer: uint64(curve), Stream: uint64(stream)})
	})
	if err != nil {
		return putJSON(deviceFailed(err), text, size)
	}
	return -1
}

//export eccbench_device_soft
func eccbench_device_soft(
	plan C.uint64_t, backward C.int32_t, memory *C.uint64_t, stream C.uint64_t, text *C.char, size C.int64_t,
) C.int64_t {
	_, err := library.Caught(func() (struct{}, error) {
		call := *(*ondevice.SoftCall)(unsafe.Pointer(memory))
		return struct{}{}, plans.AddSoft(uint64(plan), backward != 0, call, uint64(stream))
	})
	if err != nil {
		return putJSON(deviceFailed(err), text, size)
	}
	return -1
}

//export eccbench_device_close
func eccbench_device_close(plan C.uint64_t) {
	_, _ = library.Caught(func() (struct{}, error) { return struct{}{}, plans.Close(uint64(plan)) })
}
