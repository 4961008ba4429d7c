#pragma once
#include <stdint.h>

/// Makes the optimiser believe that what is at the address is read here, and that any memory may have changed.
static inline void measuring_use(const void *_Nonnull address) { __asm__ volatile("" : : "r"(address) : "memory"); }

/// How many times this thread has asked for memory; -1 where that can't be counted.
int64_t measuring_allocations(void);
