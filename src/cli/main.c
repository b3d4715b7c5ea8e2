/* main.c: the heddle command: picks the sub-command. */
#include "base/output.h"
#include "cli/cli.h"

#include <errno.h>
#include <signal.h>

const struct cli_command cli_commands[] = {
    {"run", "[options] WORKLOAD | [options] -- PROGRAM [ARGS...]",
     "run a workload or a CUDA program on the simulated GPU",
     "  heddle run kmeans -m maxwell             a workload: heddle list workloads\n"
     "  heddle run -- ./vectoradd 1024           its output, then where the time went\n"
     "  heddle run -m fermi --mech swl -- ./bfs  on another machine, with a mechanism\n"
     "  heddle run --stats s.json -- ./app       every statistic, as JSON in a file\n"
     "  heddle run --functional -- ./app         results only, no clock\n"
     "  heddle run --races -- ./app              accesses that race, with both lines\n",
     cli_cmd_run},
    {"kernel", "FILE.ptx NAME --grid X[,Y[,Z]] --block X[,Y[,Z]] [--arg ...]...",
     "run one kernel with no host program",
     "  heddle kernel saxpy.ptx saxpy --grid 64 --block 256 --arg f32=2 \\\n"
     "      --arg buf:f32[16K]=rand --arg buf:f32[16K]=iota --arg u32=16384\n"
     "  heddle kernel k.ptx k --grid 1 --block 32 --arg buf:u32[32] --out 0=result.bin\n",
     cli_cmd_kernel},
    {"disasm", "FILE [KERNEL...]", "show the machine code of a PTX file, fatbin or CUDA program",
     "  heddle disasm saxpy.ptx                all kernels, beside their PTX\n"
     "  heddle disasm ./app vecadd --maxrregcount 32\n",
     cli_cmd_disasm},
    {"list", "experiments|machines|mechanisms|options|params|stats|workloads", "list what there is",
     "  heddle list machines\n  heddle list workloads --json\n"
     "  heddle list mechanisms --cost -m maxwell    the storage of each, by part\n",
     cli_cmd_list},
    {"explain", "NAME", "say what a parameter or statistic means",
     "  heddle explain sm.registers\n  heddle explain sm          everything that begins with sm.\n",
     cli_cmd_explain},
    {"config", "dump [-m MACHINE] [--set KEY=VALUE] | import FILE... [-o FILE]",
     "show a machine as YAML, or make one of GPGPU-Sim's files",
     "  heddle config dump -m fermi --set sm.count=30\n"
     "  heddle config import gpgpusim.config trace.config -o mine.yaml\n",
     cli_cmd_config},
    {"sweep", "EXPERIMENT...",
     "make the runs of experiments, on all cores or on Slurm; stop and go on at any time",
     "  heddle sweep example --dry-run      which runs, which the store has, how long\n"
     "  heddle sweep mine.yaml -j 8         eight at a time; after Ctrl-C it goes on\n"
     "  heddle sweep mine.yaml --workloads bfs,cfd --size tiny --store try.db\n"
     "  heddle sweep mine.yaml --slurm=\"-p short --time=1:00:00\"\n"
     "                                      as a job array: docs/cluster.md\n",
     cli_cmd_sweep},
    {"reproduce", "EXPERIMENT...",
     "make an experiment's runs, and put its figures beside the paper's numbers",
     "  heddle reproduce thesis-fig3.10             runs, table, claims with verdicts\n"
     "  heddle reproduce thesis-ch3                 a study: all figures of a chapter\n",
     cli_cmd_reproduce},
    {"compare", "WORKLOAD... --mech A,B,C+D [-m MACHINE] [--size NAME]",
     "put mechanisms side by side: speed-up over the first one, L1 hit rate, what each did",
     "  heddle compare bfs kmeans --mech gto,swl,str\n"
     "  heddle compare cfd --mech none,victim+str    none: the machine as it is\n"
     "  heddle compare bfs --mech lrr,swl --mech-set swl.warps=8 --show l1.aml\n"
     "  heddle compare bfs nn --mech lrr,gto --size tiny -o page.html   with figures\n"
     "  heddle compare bfs nn --mech lrr,gto --json  for a script\n",
     cli_cmd_compare},
    {"profile", "WORKLOAD[:SIZE]... [-m MACHINE] [--step WARPS] -o FILE",
     "time kernels at all warp tuples {N, p}: what a model of Poise is trained on",
     "  heddle profile mr-pvr graph-ccl:paper -m kepler -o mine.profile\n"
     "  heddle profile bfs -m kepler --step 4 --dry-run   which runs, how long\n"
     "  heddle profile bfs -m kepler --kernel Kernel --cycles 24000\n"
     "                              after Ctrl-C the same command goes on\n",
     cli_cmd_profile},
    {"train", "PROFILE... [--exclude A,B] [-o MODEL]", "make a model of Poise from profiles",
     "  heddle train mine.profile -o mine.model\n"
     "  heddle run bfs -m kepler --mech poise --mech-set poise.model=mine.model\n"
     "  heddle train mine.profile --leave-one-out --evaluate others.profile\n",
     cli_cmd_train},
    {"map", "[options] WORKLOAD | [options] -- PROGRAM [ARGS...]",
     "show how fast a program is at all warp tuples {N, p}, and the path that Poise takes",
     "  heddle map bfs -m kepler                 a table, and what Poise predicted\n"
     "  heddle map -m kepler -- ./my_cuda_app    any CUDA program\n"
     "  heddle map bfs -m kepler --kernel Kernel --step 1 -o bfs.svg\n"
     "  heddle map bfs -m kepler --model mine.model --json\n",
     cli_cmd_map},
    {"query", "STORE [FILTER...]", "look into the results of sweeps",
     "  heddle query results.db                          all runs\n"
     "  heddle query results.db workload=bfs 'l1.aml>400' --show ipc,l1.aml\n"
     "  heddle query results.db set:l1.mshrs=128 mech=gto --sort -ipc --csv\n"
     "  heddle query results.db state=failed --show key,workload,error\n"
     "  heddle query results.db --run 3fa9               everything of one run\n"
     "  heddle query results.db --simulators             which versions made them\n"
     "  heddle query results.db --sql \"SELECT workload, value FROM stats WHERE\n"
     "      name = 'l1.aml'\"\n",
     cli_cmd_query},
    {"store", "pack STORE FILE [FILTER...] | unpack FILE STORE",
     "runs of a store as one small file, to keep or to continue elsewhere",
     "  heddle store pack results.db runs.pack              all runs that have ended\n"
     "  heddle store pack results.db bfs.pack workload=bfs  filters as of heddle query\n"
     "  heddle store pack results.db few.pack --launches 0  without those of launches\n"
     "  heddle store unpack runs.pack results.db            into a store, new or not\n",
     cli_cmd_store},
    {"report", "[STORE] [EXPERIMENT...]",
     "write a page with figures, the papers' claims and all runs of a store",
     "  heddle report                          report.html of all that results.db has\n"
     "  heddle report other.db thesis-ch3 -o ch3.html\n"
     "  heddle report --svg figures            each figure as a file, for a paper\n"
     "  heddle report --tables tables.md       each figure as a Markdown table\n"
     "  heddle report --claims claims.md       the papers' claims, with verdicts\n"
     "  heddle report old.db --simulator 3fa9  of runs that another version made\n",
     cli_cmd_report},
    {"new", "mechanism NAME", "write a mechanism of your own that builds and runs",
     "  heddle new mechanism my-scheduler && make -C my-scheduler\n"
     "  heddle run --mech my-scheduler/my-scheduler.so -- ./app\n",
     cli_cmd_new},
    {0},
};

