/* A stand-in for libcuda: its device memory is memory of the host, its kernels
 * are C functions, and it does what a test asks to go wrong.
 *
 * Work in streams is done late, in the order in which it was added, when
 * somebody waits for it: whoever forgets to wait sees what was there before, and
 * whoever lets go of memory too early is read from after it was let go. Calls
 * check that the context is current, and count what lives. */
#include "fakestate.h"

CUresult cuDriverGetVersion(int *v) { BEGIN(0); *v = (int)version; END(0); }

static const struct { int code; const char *name, *text; } texts[] = {
	{0, "CUDA_SUCCESS", "no error"}, {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"}, {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
	{100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"}, {201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
	{200, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"}, {209, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device"},
	{218, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"}, {400, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
	{500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"}, {600, "CUDA_ERROR_NOT_READY", "device not ready"},
	{700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"}, {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
	{719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"}, {999, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

static CUresult text(int code, const char **s, int name) {
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (texts[i].code == (int)code) { *s = name ? texts[i].name : texts[i].text; return 0; }
	*s = NULL;
	return 1;
}
CUresult cuGetErrorName(CUresult code, const char **s) { return text(code, s, 1); }
CUresult cuGetErrorString(CUresult code, const char **s) { return text(code, s, 0); }

CUresult cuInit(unsigned int flags) { BEGIN(0); CHECK(flags == 0, 1); CHECK(devices > 0, 100); END(0); }
CUresult cuDeviceGetCount(int *n) { BEGIN(0); *n = (int)devices; END(0); }
CUresult cuDeviceGet(CUdevice *d, int i) { BEGIN(0); CHECK(i >= 0 && i < devices, 101); *d = i; END(0); }
CUresult cuDeviceGetName(char *s, int n, CUdevice d) { BEGIN(0); snprintf(s, n, "Fake GPU %c", 'A' + d); END(0); }
CUresult cuDeviceGetPCIBusId(char *s, int n, CUdevice d) { BEGIN(0); snprintf(s, n, "0000:%02X:00.0", 0x3b + d); END(0); }
CUresult cuDeviceTotalMem_v2(size_t *n, CUdevice d) { (void)d; BEGIN(0); *n = memory; END(0); }
CUresult cuDeviceGetUuid_v2(CUuuid *u, CUdevice d) {
	BEGIN(0);
	for (int i = 0; i < 16; i++) u->bytes[i] = (char)(i * 17 + d);
	END(0);
}
CUresult cuDeviceGetAttribute(int *v, CUdevice_attribute a, CUdevice d) {
	static const int table[][2] = {{1, 1024}, {8, 49152}, {10, 32}, {13, 1980000}, {16, 132}, {22, 131072}, {23, 65536}, {24, 16384}, {25, 16384}, {26, 16384},
		{32, 1}, {36, 3201000}, {37, 6144}, {38, 1 << 20}, {39, 2048}, {40, 3}, {75, 9}, {81, 233472}, {82, 65536}, {97, 232448}, {106, 32}, {111, 1024}};
	(void)d;
	BEGIN(0);
	*v = (int)a == 108 ? (int)persisting : 0;
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (table[i][0] == (int)a) *v = table[i][1];
	END(0);
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *c, CUdevice d) {
	BEGIN(0);
	CHECK(d >= 0 && d < devices, 101);
	if (!primary[d]) { primary[d] = make(CONTEXT); primary[d]->device = d; }
	primary[d]->refs++;
	*c = (CUcontext)primary[d];
	END(0);
}
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice d) {
	BEGIN(0);
	CHECK(d >= 0 && d < devices && primary[d], 201);
	kept_context += current == primary[d]; /* a thread should let go of what it releases */
	if (--primary[d]->refs == 0) {
		object *was = current;
		current = primary[d];
		flush();
		current = was == primary[d] ? NULL : was;
		for (object *o = live, *next; o; o = next) {
			next = o->next;
			if (o->device == d && o->kind != CONTEXT) { freed_with_context++; drop(o); }
		}
		drop(primary[d]);
		primary[d] = NULL;
	}
	END(0);
}
CUresult cuCtxSetCurrent(CUcontext c) {
	BEGIN(0);
	CHECK(!c || find(CONTEXT, c), 201);
	current = (object *)c;
	END(0);
}
CUresult cuCtxGetCurrent(CUcontext *c) { BEGIN(0); *c = (CUcontext)current; END(0); }
CUresult cuCtxPushCurrent_v2(CUcontext c) {
	BEGIN(0);
	CHECK(find(CONTEXT, c), 201);
	CHECK(depth < 8, 2);
	pushed[depth++] = current;
	current = (object *)c;
	END(0);
}
CUresult cuCtxPopCurrent_v2(CUcontext *c) {
	BEGIN(0);
	CHECK(current && depth > 0, 201);
	*c = (CUcontext)current;
	current = pushed[--depth];
	END(0);
}
CUresult cuCtxResetPersistingL2Cache(void) { BEGIN(1); CHECK(persisting, 801); END(0); }
CUresult cuMemGetInfo_v2(size_t *free_, size_t *total) { BEGIN(1); *free_ = memory - used; *total = memory; END(0); }

static CUresult allocate(enum kind kind, void *out, size_t bytes) {
	object *o = make(kind);
	if (!room(o, bytes)) { drop(o); return bytes ? 2 : 1; }
	memset(o->data, 0xa5, bytes < 4096 ? bytes : 4096);
	memcpy(out, &o->data, sizeof o->data);
	return 0;
}
#define FREE(kind, handle) do { object *o_ = find(kind, (const void *)(handle)); CHECK(o_, kind == BUFFER || kind == PINNED ? 1 : kind == REGISTERED ? 713 : 400); flush(); drop(o_); END(current->lost); } while (0)

CUresult cuMemAlloc_v2(CUdeviceptr *p, size_t bytes) { BEGIN(1); END(allocate(BUFFER, p, bytes)); }
CUresult cuMemFree_v2(CUdeviceptr p) { BEGIN(1); FREE(BUFFER, p); }
CUresult cuMemHostAlloc(void **p, size_t bytes, unsigned int flags) { BEGIN(1); CHECK(flags < 8, 1); END(allocate(PINNED, p, bytes)); }
CUresult cuMemHostRegister_v2(void *p, size_t bytes, unsigned int flags) {
	BEGIN(1);
	CHECK(flags < 16 && p && bytes, 1);
	CHECK(!find(REGISTERED, p), 712);
	object *o = make(REGISTERED);
	o->data = p;
	o->bytes = bytes;
	END(0);
}
CUresult cuMemHostUnregister(void *p) { BEGIN(1); FREE(REGISTERED, p); }
CUresult cuMemFreeHost(void *p) { BEGIN(1); FREE(PINNED, p); }

static op *add_copy(void *to, const void *from, size_t n) {
	op *o = add();
	o->to = to;
	o->from = from;
	o->n = n;
	return o;
}
/* What belongs to another device's context cannot be used in the current one. */
#define MINE(o) ((o) && (o)->device == current->device)
#define STREAM_OK(s) CHECK(MINE(find(STREAM, s)), 400)
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t n, CUstream s) {
	BEGIN(1); STREAM_OK(s); CHECK(on_device(to, n), 1); add_copy((void *)to, from, n); END(0);
}
CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t n, CUstream s) {
	BEGIN(1); STREAM_OK(s); CHECK(on_device(from, n), 1); add_copy(to, (void *)from, n); END(0);
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s) {
	BEGIN(1); STREAM_OK(s); CHECK(on_device(to, n) && on_device(from, n), 1); add_copy((void *)to, (void *)from, n); END(0);
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char v, size_t n, CUstream s) {
	BEGIN(1); STREAM_OK(s); CHECK(on_device(to, n), 1); add_copy((void *)to, NULL, n)->value = v; END(0);
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned int v, size_t n, CUstream s) {
	BEGIN(1); STREAM_OK(s); CHECK(on_device(to, n * 4) && to % 4 == 0, 1);
	op *o = add_copy((void *)to, NULL, n);
	o->value = v;
	o->word = 1;
	END(0);
}
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *c, CUstream s) {
	BEGIN(1); STREAM_OK(s);
	object *a = find(ARRAY, c->dstArray);
	CHECK(a && c->dstMemoryType == 3 && (c->srcMemoryType == 1 || c->srcMemoryType == 2), 1);
	CHECK(c->WidthInBytes == a->a.Width * a->texel && c->Height >= 1 && c->srcPitch == c->WidthInBytes && c->srcHeight == c->Height, 1);
	CHECK(!c->srcXInBytes && !c->srcY && !c->srcZ && !c->dstXInBytes && c->Depth >= 1, 1);
	/* whole planes, or rows of the one plane */
	CHECK(c->dstY + c->Height <= a->a.Height && (c->Height == a->a.Height || !a->a.Depth), 1);
	CHECK(c->dstZ + c->Depth <= (a->a.Depth ? a->a.Depth : 1), 1);
	size_t plane = c->WidthInBytes * c->Height;
	CHECK(c->srcMemoryType == 1 || on_device(c->srcDevice, plane * c->Depth), 1);
	op *o = add_copy(NULL, c->srcMemoryType == 1 ? c->srcHost : (void *)c->srcDevice, plane);
	o->array = a;
	o->at = c->dstZ * plane + c->dstY * c->WidthInBytes;
	o->planes = c->Depth;
	END(0);
}

CUresult cuArray3DCreate_v2(CUarray *p, const CUDA_ARRAY3D_DESCRIPTOR *d) {
	BEGIN(1);
	static const int sizes[64] = {[1] = 1, [2] = 2, [3] = 4, [8] = 1, [9] = 2, [10] = 4, [16] = 2, [32] = 4};
	CHECK(d->NumChannels == 1 && d->Flags == 0 && (int)d->Format >= 0 && (int)d->Format < 64 && sizes[d->Format] && d->Width && d->Height, 1);
	object *o = make(ARRAY);
	o->a = *d;
	o->texel = sizes[d->Format];
	if (!room(o, o->texel * d->Width * d->Height * (d->Depth ? d->Depth : 1))) { drop(o); END(2); }
	*p = (CUarray)o;
	END(0);
}
CUresult cuArrayDestroy(CUarray a) { BEGIN(1); FREE(ARRAY, a); }
CUresult cuTexObjectCreate(CUtexObject *t, const CUDA_RESOURCE_DESC *r, const CUDA_TEXTURE_DESC *d, const CUDA_RESOURCE_VIEW_DESC *view) {
	BEGIN(1);
	CHECK(r->resType == 0 && r->flags == 0 && !view && find(ARRAY, r->res.array.hArray), 1);
	object *a = find(ARRAY, r->res.array.hArray);
	CHECK(d->filterMode == 0 && d->flags == (unsigned)(a->a.Format < 16 ? 1 : 0), 1);
	object *o = make(TEXTURE);
	o->array = a;
	o->sampling = *d;
	*t = (uintptr_t)o;
	END(0);
}
CUresult cuTexObjectDestroy(CUtexObject t) { BEGIN(1); FREE(TEXTURE, t); }

CUresult cuModuleLoadDataEx(CUmodule *m, const void *image, unsigned int n, CUjit_option *options, void **values) {
	BEGIN(1);
	char *log = NULL, *errors = NULL;
	size_t log_size = 0, errors_size = 0;
	for (unsigned int i = 0; i < n; i++)
		switch ((int)options[i]) {
		case 3: log = values[i]; break;
		case 4: log_size = (size_t)values[i]; break;
		case 5: errors = values[i]; break;
		case 6: errors_size = (size_t)values[i]; break;
		case 12: break;
		default: END(1);
		}
	/* Machine code has every kernel; older drivers refuse it. */
	if (!memcmp(image, "\177ELF", 4)) {
		CHECK(machine, 209);
		object *o = make(MODULE);
		*m = (CUmodule)o;
		END(0);
	}
	const char *bad = strstr(image, "garbage");
	if (bad || !strstr(image, ".version")) {
		if (errors) snprintf(errors, errors_size, "ptxas application ptx input, line 5; error   : Parsing error near '%s'\nptxas fatal   : Ptx assembly aborted due to errors\n", bad ? "garbage" : "");
		END(218);
	}
	if (log) snprintf(log, log_size, "ptxas info    : Used 12 registers\n");
	object *o = make(MODULE);
	o->text = strdup(image);
	*m = (CUmodule)o;
	END(0);
}
CUresult cuModuleUnload(CUmodule m) { BEGIN(1); FREE(MODULE, m); }
CUresult cuModuleGetFunction(CUfunction *f, CUmodule m, const char *name) {
	BEGIN(1);
	object *o = find(MODULE, m);
	CHECK(o, 400);
	char entry[128];
	snprintf(entry, sizeof entry, ".entry %s(", name);
	CHECK(!o->text || strstr(o->text, entry), 500);
	for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
		if (!strcmp(kernels[i].name, name)) {
			function *fn = calloc(1, sizeof *fn);
			fn->k = &kernels[i];
			fn->module = o;
			fn->dynamic = 49152;
			fn->next = functions;
			functions = fn;
			*f = fn;
			END(0);
		}
	END(500);
}
static int is_function(CUfunction f) {
	for (function *g = functions; g; g = g->next)
		if (g == f) return 1;
	return 0;
}
CUresult cuFuncGetAttribute(int *v, CUfunction_attribute a, CUfunction f) {
	static const int values[] = {0, 16, 32, 0, 12, 70, 90};
	BEGIN(1); CHECK(is_function(f), 400);
	CHECK((int)a >= 0 && (int)a < 7, 1);
	*v = a == 0 ? f->k->max_threads : values[a];
	END(0);
}
CUresult cuFuncSetAttribute(CUfunction f, CUfunction_attribute a, int v) {
	BEGIN(1); CHECK(is_function(f), 400);
	CHECK(a == 8 && v >= 0 && v <= 232448 - 16, 1);
	f->dynamic = v;
	END(0);
}
#ifndef WITHOUT_PARAM_INFO
CUresult cuFuncGetParamInfo(CUfunction f, size_t i, size_t *offset, size_t *size) {
	BEGIN(1); CHECK(is_function(f), 400);
	CHECK(i < (size_t)f->k->params, 1);
	*offset = 8 * i;
	*size = f->k->sizes[i];
	END(0);
}
#endif
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *n, CUfunction f, int threads, size_t shared) {
	BEGIN(1); CHECK(is_function(f), 400);
	*n = 2048 / threads;
	if (shared && *n > (int)(233472 / (shared + 1024))) *n = (int)(233472 / (shared + 1024));
	END(0);
}
CUresult cuLaunchKernel(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared, CUstream s, void **params, void **extra) {
	BEGIN(1); CHECK(is_function(f), 400); STREAM_OK(s);
	CHECK(gx && gy && gz && bx && by && bz && !extra && (uint64_t)bx * by * bz <= 1024 && shared <= (unsigned)f->dynamic, 1);
	CHECK((int)(bx * by * bz) <= f->k->max_threads, 701);
	op *o = add();
	o->k = f->k;
	for (int i = 0; i < f->k->params; i++) memcpy(&o->args[i], params[i], f->k->sizes[i]);
	END(0);
}

CUresult cuStreamCreate(CUstream *s, unsigned int flags) { BEGIN(1); CHECK(flags == 1, 1); *s = (CUstream)make(STREAM); END(0); }
CUresult cuStreamDestroy_v2(CUstream s) { BEGIN(1); FREE(STREAM, s); }
/* A device that is held is waited for until it is not, a minute at most, so that a test
   that others' waiting stops ends. */
CUresult cuStreamSynchronize(CUstream s) {
	__atomic_add_fetch(&waiting, 1, __ATOMIC_SEQ_CST);
	for (int ms = 0; ms < 60000 && __atomic_load_n(&held, __ATOMIC_SEQ_CST); ms++) usleep(1000);
	__atomic_sub_fetch(&waiting, 1, __ATOMIC_SEQ_CST);
	usleep(slow_us);
	BEGIN(1); STREAM_OK(s); END(flush());
}
/* A query is late once when there is work, and always on a slow device. */
CUresult cuStreamQuery(CUstream s) {
	BEGIN(1); STREAM_OK(s);
	int pending = first_op != NULL, code = pending && slow_us ? 0 : flush();
	END(code ? code : pending ? 600 : 0);
}
CUresult cuStreamWaitEvent(CUstream s, CUevent e, unsigned int flags) { BEGIN(1); STREAM_OK(s); CHECK(find(EVENT, e) && !flags, 400); END(0); }
CUresult cuEventCreate(CUevent *e, unsigned int flags) { BEGIN(1); CHECK(flags == 0, 1); *e = (CUevent)make(EVENT); END(0); }
CUresult cuEventDestroy_v2(CUevent e) { BEGIN(1); FREE(EVENT, e); }
CUresult cuEventRecord(CUevent e, CUstream s) {
	BEGIN(1); STREAM_OK(s);
	object *o = find(EVENT, e);
	CHECK(MINE(o), 400);
	o->recorded = 1;
	o->reached = 0;
	add()->event = o;
	END(0);
}
CUresult cuEventSynchronize(CUevent e) { BEGIN(1); CHECK(find(EVENT, e), 400); END(flush()); }
CUresult cuEventQuery(CUevent e) {
	BEGIN(1); CHECK(find(EVENT, e), 400);
	object *o = (object *)e;
	int pending = o->recorded && !o->reached, code = flush();
	END(code ? code : pending ? 600 : 0);
}
#ifdef OLD_ELAPSED
CUresult cuEventElapsedTime(float *ms, CUevent from, CUevent to)
#else
CUresult cuEventElapsedTime_v2(float *ms, CUevent from, CUevent to)
#endif
{
	BEGIN(1);
	object *a = find(EVENT, from), *b = find(EVENT, to);
	CHECK(MINE(a) && MINE(b) && a->recorded && b->recorded, 400);
	CHECK(a->reached && b->reached, 600);
	*ms = (float)(b->time - a->time) / 1000;
	END(0);
}
