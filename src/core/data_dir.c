/* data_dir.c: where the data folders are. An installed Heddle finds them relative to its own file, so that
 * the whole installation may be moved: PREFIX/bin/heddle and PREFIX/lib/heddle/libheddle.so both use
 * PREFIX/share/heddle. A Heddle in its build tree uses the source folder. */
#define _GNU_SOURCE
#include "base/strbuf.h"
#include "core/machine.h"

#include <dlfcn.h>
#include <limits.h>
#include <unistd.h>

/* The file that this code was loaded from: the heddle command, or libheddle.so inside a CUDA program. */
static bool own_file(char out[PATH_MAX])
{
    Dl_info info;
    if (!dladdr((void *)(uintptr_t)machine_data_dir, &info) || !info.dli_fname) return false;
    bool is_library = strstr(info.dli_fname, ".so") != NULL; /* for a program dladdr gives argv[0] only */
    return realpath(is_library ? info.dli_fname : "/proc/self/exe", out) != NULL;
}

/* PREFIX/share/heddle with its machines; false: there is none. */
static bool share_of(const char *prefix, char out[PATH_MAX])
{
    struct strbuf path = {0};
    strbuf_printf(&path, "%s/share/heddle/machines", prefix);
    bool is_there = path.len < PATH_MAX && !access(strbuf_text(&path), R_OK);
    if (is_there) snprintf(out, PATH_MAX, "%.*s", (int)(path.len - strlen("/machines")), path.data);
    strbuf_free(&path);
    return is_there;
}

const char *machine_data_dir(void)
{
    static char found[PATH_MAX]; /* an installation does not move while a process runs */
    const char *home = getenv("HEDDLE_HOME");
    if (home && *home) return home;
    if (found[0]) return found;
    char self[PATH_MAX];
    if (own_file(self))
        for (int up = 0; up < 3 && strrchr(self, '/'); up++) { /* bin is one below PREFIX, lib/heddle two */
            *strrchr(self, '/') = 0;
            if (up && share_of(self, found)) return found;
        }
    return HEDDLE_DATA_DIR;
}
