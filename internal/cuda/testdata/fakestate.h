/* The state of the stand-in for libcuda: its objects, its work and its kernels. */
#define _GNU_SOURCE
#include "fakecuda.h"
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum kind { CONTEXT, MODULE, BUFFER, PINNED, REGISTERED, ARRAY, TEXTURE, STREAM, EVENT, KINDS };
static const char *kind_names[KINDS] = {"contexts", "modules", "buffers", "pinned", "registered", "arrays", "textures", "streams", "events"};

typedef struct object {
	enum kind kind;
	int device;
	struct object *next;
	unsigned char *data; /* BUFFER, PINNED, ARRAY */
	size_t bytes;
	char *text;                 /* MODULE: its code */
	CUDA_ARRAY3D_DESCRIPTOR a;  /* ARRAY */
	size_t texel;
	struct object *array;       /* TEXTURE */
	CUDA_TEXTURE_DESC sampling;
	int recorded, reached;      /* EVENT */
	long long time;
	int refs, lost;             /* CONTEXT: lost is the code that every call answers */
} object;

typedef struct kernel {
	const char *name;
	int params, sizes[5];
	void (*run)(uint64_t *args);
	int max_threads; /* that the registers are enough for */
} kernel;

typedef struct CUfunc_st {
	const kernel *k;
	object *module;
	int dynamic; /* shared memory that was allowed */
	struct CUfunc_st *next;
} function;

typedef struct op {
	struct op *next;
	object *context;
	const kernel *k;
	uint64_t args[5];
	object *event, *array;
	unsigned char *to;
	const unsigned char *from;
	size_t n, at, planes;
	unsigned int value;
	int word;
} op;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static __thread object *current, *pushed[8];
static __thread int depth;
static object *live, *primary[8];
static function *functions;
static op *first_op, **last_op = &first_op;
static long long counts[KINDS], used, clock_us, wrong_context, freed_with_context, kept_context;
static long long version = 12080, devices = 1, memory = 1ll << 36, calls, persisting = 4 << 20, async_lost, slow_us, held, waiting, machine;
static char fail_call[64], *call_log;
static int fail_code, fail_skip;
static size_t log_used;

/* control */

void fake_fail(const char *call, int code, int skip) {
	snprintf(fail_call, sizeof fail_call, "%s", call);
	fail_code = code;
	fail_skip = skip;
}

static struct { const char *key; long long *value; } keys[] = {
	{"version", &version}, {"devices", &devices}, {"memory", &memory}, {"calls", &calls}, {"used", &used},
	{"persisting", &persisting}, {"wrong_context", &wrong_context}, {"freed_with_context", &freed_with_context}, {"kept_context", &kept_context}, {"async_lost", &async_lost}, {"slow_us", &slow_us}, {"held", &held}, {"waiting", &waiting}, {"machine", &machine},
};

void fake_set(const char *key, long long value) {
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (!strcmp(key, keys[i].key)) { __atomic_store_n(keys[i].value, value, __ATOMIC_SEQ_CST); return; }
	abort();
}

long long fake_get(const char *key) {
	for (int k = 0; k < KINDS; k++)
		if (!strcmp(key, kind_names[k])) return counts[k];
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (!strcmp(key, keys[i].key)) return __atomic_load_n(keys[i].value, __ATOMIC_SEQ_CST);
	abort();
}

/* fake_log is the names of the calls since the last fake_log, a space after each. */
const char *fake_log(void) {
	static char *last;
	pthread_mutex_lock(&mutex);
	free(last);
	last = call_log ? call_log : strdup("");
	call_log = NULL;
	log_used = 0;
	pthread_mutex_unlock(&mutex);
	return last;
}

static CUresult begin(const char *name, int needs_context) {
	size_t n = strlen(name);
	calls++;
	if (log_used < 1 << 16) {
		call_log = realloc(call_log, log_used + n + 2);
		memcpy(call_log + log_used, name, n);
		memcpy(call_log + log_used + n, " ", 2);
		log_used += n + 1;
	}
	if (!strcmp(fail_call, name) && fail_skip-- == 0) return fail_code;
	if (!needs_context) return 0;
	if (!current) { wrong_context++; return 201; }
	return current->lost;
}

#define END(code) do { int end_ = (code); pthread_mutex_unlock(&mutex); return end_; } while (0)
#define BEGIN(context) pthread_mutex_lock(&mutex); do { int begin_ = begin(__func__, context); if (begin_) END(begin_); } while (0)
#define CHECK(condition, code) do { if (!(condition)) END(code); } while (0)

/* objects */

static object *make(enum kind kind) {
	object *o = calloc(1, sizeof *o);
	o->kind = kind;
	o->device = current ? current->device : 0;
	o->next = live;
	live = o;
	counts[kind]++;
	return o;
}

static object *find(enum kind kind, const void *handle) {
	for (object *o = live; o; o = o->next)
		if (o->kind == kind && (o == handle || (o->data && o->data == handle))) return o;
	return NULL;
}

static int room(object *o, size_t bytes) {
	if (bytes == 0 || (o->kind != PINNED && bytes > (size_t)(memory - used))) return 0;
	o->data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (o->data == MAP_FAILED) { o->data = NULL; return 0; }
	o->bytes = bytes;
	if (o->kind != PINNED) used += bytes;
	return 1;
}

