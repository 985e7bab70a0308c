// What Swift cannot reach of the system by itself.

#ifndef SILHOUETTE_CSYSTEM_SHIM_H
#define SILHOUETTE_CSYSTEM_SHIM_H

#include <pthread.h>
#include <spawn.h>

// Functions of the GNU C library that its headers hide from Swift: for starting programs ...
extern int pipe2(int *, int);
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *, int);

// ... and for naming a thread.
extern int pthread_setname_np(pthread_t, const char *);

// Tells the processor that the caller waits in a loop.
static inline void silhouette_pause(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb");
#endif
}

#endif
