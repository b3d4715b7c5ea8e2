/* home.c: where the data folders are. An installed Heddle finds them from where it lies itself, so that the whole of it may be moved:
 * PREFIX/bin/heddle and PREFIX/lib/heddle/libheddle.so both have PREFIX/share/heddle. One that runs in its build tree has the source
 * folder. */
#define _GNU_SOURCE
#include "core/machine.h"

#include <dlfcn.h>
#include <limits.h>
#include <unistd.h>

/* The file that this code was loaded from: the heddle command, or libheddle.so inside a CUDA program. */
static bool own_file(char out[PATH_MAX])
{
    Dl_info info;
    if (!dladdr((void *)(uintptr_t)machine_data_dir, &info) || !info.dli_fname) return false;
    bool is_library = strstr(info.dli_fname, ".so") != NULL; /* of a program dladdr knows argv[0] only */
    return realpath(is_library ? info.dli_fname : "/proc/self/exe", out) != NULL;
}

static bool has_machines(const char *folder)
{
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/machines", folder);
    return access(path, R_OK) == 0;
}

const char *machine_data_dir(void)
{
    static char found[PATH_MAX]; /* of the process: it does not move while it runs */
    const char *home = getenv("HEDDLE_HOME");
    if (home && *home) return home;
    if (found[0]) return found;
    char self[PATH_MAX], share[PATH_MAX + 16];
    if (own_file(self))
        for (int up = 0; up < 3 && strrchr(self, '/'); up++) { /* bin is one below PREFIX, lib/heddle two */
            *strrchr(self, '/') = 0;
            snprintf(share, sizeof share, "%s/share/heddle", self);
            if (up && strlen(share) < sizeof found && has_machines(share)) return strcpy(found, share);
        }
    return HEDDLE_DATA_DIR;
}
