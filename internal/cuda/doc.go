// Package cuda drives NVIDIA devices through the CUDA driver API, and reads their sensors through
// NVML, behind the interfaces of internal/device. Both libraries are opened on demand, so one
// program, built without cgo, runs on machines with and without them.
//
// A context is current to a thread, and Go moves goroutines between threads. So every open device
// has a goroutine of its own, locked to one thread with the device's context, which makes, frees
// and describes objects (see thread). Frequent calls run on the caller's thread with the context
// pushed meanwhile, in turn with that thread: calls that add to streams, query or time them, and
// all calls within Device.Do (see visit). Calls that wait for the device run there too, but stop
// nobody else's calls.
//
// Go memory whose address a call takes is on the heap, which does not move, and is kept alive until
// the call returns (go:uintptrescapes). Memory that the driver reads later, or finds through
// another pointer, is pinned, and so are the arguments of frequent calls, which allocate nothing.
package cuda
