// Package cuda drives NVIDIA devices through the CUDA driver API, and reads
// their sensors through NVML, behind the interfaces of internal/device. Both
// libraries are opened when they are asked for, so one program, built without
// cgo, runs on machines with and without them.
//
// A context is current to a thread, and Go moves goroutines between threads. So
// every open device has a goroutine of its own, locked to one thread that has
// the device's context, and what makes, frees and describes objects is run there
// (see thread). What is done again and again runs on the caller's thread, with the
// context pushed for as long, in place of that thread and in turn with it: what adds
// to streams, asks or times them, and all that is called within Device.Do (see
// visit). What waits for the device runs there too, but stops nobody else's calls.
//
// Go memory whose address a call takes is on the heap, which does not move, and
// is kept alive until the call returns (go:uintptrescapes). What the driver
// reads after that, or finds through another pointer, is pinned, and so are the
// arguments of what is done again and again, which allocates nothing.
package cuda
