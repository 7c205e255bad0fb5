// Package cuda drives NVIDIA devices through the CUDA driver API, and reads
// their sensors through NVML, behind the interfaces of internal/device. Both
// libraries are opened when they are asked for, so one program, built without
// cgo, runs on machines with and without them.
//
// A context is current to a thread, and Go moves goroutines between threads. So
// every open device has a goroutine of its own, locked to one thread that has
// the device's context, and every call is run there (see thread). Two kinds of
// call are not, and run on the caller's thread, with the context pushed for as long:
// what waits for the device, which would stop everybody else's calls; and what is
// called within Device.Do, which others' calls wait for.
//
// Go memory whose address a call takes is on the heap, which does not move, and
// is kept alive until the call returns (go:uintptrescapes). What the driver
// reads after that, or finds through another pointer, is pinned.
package cuda
