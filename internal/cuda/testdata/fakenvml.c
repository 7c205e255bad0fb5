/* A stand-in for libnvidia-ml with one device at 0000:3b:00.0. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int nvmlReturn_t;
typedef void *nvmlDevice_t;
typedef struct {
	unsigned int pid;
	unsigned long long usedGpuMemory;
	unsigned int gpuInstanceId, computeInstanceId;
} nvmlProcessInfo_t;

static char fail_call[64];
static int fail_code, started, processes = 3;
static unsigned long long reasons_now = 0x4;

void fake_nvml_fail(const char *call, int code) {
	strncpy(fail_call, call, sizeof fail_call - 1);
	fail_code = code;
}
void fake_nvml_processes(int n) { processes = n; }
void fake_nvml_reasons(unsigned long long bits) { reasons_now = bits; }
int fake_nvml_started(void) { return started; }

#define CALL() do { if (!strcmp(fail_call, __func__)) return fail_code; } while (0)
#define READ() do { CALL(); if (!started) return 1; if (d != &started) return 2; } while (0)

nvmlReturn_t nvmlInit_v2(void) { CALL(); started++; return 0; }
nvmlReturn_t nvmlShutdown(void) { CALL(); if (!started) return 1; started--; return 0; }
const char *nvmlErrorString(nvmlReturn_t code) {
	switch (code) {
	case 1: return "Uninitialized";
	case 3: return "Not Supported";
	case 6: return "Not Found";
	}
	return "Unknown Error";
}
nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char *pci, nvmlDevice_t *d) {
	CALL();
	if (strcmp(pci, "0000:3b:00.0")) return 6;
	*d = &started;
	return 0;
}
nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t d, int which, unsigned int *v) {
	READ();
	*v = which == 1 ? 1980 : which == 2 ? 3201 : 1;
	return 0;
}
nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t d, int which, unsigned int *v) { READ(); *v = which == 0 ? 41 : 0; return 0; }
nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t d, unsigned int *v) { READ(); *v = 123456; return 0; }
#ifndef WITHOUT_POWER_LIMIT
nvmlReturn_t nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t d, unsigned int *v) { READ(); *v = 700000; return 0; }
#endif
nvmlReturn_t nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t d, unsigned long long *v) { READ(); *v = reasons_now; return 0; }
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t d, unsigned int *n, nvmlProcessInfo_t *list) {
	READ();
	if (*n < (unsigned)processes) { *n = processes; return 7; }
	*n = processes;
	for (int i = 0; i < processes; i++) {
		memset(&list[i], 0xff, sizeof list[i]);
		list[i].pid = i == 0 ? (unsigned)getpid() : 4000000u + (unsigned)i;
		list[i].usedGpuMemory = i == 2 ? ~0ull : (unsigned long long)i << 33;
	}
	return 0;
}
nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v3(nvmlDevice_t d, unsigned int *n, nvmlProcessInfo_t *list) {
	READ();
	(void)list;
	*n = 0;
	return 0;
}