static void print_help(void)
{
    printf("Heddle %s: a GPU simulator that runs real CUDA programs.\n\nusage: heddle COMMAND ...\n\n",
           HEDDLE_VERSION);
    enum { INDENT = 13 };
    for (const struct cli_command *c = cli_commands; c->name; c++) {
        printf("  %-*s", INDENT - 2, c->name);
        cli_print_wrapped(c->summary, INDENT, INDENT);
    }
    printf("\n`heddle COMMAND --help` has the options and examples of a command.\n\n"
           "  heddle run bfs --size tiny\n"
           "  heddle run -- ./my_cuda_app 1024\n"
           "  heddle kernel saxpy.ptx saxpy --grid 64 --block 256 --arg f32=2 \\\n"
           "      --arg buf:f32[16K]=rand --arg buf:f32[16K]\n"
           "  heddle reproduce example\n");
}

static int run_command(int argc, char **argv)
{
    if (argc < 2 || !strcmp(argv[1], "-h") || !strcmp(argv[1], "--help") || !strcmp(argv[1], "help")) {
        print_help();
        return argc < 2 ? CLI_BAD_INPUT : CLI_OK;
    }
    if (!strcmp(argv[1], "--version")) {
        printf("heddle %s\n", HEDDLE_VERSION);
        return CLI_OK;
    }
    const char *names[ARRAY_LEN(cli_commands)];
    size_t n = 0;
    for (; cli_commands[n].name; n++) {
        if (!strcmp(cli_commands[n].name, argv[1])) return cli_commands[n].run(argc - 1, argv + 1);
        names[n] = cli_commands[n].name;
    }
    const char *near = diag_nearest(argv[1], names, n);
    char hint[64] = "see heddle --help";
    if (near) snprintf(hint, sizeof hint, "did you mean '%s'?", near);
    cli_error(argc - 1, argv + 1, 0, 0, (int)strlen(argv[1]), hint, "unknown command '%s'", argv[1]);
    return CLI_BAD_INPUT;
}

/* Output that could not be written is a failure of any command. */
static int check_output(int status)
{
    if (output_flush(stdout)) return status;
    fprintf(stderr, "heddle: error: cannot write standard output%s%s\n", errno ? ": " : "",
            errno ? strerror(errno) : "");
    return status == CLI_OK ? CLI_FAILED : status;
}

int main(int argc, char **argv)
{
    signal(SIGXFSZ, SIG_IGN); /* past `ulimit -f` a write fails with a reason */
    return check_output(run_command(argc, argv));
}
