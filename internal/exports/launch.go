//go:build cgo && linux

package exports

/*
#include <stdint.h>

typedef int32_t current(uint64_t *context);
typedef int32_t launch(uint64_t kernel, uint32_t grid_x, uint32_t grid_y, uint32_t grid_z, uint32_t block_x,
	uint32_t block_y, uint32_t block_z, uint32_t shared, uint64_t stream, void **arguments, void **extra);

enum { MOST = 64 }; // arguments of a kernel, as in internal/cuda/launch.go

int32_t eccbench_device_launch(const uint64_t *program, const uint64_t *addresses, uint64_t stream) {
	uint64_t context = 0, values[MOST];
	void *arguments[MOST];
	int32_t code = ((current *)program[1])(&context);
	if (code != 0 || context != program[2])
		return -1;
	const uint64_t *p = program + 4;
	for (uint64_t left = program[3]; left > 0 && code == 0; left--) {
		if (p[8] > MOST)
			return -1;
		const uint64_t *last = p + 9 + 2 * p[8];
		void **argument = arguments;
		uint64_t *value = values;
		for (const uint64_t *a = p + 9; a < last; a += 2) {
			*value = a[1] + (a[0] ? addresses[a[0] - 1] : 0);
			*argument++ = value++;
		}
		code = ((launch *)program[0])(p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], stream, arguments, 0);
		p = last;
	}
	return code;
}
*/
import "C"
