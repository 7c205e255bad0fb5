/* The Euler characteristic curve of the T-construction, cell by cell: a cell is there from the least
 * level of the voxels around it on. gcc -O2 -o curve curve.c -I.. */
#include "eccpeer.h"

static const char about[] = "{\"protocol\": \"eccbench-peer/1\", \"name\": \"curve-c\", \"version\": \"1\","
	"\"method\": \"every cell of the T-construction, at the least level of its voxels\", \"language\": \"C\","
	"\"where\": \"cpu\", \"bursts\": true, \"answers\": [{\"workload\": \"ecc\", \"construction\": \"T\"}]}";

static int answer(eccpeer_question *q) {
	int flat = q->image.dims == 2;
	int64_t d = flat ? 1 : q->image.shape[0], h = q->image.shape[1 - flat], w = q->image.shape[2 - flat];
	int64_t *changes = (int64_t *)q->answer.data, n = q->answer.count;
	int32_t *level = (int32_t *)malloc(q->image.count * sizeof *level);
	if (!level) return eccpeer_failed(q, "out of memory");
	for (int64_t i = 0; i < q->image.count; i++) level[i] = (int32_t)eccpeer_level(q, i);
	memset(changes, 0, n * sizeof *changes);
	/* Cells have doubled coordinates: even ones are between voxels, odd ones within. */
	for (int64_t z = flat; z <= 2 * d - flat; z++)
		for (int64_t y = 0; y <= 2 * h; y++)
			for (int64_t x = 0; x <= 2 * w; x++) {
				int64_t least = n;
				for (int64_t c = (z - 1) >> 1; c <= z >> 1; c++)
					for (int64_t b = (y - 1) >> 1; b <= y >> 1; b++)
						for (int64_t a = (x - 1) >> 1; a <= x >> 1; a++) {
							if (c < 0 || c >= d || b < 0 || b >= h || a < 0 || a >= w) continue;
							int64_t l = level[(c * h + b) * w + a];
							if (l < least) least = l;
						}
				if (least < n) changes[least] += (x + y + (flat ? 0 : z)) % 2 ? -1 : 1;
			}
	free(level);
	return 0;
}

int main(void) { return eccpeer_serve(about, answer); }
