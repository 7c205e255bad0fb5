/* A peer of eccbench in C or C++: answers questions about images by the protocol eccbench-peer/1.
 *
 * Describe the program as JSON, write a function that answers, and call eccpeer_serve from main; see
 * doc/peers.md and examples/curve.c. The function is called once for each image, and all its work
 * counts. It returns 0 when it has written the whole answer, or the result of eccpeer_refuse,
 * eccpeer_failed or eccpeer_malformed. With "bursts": true in the description, one command may ask for
 * several short calls. Only the C library and Linux are needed. */
#ifndef ECCPEER_H
#define ECCPEER_H

#if defined __STRICT_ANSI__ && !defined _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* with -std=c99: include this header first */
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An array in C order: the last axis is the fastest. */
typedef struct {
	char type[4];       /* as NumPy has it, without the byte order: u1, i2, u2, f4, f8, i8 */
	int dims;
	int64_t shape[4];
	int64_t count;      /* of elements */
	void *data;
	void *map;
	size_t bytes;
} eccpeer_array;

typedef struct eccpeer_question {
	eccpeer_array image;  /* read-only, (y, x) or (z, y, x) */
	eccpeer_array levels; /* ascending, for curves; dims 0 where there are none */
	eccpeer_array answer; /* to be written, all of it */
	int threads;          /* how many cores may be used */
	char *words;          /* KEY=VALUE, each ended by 0, with an empty one at the end */
	long number;
	char why[256];
	struct eccpeer_question *next;
} eccpeer_question;

typedef int (*eccpeer_answer)(eccpeer_question *);

/* The value of a word of the question, such as "mu" or "threshold"; NULL where there is none. */
static inline const char *eccpeer_word(const eccpeer_question *q, const char *key) {
	size_t n = strlen(key);
	for (const char *w = q->words; *w; w += strlen(w) + 1)
		if (!strncmp(w, key, n) && w[n] == '=') return w + n + 1;
	return NULL;
}

/* An element as a number. All types of images are exact in double. */
static inline double eccpeer_value(const eccpeer_array *a, int64_t i) {
	switch (a->type[0] * 16 + a->type[1] - '0') {
	case 'u' * 16 + 1: return ((const uint8_t *)a->data)[i];
	case 'u' * 16 + 2: return ((const uint16_t *)a->data)[i];
	case 'i' * 16 + 2: return ((const int16_t *)a->data)[i];
	case 'i' * 16 + 8: return (double)((const int64_t *)a->data)[i];
	case 'f' * 16 + 4: return ((const float *)a->data)[i];
	}
	return ((const double *)a->data)[i];
}

/* The level of a voxel, as an index: the lowest that is not below its value. */
static inline int64_t eccpeer_level(const eccpeer_question *q, int64_t i) {
	double v = eccpeer_value(&q->image, i);
	int64_t lo = 0, hi = q->levels.count;
	while (lo < hi) {
		int64_t mid = lo + (hi - lo) / 2;
		if (eccpeer_value(&q->levels, mid) < v) lo = mid + 1; else hi = mid;
	}
	return lo;
}

enum { eccpeer_is_refused = 1, eccpeer_has_failed, eccpeer_is_malformed };

/* Return one of these: the program does not answer this, could not, or found what is no answer. */
static inline int eccpeer_refuse(eccpeer_question *q, const char *why) { snprintf(q->why, sizeof q->why, "%s", why); return eccpeer_is_refused; }
static inline int eccpeer_failed(eccpeer_question *q, const char *why) { snprintf(q->why, sizeof q->why, "%s", why); return eccpeer_has_failed; }
static inline int eccpeer_malformed(eccpeer_question *q, const char *why) { snprintf(q->why, sizeof q->why, "%s", why); return eccpeer_is_malformed; }

