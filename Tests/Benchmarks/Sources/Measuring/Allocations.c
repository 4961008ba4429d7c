#include "Measuring.h"
#include <stdlib.h>

#if defined(__linux__) && defined(__GLIBC__)
#include <errno.h>
#include <stddef.h>

// The program's own malloc comes before the C library's, for the Swift runtime too; it counts, and asks that one.
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static _Thread_local int64_t count = 0;

void *malloc(size_t size) {
  count++;
  return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
  count++;
  return __libc_calloc(number, size);
}

void *realloc(void *old, size_t size) {
  count++;
  return __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  count++;
  return __libc_memalign(alignment, size);
}

int posix_memalign(void **result, size_t alignment, size_t size) {
  void *memory = aligned_alloc(alignment, size);
  if (memory == NULL) return ENOMEM;
  *result = memory;
  return 0;
}

int64_t measuring_allocations(void) { return count; }
#else
int64_t measuring_allocations(void) { return -1; }
#endif
