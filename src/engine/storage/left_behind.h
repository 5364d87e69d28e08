/* Temporary files and folders of processes that were killed while they saved. */
#ifndef RQL_ENGINE_STORAGE_LEFT_BEHIND_H
#define RQL_ENGINE_STORAGE_LEFT_BEHIND_H

/* Locks what was opened for as long as it is open, so that nobody sweeps it, on other machines and in containers
 * neither, where the process is unknown. */
void lock_temporary(int file);

/* Removes what path_temporary has named in the directory, if its process is gone and nobody holds its lock. */
void sweep_directory(const char *directory);

#endif
