/* slurm_files.h: the job arrays of a folder, so that a head that was killed knows what it has submitted
 * (docs/cluster.md).
 *   slurm.jobs           a line an array: TOKEN JOB; JOB is `-` from before sbatch until its answer
 *   slurm-TOKEN.list     a line a task: KEY, file for statistics, words of the command, separated by tabs
 *   slurm-TOKEN.sh       the script of the array
 *   slurm-TOKEN-N.out    the output of task N itself: empty, if it succeeded
 * All are read and written under the folder's lock. */
#ifndef HEDDLE_SLURM_FILES_H
#define HEDDLE_SLURM_FILES_H

#include "base/strbuf.h"
#include "base/vec.h"

struct slurm_array {
    char token[48];
    /* "" = not known. */
    char job[24];
    VEC(char *) keys;
    /* All of its tasks have ended and were gathered. */
    bool over;
};
struct slurm_arrays {
    VEC(struct slurm_array) items;
};

void slurm_arrays_free(struct slurm_arrays *a);
/* Adds the arrays of the folder that are not there yet; fills in jobs. */
void slurm_arrays_read(struct slurm_arrays *a, const char *folder);
/* TOKEN and JOB; job "" before sbatch. False with errno. */
bool slurm_arrays_note(const char *folder, const char *token, const char *job);
/* Removes an array's line and its files. */
void slurm_arrays_drop(const struct slurm_array *a, const char *folder);
/* The name of the job. */
void slurm_name(const struct slurm_array *a, char out[64]);
void slurm_path(struct strbuf *out, const char *folder, const char *token, const char *suffix);

#endif
