// The GNU C library's functions for starting programs, which its headers hide from Swift.

#ifndef SILHOUETTE_CPROCESS_SHIM_H
#define SILHOUETTE_CPROCESS_SHIM_H

#include <spawn.h>

extern int pipe2(int *, int);
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *, int);

#endif
