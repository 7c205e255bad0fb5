/* The Euler characteristic curve of the T-construction on an NVIDIA GPU, a thread for each cell: a cell is
 * there from the least level of the voxels around it on. nvcc -O2 -o curve-cuda curve.cu -I.. */
#include "eccpeer.h"

static const char about[] = "{\"protocol\": \"eccbench-peer/1\", \"name\": \"curve-cuda\", \"version\": \"1\","
	"\"method\": \"every cell of the T-construction, a thread each, atomic additions\", \"language\": \"CUDA\","
	"\"where\": \"gpu\", \"answers\": [{\"workload\": \"ecc\", \"construction\": \"T\"}]}";

/* Cells have doubled coordinates: even ones are between voxels, odd ones within. */
__global__ void count(const int32_t *level, int64_t d, int64_t h, int64_t w, int flat, unsigned long long *changes, int32_t n) {
	int64_t rows = 2 * h + 1, columns = 2 * w + 1, cells = (flat ? 1 : 2 * d + 1) * rows * columns;
	for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < cells; i += gridDim.x * (int64_t)blockDim.x) {
		int64_t x = i % columns, y = i / columns % rows, z = flat ? 1 : i / columns / rows;
		int32_t least = n;
		for (int64_t c = (z - 1) >> 1; c <= z >> 1; c++)
			for (int64_t b = (y - 1) >> 1; b <= y >> 1; b++)
				for (int64_t a = (x - 1) >> 1; a <= x >> 1; a++)
					if (c >= 0 && c < d && b >= 0 && b < h && a >= 0 && a < w) least = min(least, level[(c * h + b) * w + a]);
		if (least < n) atomicAdd(changes + least, (x + y + (flat ? 0 : z)) % 2 ? ~0ull : 1ull);
	}
}

static int answer(eccpeer_question *q) {
	int flat = q->image.dims == 2;
	int64_t d = flat ? 1 : q->image.shape[0], h = q->image.shape[1 - flat], w = q->image.shape[2 - flat], n = q->answer.count;
	int32_t *ranks = (int32_t *)malloc(q->image.count * sizeof *ranks), *level = NULL;
	unsigned long long *changes = NULL;
	if (!ranks) return eccpeer_failed(q, "out of memory");
	for (int64_t i = 0; i < q->image.count; i++) ranks[i] = (int32_t)eccpeer_level(q, i);
	cudaError_t bad = cudaMalloc(&level, q->image.count * sizeof *level);
	if (!bad) bad = cudaMemcpy(level, ranks, q->image.count * sizeof *level, cudaMemcpyHostToDevice);
	if (!bad) bad = cudaMalloc(&changes, n * sizeof *changes);
	if (!bad) bad = cudaMemset(changes, 0, n * sizeof *changes);
	if (!bad) count<<<1024, 256>>>(level, d, h, w, flat, changes, (int32_t)n);
	if (!bad) bad = cudaMemcpy(q->answer.data, changes, n * sizeof *changes, cudaMemcpyDeviceToHost);
	cudaFree(changes);
	cudaFree(level);
	free(ranks);
	return bad ? eccpeer_failed(q, cudaGetErrorString(bad)) : 0;
}

int main(void) { return eccpeer_serve(about, answer); }
