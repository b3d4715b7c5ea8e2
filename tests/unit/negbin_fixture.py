#!/usr/bin/env python3
"""negbin_fixture.py > negbin_fixture.h: a negative binomial regression by another way than src/lab/negbin.c:
Newton's method on the log-likelihood with its exact second derivatives, in plain Python, and the likeliest
dispersion by ternary search. Needs the standard library alone."""
import math

ROWS, COLUMNS = 36, 4


class Random:
    """A linear congruential generator, so that the data do not depend on Python's."""

    def __init__(self, seed):
        self.state = seed

    def uniform(self):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        return (self.state >> 11) / (1 << 53)

    def gamma(self, shape):  # sum of exponentials: whole shapes
        return -sum(math.log(1 - self.uniform()) for _ in range(shape))

    def poisson(self, mean):
        count, product, limit = 0, self.uniform(), math.exp(-mean)
        while product > limit:
            count, product = count + 1, product * self.uniform()
        return count


def solve(a, b):
    """Gaussian elimination with pivots."""
    n = len(b)
    a = [row[:] + [b[i]] for i, row in enumerate(a)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda r: abs(a[r][i]))
        a[i], a[pivot] = a[pivot], a[i]
        for r in range(i + 1, n):
            factor = a[r][i] / a[i][i]
            a[r] = [x - factor * y for x, y in zip(a[r], a[i])]
    out = [0.0] * n
    for i in reversed(range(n)):
        out[i] = (a[i][n] - sum(a[i][k] * out[k] for k in range(i + 1, n))) / a[i][i]
    return out


def likelihood(x, y, b, a):
    sum_ = 0.0
    for row, count in zip(x, y):
        mu = math.exp(sum(u * v for u, v in zip(row, b)))
        sum_ += math.lgamma(count + 1 / a) - math.lgamma(1 / a) - math.lgamma(count + 1)
        sum_ += count * math.log(a * mu) - (count + 1 / a) * math.log(1 + a * mu)
    return sum_


def fit(x, y, a):
    """d/db = sum (y - mu) / (1 + a mu) x;  d2/db2 = -sum mu (1 + a y) / (1 + a mu)^2 x x'."""
    b = [0.0] * (COLUMNS - 1) + [math.log(sum(y) / len(y))]
    for _ in range(100):
        first = [0.0] * COLUMNS
        second = [[0.0] * COLUMNS for _ in range(COLUMNS)]
        for row, count in zip(x, y):
            mu = math.exp(sum(u * v for u, v in zip(row, b)))
            for i in range(COLUMNS):
                first[i] += (count - mu) / (1 + a * mu) * row[i]
                for k in range(COLUMNS):
                    second[i][k] += mu * (1 + a * count) / (1 + a * mu) ** 2 * row[i] * row[k]
        step, share = solve(second, first), 1.0
        while likelihood(x, y, [u + share * v for u, v in zip(b, step)], a) < likelihood(x, y, b, a) - 1e-12:
            share /= 2
        b = [u + share * v for u, v in zip(b, step)]
        if max(abs(v) for v in step) < 1e-14:
            break
    return b


def likeliest(x, y):
    low, high = math.log(1e-6), math.log(1e2)
    for _ in range(200):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        if likelihood(x, y, fit(x, y, math.exp(left)), math.exp(left)) < \
                likelihood(x, y, fit(x, y, math.exp(right)), math.exp(right)):
            low = left
        else:
            high = right
    return math.exp((low + high) / 2)


def main():
    random = Random(20190216)
    truth, dispersion = [1.5, -2.0, 0.75, 1.0], 0.25
    x = [[random.uniform(), random.uniform(), 2 * random.uniform() - 1, 1.0] for _ in range(ROWS)]
    y = []
    for row in x:
        mu = math.exp(sum(u * v for u, v in zip(row, truth)))
        y.append(random.poisson(mu * random.gamma(4) * dispersion))
    print("/* Made by negbin_fixture.py: data of a negative binomial distribution, and the weights of\n"
          " * greatest likelihood for some dispersions; the last one is the likeliest. */")
    print("/* clang-format off */")
    print(f"enum {{ FIXTURE_ROWS = {ROWS}, FIXTURE_COLUMNS = {COLUMNS} }};")
    print("static const double fixture_x[] = {")
    for row in x:
        print("    " + " ".join(f"{v:.17g}," for v in row))
    print("};\nstatic const double fixture_y[] = {")
    for i in range(0, ROWS, 18):
        print("    " + " ".join(f"{v}," for v in y[i:i + 18]))
    print("};\nstatic const struct {\n    double dispersion, weights[FIXTURE_COLUMNS], log_likelihood;\n"
          "} fixture_fits[] = {")
    for a in [1.0, 0.25, 4.0, likeliest(x, y)]:
        b = fit(x, y, a)
        print(f"    {{{a:.12g},\n     {{{', '.join(f'{v:.12g}' for v in b)}}},\n"
              f"     {likelihood(x, y, b, a):.12g}}},")
    print("};")


main()
