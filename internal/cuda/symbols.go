package cuda

import (
	"cmp"
	"os"
	"unsafe"
)

// A symbol is a function of the driver.
type symbol uint8

const (
	cuDriverGetVersion symbol = iota
	cuGetErrorName
	cuGetErrorString
	cuInit
	cuDeviceGetCount
	cuDeviceGet
	cuDeviceGetName
	cuDeviceGetUuid
	cuDeviceGetPCIBusId
	cuDeviceTotalMem
	cuDeviceGetAttribute
	cuDevicePrimaryCtxRetain
	cuDevicePrimaryCtxRelease
	cuCtxSetCurrent
	cuCtxPushCurrent
	cuCtxPopCurrent
	cuCtxGetCurrent
	cuCtxResetPersistingL2Cache
	cuMemGetInfo
	cuMemAlloc
	cuMemFree
	cuMemHostAlloc
	cuMemFreeHost
	cuMemHostRegister
	cuMemHostUnregister
	cuMemcpyHtoDAsync
	cuMemcpyDtoHAsync
	cuMemcpyDtoDAsync
	cuMemcpy3DAsync
	cuMemsetD8Async
	cuMemsetD32Async
	cuArray3DCreate
	cuArrayDestroy
	cuTexObjectCreate
	cuTexObjectDestroy
	cuModuleLoadDataEx
	cuModuleUnload
	cuModuleGetFunction
	cuFuncGetAttribute
	cuFuncSetAttribute
	cuFuncGetParamInfo
	cuOccupancyMaxActiveBlocksPerMultiprocessor
	cuLaunchKernel
	cuStreamCreate
	cuStreamDestroy
	cuStreamSynchronize
	cuStreamQuery
	cuStreamWaitEvent
	cuEventCreate
	cuEventDestroy
	cuEventRecord
	cuEventSynchronize
	cuEventQuery
	cuEventElapsedTime
	symbolCount
)

