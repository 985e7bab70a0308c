// What Swift cannot reach of the system by itself.

#ifndef SILHOUETTE_CSYSTEM_SHIM_H
#define SILHOUETTE_CSYSTEM_SHIM_H

#include <pthread.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <unistd.h>

// Functions of the GNU C library that its headers hide from Swift: for starting programs ...
extern int pipe2(int *, int);
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *, int);

// ... and for naming a thread.
extern int pthread_setname_np(pthread_t, const char *);

// Limits what another program of this user may take from now on; the resource is RLIMIT_DATA or the like. 0, or -1. Of time,
// a program is told by SIGXCPU at `most`, and ended at `end`.
static inline int silhouette_limit(pid_t id, int resource, unsigned long long most, unsigned long long end) {
    struct { unsigned long long soft, hard; } limit = {most, end};
    return (int)syscall(SYS_prlimit64, id, resource, &limit, 0);
}

// Tells the processor that the caller waits in a loop.
static inline void silhouette_pause(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb");
#endif
}

#endif
