/* backprop: host side. One step of training: the layer of 65536 inputs on the device, the small output layer
 * here. */
#include "kit/kit.h"

#define HEIGHT   16
#define HIDDEN   16
#define COLS     (HIDDEN + 1) /* a row of weights: bias, then the hidden units */
#define ETA      0.3
#define MOMENTUM 0.3
#define TARGET   0.1

struct net {
    int in;
    /* in + 1; place 0 is the bias's, always 1 */
    float *input;
    /* (in + 1) rows of COLS, and their last change */
    float *weights, *before;
    float hidden_weights[COLS];
};

static double squash(double x) { return 1 / (1 + exp(-x)); }

/* Weights small enough that the hidden units are not driven flat, as they are with the original's 0 .. 1:
 * then every error would vanish and the second kernel would have nothing to add. */
static struct net net_generate(int in)
{
    size_t n = (size_t)(in + 1) * COLS;
    double range = 2 / sqrt(in);
    struct net net = {
        in, kit_floats(in + 1, 0, 1), kit_floats(n, -range, range), kit_floats(n, -range, range), {0}};
    net.input[0] = 1;
    for (int j = 0; j < COLS; j++) net.hidden_weights[j] = (float)kit_uniform(-1, 1);
    return net;
}

/* What lies between the two kernels: hidden units out of their sums, the one output, and the errors of the
 * hidden units. */
static void hidden_errors(const struct net *net, const double sums[COLS], double delta[COLS])
{
    double hidden[COLS] = {1}, out = net->hidden_weights[0];
    for (int j = 1; j < COLS; j++) {
        hidden[j] = squash(sums[j] + net->weights[j]);
        out += hidden[j] * net->hidden_weights[j];
    }
    out = squash(out);
    double out_delta = out * (1 - out) * (TARGET - out);
    delta[0] = 0;
    for (int j = 1; j < COLS; j++)
        delta[j] = hidden[j] * (1 - hidden[j]) * out_delta * net->hidden_weights[j];
}

static void sums_check(const struct net *net, const float *partial, double want[COLS])
{
    float *sums = kit_host((size_t)net->in / HEIGHT * HIDDEN * sizeof *sums);
    for (int j = 0; j < COLS; j++) want[j] = 0;
    for (int i = 1; i <= net->in; i++) {
        for (int j = 1; j < COLS; j++) {
            double term = (double)net->input[i] * net->weights[(size_t)i * COLS + j];
            sums[(i - 1) / HEIGHT * HIDDEN + j - 1] += (float)term;
            want[j] += term;
        }
    }
    kit_check_floats("partial sums", partial, sums, (size_t)net->in / HEIGHT * HIDDEN, 1e-4,
                     1e-6 / sqrt(net->in) * 16);
}

/* Row 0 is the bias's, whose input is 1; column 0 belongs to no hidden unit and stays. */
static void adjust_check(const struct net *net, const double delta[COLS], const float *weights,
                         const float *before)
{
    size_t n = (size_t)(net->in + 1) * COLS;
    float *want = kit_host(n * sizeof *want), *change = kit_host(n * sizeof *change);
    for (size_t k = 0; k < n; k++) {
        bool moves = k % COLS != 0;
        double by =
            moves ? ETA * delta[k % COLS] * net->input[k / COLS] + MOMENTUM * net->before[k] : net->before[k];
        change[k] = (float)by;
        want[k] = (float)(net->weights[k] + (moves ? by : 0));
    }
    double small = 1e-6 * 2 / sqrt(net->in);
    kit_check_floats("weights", weights, want, n, 1e-5, small);
    kit_check_floats("changes", before, change, n, 1e-5, small);
}

static const struct size {
    const char *name;
    int inputs;
} sizes[] = {{"tiny", 1024}, {"small", 65536}, {"paper", 65536}, {"llc", 196608}};

int main(int argc, char **argv)
{
    kit_open("backprop", argc, argv);
    const struct size *size = KIT_CHOOSE(sizes);
    int in = size->inputs, hid = HIDDEN;
    struct net net = net_generate(in);
    size_t rows = (size_t)(in + 1) * COLS * sizeof(float),
           partial_bytes = (size_t)in / HEIGHT * HIDDEN * sizeof(float);
    float *partial = kit_host(partial_bytes), *weights = kit_host(rows), *before = kit_host(rows),
          deltas[COLS];

    struct kit_dim grid = KIT_DIM(1, in / HEIGHT), block = KIT_DIM(HIDDEN, HEIGHT);
    CUdeviceptr dinput = kit_upload(net.input, (in + 1) * sizeof(float)),
                dhidden = kit_alloc(COLS * sizeof(float));
    CUdeviceptr dweights = kit_upload(net.weights, rows), dpartial = kit_alloc(partial_bytes);
    KIT_LAUNCH("bpnn_layerforward_CUDA", grid, block, 0, dinput, dhidden, dweights, dpartial, in, hid);
    kit_download(partial, dpartial, partial_bytes);

    double sums[COLS] = {0}, want_sums[COLS], delta[COLS], want_delta[COLS];
    for (int k = 0; k < in / HEIGHT; k++)
        for (int j = 1; j < COLS; j++) sums[j] += partial[k * HIDDEN + j - 1];
    hidden_errors(&net, sums, delta);
    for (int j = 0; j < COLS; j++) deltas[j] = (float)delta[j];

    /* The first kernel leaves its products where the weights were: they go down again, as in the original. */
    CUdeviceptr ddelta = kit_upload(deltas, sizeof deltas), dbefore = kit_upload(net.before, rows);
    kit_put(dweights, net.weights, rows);
    KIT_LAUNCH("bpnn_adjust_weights_cuda", grid, block, 0, ddelta, hid, dinput, in, dweights, dbefore);
    kit_download(weights, dweights, rows);
    kit_download(before, dbefore, rows);

    if (kit_checking()) {
        sums_check(&net, partial, want_sums);
        hidden_errors(&net, want_sums, want_delta);
        adjust_check(&net, want_delta, weights, before);
    }
    return kit_close();
}
