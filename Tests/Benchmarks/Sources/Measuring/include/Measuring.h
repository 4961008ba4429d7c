#pragma once
#include <stdint.h>

/// Makes the optimiser believe that the memory at an address is read here, and that all memory may have changed.
///
/// It costs no instruction. A function that is not inlined would cost as much as the reads that are measured.
static inline void measuring_use(const void *_Nonnull address) { __asm__ volatile("" : : "r"(address) : "memory"); }

/// How many times this thread has asked for memory; -1 where that can't be counted.
int64_t measuring_allocations(void);
