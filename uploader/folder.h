/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folder: opens directories by descriptor, never through a link at their end, and only our own
 * below the sink directory: one that somebody else planted could be taken away or filled under us.
 */
#ifndef BELFRY_UPLOADER_FOLDER_H
#define BELFRY_UPLOADER_FOLDER_H

#include <dirent.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Opens the sink directory; makes it (0750, owned by uid and gid where we are root) where it is
 * missing. Refuses one that everybody may write to. Returns a descriptor or -errno (logged).
 */
int folder_open_sink(const char *path, uid_t uid, gid_t gid);

/* Opens a folder below `directory`. Returns a descriptor or -errno: -EPERM where it is not ours. */
int folder_open(int directory, const char *name);

/* The same, making it (0750) where it is missing. */
int folder_make(int directory, const char *name);

/* Lists it; `folder` stays open. The caller closes the list. NULL with errno. */
DIR *folder_list(int folder);

/* Bytes of the regular file `name`, or -errno. */
int64_t folder_file_size(int folder, const char *name);

#endif
