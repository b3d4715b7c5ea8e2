/* graph-ccl: host side. */
#include "kit/kit.h"

#define BLOCK 256
#define LIMIT                                                                                                \
    10 /* how far the colours of neighbours in one component may differ; the original's logo.dat says so */

struct colour {
    double r, g, b;
};

/* Mixes a colour into a pixel; the edges of shapes are soft, as those of a drawn logo. */
static void blend(struct colour *p, struct colour c, double cover)
{
    p->r += (c.r - p->r) * cover, p->g += (c.g - p->g) * cover, p->b += (c.b - p->b) * cover;
}

static double clamp01(double x) { return fmin(fmax(x, 0), 1); }

/* One disc or ring. */
static void draw_shape(struct colour *image, int width, int height)
{
    double cx = kit_uniform(0, width), cy = kit_uniform(0, height), radius = kit_uniform(2, height / 6.0);
    double hole = kit_below(2) ? radius * kit_uniform(0.4, 0.9) : -2;
    struct colour c = {kit_uniform(0, 255), kit_uniform(0, 255), kit_uniform(0, 255)};
    for (int y = (int)fmax(cy - radius - 1, 0); y < height && y <= cy + radius + 1; y++)
        for (int x = (int)fmax(cx - radius - 1, 0); x < width && x <= cx + radius + 1; x++) {
            double distance = hypot(x - cx, y - cy);
            blend(&image[y * width + x], c,
                  clamp01(radius + 0.5 - distance) * clamp01(distance - hole + 0.5));
        }
}

/* A logo-like image: near-white ground, soft-edged discs and rings of one colour each, and a grainy
 * corner. */
static int *logo(int width, int height, int shapes)
{
    int n = width * height, *packed = kit_host(n * sizeof *packed);
    struct colour *image = malloc(n * sizeof *image);
    for (int i = 0; i < n; i++) image[i] = (struct colour){254, 254, 252};
    for (int i = 0; i < shapes; i++) draw_shape(image, width, height);
    for (int i = 0; i < n; i++) {
        bool grainy = i / width < height / 4 && i % width < width / 4;
        int grain = grainy ? (int)kit_below(9) : 0;
        int r = (int)image[i].r - grain, g = (int)image[i].g - grain, b = (int)image[i].b - grain;
        packed[i] = (r < 0 ? 0 : r) << 16 | (g < 0 ? 0 : g) << 8 | (b < 0 ? 0 : b);
    }
    free(image);
    return packed;
}

static int distance_of(int a, int b)
{
    int sum = 0;
    for (int shift = 0; shift < 24; shift += 8) sum += abs((a >> shift & 255) - (b >> shift & 255));
    return sum;
}

static int root_of(int *parent, int v)
{
    while (parent[v] != v) v = parent[v] = parent[parent[v]];
    return v;
}

/* Union-find over the forward half of the neighbourhood; the smaller number is always the root. */
static void components_cpu(const int *image, int width, int height, int *label)
{
    const int dx[] = {1, -1, 0, 1}, dy[] = {0, 1, 1, 1};
    for (int v = 0; v < width * height; v++) label[v] = v;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            for (int k = 0; k < 4; k++) {
                int ox = x + dx[k], oy = y + dy[k], v = y * width + x, o = oy * width + ox;
                if (ox < 0 || ox >= width || oy >= height || distance_of(image[v], image[o]) > LIMIT)
                    continue;
                int a = root_of(label, v), b = root_of(label, o);
                label[a > b ? a : b] = a > b ? b : a;
            }
    for (int v = 0; v < width * height; v++) label[v] = root_of(label, v);
}

int main(int argc, char **argv)
{
    kit_open("graph-ccl", argc, argv);
    int width = (const int[]){64, 400, 561}[kit_size()], height = (const int[]){40, 300, 546}[kit_size()];
    int n = width * height, limit = LIMIT;
    int *image = logo(width, height, (const int[]){8, 60, 120}[kit_size()]);
    int *label = kit_host(n * sizeof *label), *want = kit_host(n * sizeof *want);

    CUdeviceptr dD = kit_upload(image, n * sizeof *image), dL = kit_alloc(n * sizeof *label);
    CUdeviceptr dR = kit_alloc(n * sizeof *label), dmore = kit_alloc(sizeof(bool));
    unsigned side = (unsigned)sqrt((double)n / BLOCK) + 1; /* a square grid, its last rows partly idle */
    struct kit_dim grid = KIT_DIM(side, side), block = KIT_DIM(BLOCK);
    KIT_LAUNCH("init_CCL", grid, block, 0, dL, dR, n);
    int rounds = 0;
    for (;; rounds++) {
        bool more = false;
        kit_put(dmore, &more, sizeof more);
        KIT_LAUNCH("scanning8", grid, block, 0, dD, dL, dR, dmore, n, width, limit);
        kit_download(&more, dmore, sizeof more);
        if (!more) break;
        KIT_LAUNCH("analysis", grid, block, 0, dL, dR, n);
        KIT_LAUNCH("labeling", grid, block, 0, dL, dR, n);
    }
    kit_download(label, dL, n * sizeof *label);

    int components = 0;
    for (int v = 0; v < n; v++) components += label[v] == v;
    kit_note("%d x %d pixels, %d components, %d rounds", width, height, components, rounds);
    if (kit_checking()) {
        components_cpu(image, width, height, want);
        kit_check_ints("label", label, want, n);
    }
    return kit_close();
}