// symbols are the names of the functions in the library; the first that exists is called. A
// function without its suffix may take other arguments than in the headers, so suffixes are never
// omitted.
var symbols = [symbolCount]struct {
	names    []string
	optional bool // it can be done without
}{
	cuDriverGetVersion:          {names: []string{"cuDriverGetVersion"}},
	cuGetErrorName:              {names: []string{"cuGetErrorName"}},
	cuGetErrorString:            {names: []string{"cuGetErrorString"}},
	cuInit:                      {names: []string{"cuInit"}},
	cuDeviceGetCount:            {names: []string{"cuDeviceGetCount"}},
	cuDeviceGet:                 {names: []string{"cuDeviceGet"}},
	cuDeviceGetName:             {names: []string{"cuDeviceGetName"}},
	cuDeviceGetUuid:             {names: []string{"cuDeviceGetUuid_v2"}},
	cuDeviceGetPCIBusId:         {names: []string{"cuDeviceGetPCIBusId"}},
	cuDeviceTotalMem:            {names: []string{"cuDeviceTotalMem_v2"}},
	cuDeviceGetAttribute:        {names: []string{"cuDeviceGetAttribute"}},
	cuDevicePrimaryCtxRetain:    {names: []string{"cuDevicePrimaryCtxRetain"}},
	cuDevicePrimaryCtxRelease:   {names: []string{"cuDevicePrimaryCtxRelease_v2"}},
	cuCtxSetCurrent:             {names: []string{"cuCtxSetCurrent"}},
	cuCtxPushCurrent:            {names: []string{"cuCtxPushCurrent_v2"}},
	cuCtxPopCurrent:             {names: []string{"cuCtxPopCurrent_v2"}},
	cuCtxGetCurrent:             {names: []string{"cuCtxGetCurrent"}},
	cuCtxResetPersistingL2Cache: {names: []string{"cuCtxResetPersistingL2Cache"}},
	cuMemGetInfo:                {names: []string{"cuMemGetInfo_v2"}},
	cuMemAlloc:                  {names: []string{"cuMemAlloc_v2"}},
	cuMemFree:                   {names: []string{"cuMemFree_v2"}},
	cuMemHostAlloc:              {names: []string{"cuMemHostAlloc"}},
	cuMemFreeHost:               {names: []string{"cuMemFreeHost"}},
	cuMemHostRegister:           {names: []string{"cuMemHostRegister_v2"}},
	cuMemHostUnregister:         {names: []string{"cuMemHostUnregister"}},
	cuMemcpyHtoDAsync:           {names: []string{"cuMemcpyHtoDAsync_v2"}},
	cuMemcpyDtoHAsync:           {names: []string{"cuMemcpyDtoHAsync_v2"}},
	cuMemcpyDtoDAsync:           {names: []string{"cuMemcpyDtoDAsync_v2"}},
	cuMemcpy3DAsync:             {names: []string{"cuMemcpy3DAsync_v2"}},
	cuMemsetD8Async:             {names: []string{"cuMemsetD8Async"}},
	cuMemsetD32Async:            {names: []string{"cuMemsetD32Async"}},
	cuArray3DCreate:             {names: []string{"cuArray3DCreate_v2"}},
	cuArrayDestroy:              {names: []string{"cuArrayDestroy"}},
	cuTexObjectCreate:           {names: []string{"cuTexObjectCreate"}},
	cuTexObjectDestroy:          {names: []string{"cuTexObjectDestroy"}},
	cuModuleLoadDataEx:          {names: []string{"cuModuleLoadDataEx"}},
	cuModuleUnload:              {names: []string{"cuModuleUnload"}},
	cuModuleGetFunction:         {names: []string{"cuModuleGetFunction"}},
	cuFuncGetAttribute:          {names: []string{"cuFuncGetAttribute"}},
	cuFuncSetAttribute:          {names: []string{"cuFuncSetAttribute"}},
	// Since CUDA 12.4. Without it arguments are not checked.
	cuFuncGetParamInfo:                          {names: []string{"cuFuncGetParamInfo"}, optional: true},
	cuOccupancyMaxActiveBlocksPerMultiprocessor: {names: []string{"cuOccupancyMaxActiveBlocksPerMultiprocessor"}},
	cuLaunchKernel:                              {names: []string{"cuLaunchKernel"}},
	cuStreamCreate:                              {names: []string{"cuStreamCreate"}},
	cuStreamDestroy:                             {names: []string{"cuStreamDestroy_v2"}},
	cuStreamSynchronize:                         {names: []string{"cuStreamSynchronize"}},
	cuStreamQuery:                               {names: []string{"cuStreamQuery"}},
	cuStreamWaitEvent:                           {names: []string{"cuStreamWaitEvent"}},
	cuEventCreate:                               {names: []string{"cuEventCreate"}},
	cuEventDestroy:                              {names: []string{"cuEventDestroy_v2"}},
	cuEventRecord:                               {names: []string{"cuEventRecord"}},
	cuEventSynchronize:                          {names: []string{"cuEventSynchronize"}},
	cuEventQuery:                                {names: []string{"cuEventQuery"}},
	// The second is more exact, since CUDA 12.8.
	cuEventElapsedTime: {names: []string{"cuEventElapsedTime_v2", "cuEventElapsedTime"}},
}

// A library is the driver's functions.
type library struct {
	path  string
	fn    [symbolCount]uintptr
	name  [symbolCount]string // that were found
	looks int                 // queries of a stream before a thread waits
}

// libraryPath returns the path of a library: the environment variable, or its name for the system's
// search.
func libraryPath(env, name string) string { return cmp.Or(os.Getenv(env), name) }

// find looks up functions in an open library.
func (l *library) find(handle uintptr, first, last symbol) (missing string) {
	for s := first; s <= last; s++ {
		for _, name := range symbols[s].names {
			if l.fn[s] = lookup(handle, name); l.fn[s] != 0 {
				l.name[s] = name
				break
			}
		}
		if l.fn[s] == 0 && !symbols[s].optional && missing == "" {
			missing = symbols[s].names[0]
		}
	}
	return missing
}

func (l *library) has(s symbol) bool { return l.fn[s] != 0 }

// call calls a function that is there and returns its code, 0 for success.
//
//go:uintptrescapes
func (l *library) call(s symbol, args ...uintptr) int {
	return int(int32(invoke(l.fn[s], args...)))
}

// cstring is the text at a C string, which lives as long as its library.
func cstring(p *byte) string {
	if p == nil {
		return ""
	}
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(p, n))
}
