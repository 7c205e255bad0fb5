/* What fakecuda.c needs of cuda.h, in the same words. With -DWITH_CUDA_H it is
 * checked against the real one. */
#ifdef WITH_CUDA_H
#include <cuda.h>
#else
#include <stddef.h>
typedef int CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef unsigned long long CUtexObject;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUarray_st *CUarray;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct { char bytes[16]; } CUuuid;
typedef int CUdevice_attribute, CUfunction_attribute, CUjit_option, CUmemorytype, CUarray_format, CUresourcetype;
typedef int CUaddress_mode, CUfilter_mode;
typedef struct {
	size_t Width, Height, Depth;
	CUarray_format Format;
	unsigned int NumChannels, Flags;
} CUDA_ARRAY3D_DESCRIPTOR;
typedef struct {
	size_t srcXInBytes, srcY, srcZ, srcLOD;
	CUmemorytype srcMemoryType;
	const void *srcHost;
	CUdeviceptr srcDevice;
	CUarray srcArray;
	void *reserved0;
	size_t srcPitch, srcHeight;
	size_t dstXInBytes, dstY, dstZ, dstLOD;
	CUmemorytype dstMemoryType;
	void *dstHost;
	CUdeviceptr dstDevice;
	CUarray dstArray;
	void *reserved1;
	size_t dstPitch, dstHeight;
	size_t WidthInBytes, Height, Depth;
} CUDA_MEMCPY3D;
typedef struct {
	CUresourcetype resType;
	union {
		struct { CUarray hArray; } array;
		struct { int reserved[32]; } reserved;
	} res;
	unsigned int flags;
} CUDA_RESOURCE_DESC;
typedef struct {
	CUaddress_mode addressMode[3];
	CUfilter_mode filterMode;
	unsigned int flags, maxAnisotropy;
	CUfilter_mode mipmapFilterMode;
	float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
	float borderColor[4];
	int reserved[12];
} CUDA_TEXTURE_DESC;
typedef struct CUDA_RESOURCE_VIEW_DESC_st CUDA_RESOURCE_VIEW_DESC;
#endif
