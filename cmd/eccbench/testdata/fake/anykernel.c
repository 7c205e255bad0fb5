/* The stand-in for libcuda of internal/cuda for whole runs of the program: it has
 * a kernel by every name, which does nothing, and the variable ECCBENCH_FAKE says
 * what goes wrong, in words apart by spaces:
 *   version:11040                the driver's version, or another of fake_set's keys
 *   fail:cuMemAlloc_v2:2:0       fake_fail's call, code, and calls that work before
 *   kernel:crash, kernel:stray   what every kernel does instead */
#define cuModuleGetFunction function_of_a_kernel
#include "fakecuda.c"
#undef cuModuleGetFunction

static void astray(uint64_t *a) { (void)a; current->lost = 700; }

static kernel any = {"any", 0, {0}, nothing, 1024};

CUresult cuModuleGetFunction(CUfunction *f, CUmodule m, const char *name) {
	BEGIN(1);
	object *o = find(MODULE, m);
	CHECK(o, 400);
	(void)name;
	function *fn = calloc(1, sizeof *fn);
	fn->k = &any;
	fn->module = o;
	fn->dynamic = 49152;
	fn->next = functions;
	functions = fn;
	*f = fn;
	END(0);
}

__attribute__((constructor)) static void configure(void) {
	char *words = strdup(getenv("ECCBENCH_FAKE") ? getenv("ECCBENCH_FAKE") : ""), *rest = words;
	for (char *word; (word = strtok_r(rest, " ", &rest));) {
		char key[64];
		int code, skip;
		long long value;
		if (sscanf(word, "fail:%63[^:]:%d:%d", key, &code, &skip) == 3) fake_fail(key, code, skip);
		else if (!strcmp(word, "kernel:crash")) any.run = crash;
		else if (!strcmp(word, "kernel:stray")) any.run = astray;
		else if (sscanf(word, "%63[^:]:%lld", key, &value) == 2) fake_set(key, value);
		else abort();
	}
	free(words);
}