static void drop(object *o) {
	object **p = &live;
	while (*p != o) p = &(*p)->next;
	*p = o->next;
	counts[o->kind]--;
	if (o->data) {
		if (o->kind != REGISTERED) munmap(o->data, o->bytes);
		if (o->kind != PINNED && o->kind != REGISTERED) used -= o->bytes;
	}
	for (function **f = &functions; *f;)
		if ((*f)->module == o) { function *gone = *f; *f = gone->next; free(gone); } else f = &(*f)->next;
	free(o->text);
	free(o);
}

static int on_device(uint64_t at, size_t n) {
	for (object *o = live; o; o = o->next)
		if (((o->kind == BUFFER && o->device == current->device) || o->kind == PINNED) && at >= (uintptr_t)o->data && n <= o->bytes && at - (uintptr_t)o->data <= o->bytes - n) return 1;
	return 0;
}

/* touch is on_device for kernels, whose stray accesses cost the context. */
static int touch(uint64_t at, size_t n) {
	if (on_device(at, n)) return 1;
	current->lost = 700;
	return 0;
}

/* kernels */

static void fill(uint64_t *a) {
	if (touch(a[0], a[2] * 4))
		for (uint64_t i = 0; i < a[2]; i++) ((uint32_t *)a[0])[i] = (uint32_t)a[1];
}

static void axpy(uint64_t *a) {
	float f;
	int32_t n = (int32_t)a[3];
	memcpy(&f, &a[2], 4);
	if (touch(a[0], 4 * (size_t)n) && touch(a[1], 4 * (size_t)n))
		for (int32_t i = 0; i < n; i++) ((float *)a[0])[i] += f * ((float *)a[1])[i];
}

/* fetch reads the texels from −1 to the width, height and depth into 32-bit words. */
static void fetch(uint64_t *a) {
	object *t = find(TEXTURE, (void *)a[0]);
	long w = (int32_t)a[2], h = (int32_t)a[3], d = (int32_t)a[4];
	if (!t || !touch(a[1], 4 * (size_t)((w + 2) * (h + 2) * (d + 2)))) return;
	uint32_t *out = (uint32_t *)a[1];
	for (long z = -1; z <= d; z++) for (long y = -1; y <= h; y++) for (long x = -1; x <= w; x++) {
		uint32_t v = 0;
		int outside = x < 0 || y < 0 || x >= w || y >= h || (t->array->a.Depth && (z < 0 || z >= d));
		if (outside && t->sampling.addressMode[0] == 3) {
			memcpy(&v, &t->sampling.borderColor[0], 4);
		} else {
			long cx = x < 0 ? 0 : x < w ? x : w - 1, cy = y < 0 ? 0 : y < h ? y : h - 1, cz = z < 0 || !t->array->a.Depth ? 0 : z < d ? z : d - 1;
			memcpy(&v, t->array->data + ((cz * h + cy) * w + cx) * (long)t->array->texel, t->array->texel);
			if ((int)t->array->a.Format == 8) v = (uint32_t)(int8_t)v;
			if ((int)t->array->a.Format == 9) v = (uint32_t)(int16_t)v;
		}
		*out++ = v;
	}
}

static void stray(uint64_t *a) { if (touch(a[0], 4)) *(uint32_t *)a[0] = 1; }
static void shared(uint64_t *a) { if (touch(a[0], 4)) *(uint32_t *)a[0] = (uint32_t)a[1]; }
static void crash(uint64_t *a) { (void)a; current->lost = 719; }
static void nothing(uint64_t *a) { (void)a; }

static const kernel kernels[] = {
	{"fill", 3, {8, 4, 8}, fill, 1024},
	{"axpy", 4, {8, 8, 4, 4}, axpy, 1024},
	{"fetch2d_f", 5, {8, 8, 4, 4, 4}, fetch, 1024},
	{"fetch2d_u", 5, {8, 8, 4, 4, 4}, fetch, 1024},
	{"fetch3d_f", 5, {8, 8, 4, 4, 4}, fetch, 1024},
	{"fetch3d_u", 5, {8, 8, 4, 4, 4}, fetch, 1024},
	{"stray", 1, {8}, stray, 1024},
	{"shared", 2, {8, 4}, shared, 1024},
	{"spin", 1, {8}, nothing, 1024},
	{"crash", 0, {0}, crash, 1024},
	{"greedy", 0, {0}, nothing, 128},
};

/* work */

static op *add(void) {
	op *o = calloc(1, sizeof *o);
	o->context = current;
	*last_op = o;
	last_op = &o->next;
	return o;
}

static int flush(void) {
	object *caller = current;
	while (first_op) {
		op *o = first_op;
		if (!(first_op = o->next)) last_op = &first_op;
		current = o->context;
		if (!current->lost) {
			if (async_lost) { current->lost = (int)async_lost; async_lost = 0; }
			clock_us += o->k ? 1000 : 10 + (long long)(o->n * (o->word ? 4 : 1) >> 20); /* a MiB a microsecond */
			if (o->k) o->k->run(o->args);
			else if (o->event) { o->event->reached = 1; o->event->time = clock_us; }
			else if (o->array) memcpy(o->array->data + o->at, o->from, o->planes * o->n);
			else if (o->from) memcpy(o->to, o->from, o->n);
			else if (o->word) for (size_t i = 0; i < o->n; i++) ((uint32_t *)o->to)[i] = o->value;
			else memset(o->to, (int)o->value, o->n);
		}
		free(o);
	}
	current = caller;
	return current ? current->lost : 0;
}
