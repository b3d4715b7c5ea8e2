/* test_random_timed.c: random kernels on the timed machine: plain, sectored and squeezed machines, alone and
 * several at once, asleep between events and ticking through, L1s by themselves and answering each other's
 * misses (ccn). What they leave in memory is what the evaluator (and so the functional run) says; sleeping
 * changes neither a cycle nor a statistic. FIRST_SEED COUNT. */
#include "random_kit.h"

#include "core/timed.h"

/* kernels that share a machine, so that the later ones find it warm */
enum { GROUP = 4 };

static const char *const machine_names[] = {"fermi", "maxwell", "rtx3080",
                                            HEDDLE_SOURCE_DIR "/tests/timing/squeeze.yaml"};
/* Four CTAs meet on an SM rather than one. */
static const char *const few_sms = "sm.count=2";
static struct machine machines[ARRAY_LEN(machine_names)];

static void load_machines(void)
{
    for (size_t i = 0; i < ARRAY_LEN(machine_names); i++) {
        struct diag_list diags = {0};
        struct strbuf text = {0};
        bool ok = machine_load(machine_names[i], &few_sms, 1, &machines[i], &diags);
        diag_render(&diags, &text);
        if (!ok) {
            fputs(strbuf_text(&text), stderr);
            exit(1);
        }
        diag_free(&diags);
        strbuf_free(&text);
    }
}

/* On streams of their own they run at the same time; on one they run in turn. */
static uint64_t run_group(const struct random_kernel *kernels, const struct machine *m, bool together,
                          const struct timed_options *o, uint64_t *cycles)
{
    char way[160];
    struct diag_list diags = {0};
    struct emu_fault fault;
    snprintf(way, sizeof way, "%s%s%s%s%s", m->name, together ? ", together" : "",
             o->no_skip ? ", no skip" : "", o->mech_count ? ", " : "",
             o->mech_count ? o->mech_settings[0] : "");
    struct timed_gpu *gpu = timed_create(m, device, o, &diags);
    if (!gpu) random_fail(kernels, way, "the machine cannot be made");
    for (uint32_t i = 0; i < GROUP; i++) {
        struct emu_launch l = random_begin(&kernels[i]);
        timed_launch(gpu, &l, together ? 1 + i : 0);
    }
    if (timed_sync(gpu, UINT64_MAX, &fault) != EMU_OK) random_fail(kernels, way, timed_report(gpu));
    for (uint32_t i = 0; i < GROUP; i++) random_check(&kernels[i], way);
    uint64_t hash = timed_hash(gpu);
    *cycles = timed_cycles(gpu);
    timed_destroy(gpu);
    diag_free(&diags);
    return hash;
}

static void run_functional(const struct random_kernel *k)
{
    struct emu_stats stats = {0};
    struct emu_fault fault;
    struct emu_launch l = random_begin(k);
    if (emu_run(device, &l, &stats, &fault) != EMU_OK) random_fail(k, "functional", fault.message);
    random_check(k, "functional");
}

/* L1s that answer each other's misses change no result. */
static void run_with_ring(const struct random_kernel *kernels, uint64_t seed)
{
    static const char *const ccn = "ccn";
    static const char *const settings[][3] = {
        {"ccn.mode=basic"},
        {"ccn.mode=ideal"},
        {"ccn.mode=throttled", "ccn.sample=200", "ccn.period=500"},
    };
    const uint64_t turn = seed / GROUP;
    const char *const *set = settings[turn % ARRAY_LEN(settings)];
    const struct timed_options o = {
        .mechs = &ccn, .mech_count = 1, .mech_settings = set, .mech_setting_count = set[1] ? 3 : 1};
    uint64_t cycles;
    run_group(kernels, &machines[turn / ARRAY_LEN(settings) % ARRAY_LEN(machines)], turn % 2, &o, &cycles);
}

static void run_seeds(uint64_t seed)
{
    static const struct lower_options ways[] = {{.opt_level = 1, .regs_max = 63},
                                                {.opt_level = 1, .regs_max = 20, .no_inline = true},
                                                {.one_to_one = true, .regs_max = 63}};
    static const struct timed_options no_skip = {.no_skip = true};
    struct random_kernel kernels[GROUP];
    for (uint32_t i = 0; i < GROUP; i++) {
        random_make(&kernels[i], seed + i);
        random_load(&kernels[i], "load", &ways[(seed + i) % ARRAY_LEN(ways)]);
        run_functional(&kernels[i]);
    }
    for (size_t m = 0; m < ARRAY_LEN(machines); m++) {
        bool together = (seed / GROUP / ARRAY_LEN(machines) + m) % 2;
        uint64_t cycles[2];
        uint64_t skip = run_group(kernels, &machines[m], together, &(struct timed_options){0}, &cycles[0]);
        if (m != seed / GROUP % ARRAY_LEN(machines)) continue; /* slow: one machine in turn */
        uint64_t all = run_group(kernels, &machines[m], together, &no_skip, &cycles[1]);
        if (cycles[0] == cycles[1] && skip == all) continue;
        fprintf(stderr,
                "seeds %llu to %llu, %s: %llu cycles, hash %016llx; no skip: %llu cycles, hash %016llx\n",
                (unsigned long long)seed, (unsigned long long)seed + GROUP - 1, machines[m].name,
                (unsigned long long)cycles[0], (unsigned long long)skip, (unsigned long long)cycles[1],
                (unsigned long long)all);
        exit(1);
    }
    run_with_ring(kernels, seed);
    for (uint32_t i = 0; i < GROUP; i++) {
        emu_module_unload(device, kernels[i].module);
        random_free(&kernels[i]);
    }
}

int main(int argc, char **argv)
{
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 0) : 1,
             count = argc > 2 ? strtoull(argv[2], NULL, 0) : 200;
    setenv("HEDDLE_HOME", HEDDLE_SOURCE_DIR, 0);
    load_machines();
    random_open_device();
    uint64_t seed = first;
    for (; seed < first + count; seed += GROUP) run_seeds(seed);
    emu_device_destroy(device);
    printf("%llu random kernels on %zu machines, with and without sleep: all agree\n",
           (unsigned long long)(seed - first), ARRAY_LEN(machines));
    return 0;
}