static inline int eccpeer_open(eccpeer_array *a, const char *path, int writable) {
	struct stat s;
	int fd = path ? open(path, (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC) : -1;
	if (fd < 0 || fstat(fd, &s) < 0) return -1;
	a->bytes = (size_t)s.st_size;
	a->map = mmap(NULL, a->bytes, PROT_READ | (writable ? PROT_WRITE : 0), MAP_SHARED, fd, 0);
	close(fd);
	if (a->map == MAP_FAILED) return -1;
	const unsigned char *b = (const unsigned char *)a->map;
	a->data = (char *)a->map + 10 + b[8] + 256 * b[9];
	const char *type = strstr((const char *)b + 10, "'descr': '"), *at = strstr((const char *)b + 10, "'shape': (");
	if (!type || !at) return -1;
	memcpy(a->type, type + 11, 2);
	a->count = 1;
	char *end;
	for (at += 10; a->dims < 4 && (a->shape[a->dims] = strtoll(at, &end, 10), end != at); at = end + strspn(end, ", "))
		a->count *= a->shape[a->dims++];
	return 0;
}

static inline void eccpeer_forget(eccpeer_question *q) {
	eccpeer_array *all[3] = {&q->image, &q->levels, &q->answer};
	for (int i = 0; i < 3; i++)
		if (all[i]->map && all[i]->map != MAP_FAILED) munmap(all[i]->map, all[i]->bytes);
	free(q->words);
	free(q);
}

static inline eccpeer_question *eccpeer_bind(char *words) {
	eccpeer_question *q = (eccpeer_question *)calloc(1, sizeof *q);
	q->words = (char *)calloc(1, strlen(words) + 2);
	strcpy(q->words, words);
	for (char *c = q->words; *c; c++) if (*c == ' ') *c = 0;
	const char *threads = eccpeer_word(q, "threads"), *levels = eccpeer_word(q, "levels");
	q->threads = threads ? atoi(threads) : 1;
	if (eccpeer_open(&q->image, eccpeer_word(q, "image"), 0) || eccpeer_open(&q->answer, eccpeer_word(q, "answer"), 1) || (levels && eccpeer_open(&q->levels, levels, 0))) {
		eccpeer_forget(q);
		return NULL;
	}
	return q;
}

static inline eccpeer_question **eccpeer_find(eccpeer_question **at, long number) {
	while (*at && (*at)->number != number) at = &(*at)->next;
	return at;
}

/* Answers questions until eccbench ends. It returns the exit status of main. */
static inline int eccpeer_serve(const char *about, eccpeer_answer answer) {
	static const char *no[] = {"done", "refuse", "failed", "malformed"};
	static char line[1 << 16];
	eccpeer_question *all = NULL;
	FILE *in = fdopen(3, "r"), *out = fdopen(4, "w");
	if (!in || !out) {
		fprintf(stderr, "this is a peer of eccbench: eccbench verify --peer PATH --impl 'peer:*'\n");
		return 64;
	}
	fcntl(3, F_SETFD, FD_CLOEXEC); /* they are for this process alone */
	fcntl(4, F_SETFD, FD_CLOEXEC);
	while (fgets(line, sizeof line, in)) {
		line[strcspn(line, "\n")] = 0;
		char *rest = line + strcspn(line, " ");
		if (*rest) *rest++ = 0;
		long number = strtol(rest, &rest, 10);
		eccpeer_question **at = eccpeer_find(&all, number), *q;
		if (!strcmp(line, "end")) {
			break;
		} else if (!strcmp(line, "about")) {
			fprintf(out, "about %s\n", about);
		} else if (!strcmp(line, "ping")) {
			fputs("pong\n", out);
		} else if (!strcmp(line, "bind")) {
			if ((q = eccpeer_bind(rest + strspn(rest, " ")))) {
				q->number = number, q->next = all, all = q;
				fputs("ready\n", out);
			} else {
				fputs("failed the files cannot be opened\n", out);
			}
		} else if (!strcmp(line, "do") && *at) {
			int code = answer(*at);
			for (char *end; !code && (number = strtol(rest, &end, 10), end != rest); rest = end) {
				if (!*(at = eccpeer_find(&all, number))) break;
				code = answer(*at);
			}
			if (*at)
				fprintf(out, code ? "%s %s\n" : "%s\n", no[code], (*at)->why);
			else
				fprintf(out, "failed no question %ld\n", number);
		} else if (!strcmp(line, "free")) {
			if ((q = *at)) *at = q->next, eccpeer_forget(q);
			fputs("freed\n", out);
		} else {
			fprintf(out, "unknown %s\n", line);
		}
		fflush(out);
	}
	return 0;
}

#ifdef __cplusplus
}
#endif
#endif
