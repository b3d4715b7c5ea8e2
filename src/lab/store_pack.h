/* store_pack.h: runs of a store as one compressed file, to keep beside a paper or to carry on elsewhere
 * (docs/store.md has the format). */
#ifndef HEDDLE_STORE_PACK_H
#define HEDDLE_STORE_PACK_H

#include "lab/store.h"

#define PACK_ALL_LAUNCHES UINT32_MAX
/* Writes all runs that are done or failed and meet `where`, a condition of SQL over the table run. Of each
 * run the first `launches` launches keep their own statistics. The same runs give the same bytes. False with
 * the error in words; then there is no file. */
bool store_pack(struct store *s, const char *where, uint32_t launches, const char *path, uint64_t *runs,
                char **error);

struct store_unpacked {
    /* runs in the file; of them, those that the store did not have */
    uint64_t runs, fresh;
};
/* Puts the runs of such a file into the store, each whole or not at all. A run that is done there stays as it
 * is, and one that failed in the file takes the place of nothing. A run whose key or statistics do not fit
 * its contents is an error, and so is a file that ends early. False with the error in words; *is_file tells
 * whether the file is at fault. */
bool store_unpack(struct store *s, const char *path, struct store_unpacked *out, bool *is_file, char **error);

#endif
