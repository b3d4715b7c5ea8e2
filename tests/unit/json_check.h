/* json_check.h: a strict reader of JSON (RFC 8259) for tests: is a text valid, and what stands at a path
 * ("kernels.1.stats.sm"). */
#ifndef HEDDLE_JSON_CHECK_H
#define HEDDLE_JSON_CHECK_H

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char *json_skip_space(const char *p)
{
    while (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r') p++;
    return p;
}

/* Each json_skip_* returns the position after what it names, or NULL. */
static const char *json_skip_string(const char *p)
{
    if (*p++ != '"') return NULL;
    for (; *p != '"'; p++) {
        if ((unsigned char)*p < 0x20) return NULL; /* also the end of the text */
        if (*p != '\\') continue;
        p++;
        if (*p == 'u') {
            for (int i = 1; i <= 4; i++)
                if (!isxdigit((unsigned char)p[i])) return NULL;
            p += 4;
        } else if (!*p || !strchr("\"\\/bfnrt", *p)) {
            return NULL;
        }
    }
    return p + 1;
}

static const char *json_skip_digits(const char *p)
{
    if (!isdigit((unsigned char)*p)) return NULL;
    while (isdigit((unsigned char)*p)) p++;
    return p;
}

static const char *json_skip_number(const char *p)
{
    if (*p == '-') p++;
    if (*p == '0' && isdigit((unsigned char)p[1])) return NULL;
    p = json_skip_digits(p);
    if (p && *p == '.') p = json_skip_digits(p + 1);
    if (p && (*p == 'e' || *p == 'E')) {
        p++;
        if (*p == '+' || *p == '-') p++;
        p = json_skip_digits(p);
    }
    return p;
}

static const char *json_skip_value(const char *p, int depth);

static const char *json_skip_container(const char *p, int depth)
{
    char end = *p == '{' ? '}' : ']';
    p = json_skip_space(p + 1);
    if (*p == end) return p + 1;
    for (;;) {
        if (end == '}') {
            p = json_skip_string(json_skip_space(p));
            if (!p || *(p = json_skip_space(p)) != ':') return NULL;
            p++;
        }
        p = json_skip_value(json_skip_space(p), depth + 1);
        if (!p) return NULL;
        p = json_skip_space(p);
        if (*p == end) return p + 1;
        if (*p++ != ',') return NULL;
        p = json_skip_space(p);
    }
}

static const char *json_skip_value(const char *p, int depth)
{
    static const char *const words[] = {"true", "false", "null"};
    if (depth > 64) return NULL;
    if (*p == '{' || *p == '[') return json_skip_container(p, depth);
    if (*p == '"') return json_skip_string(p);
    for (int i = 0; i < 3; i++)
        if (!strncmp(p, words[i], strlen(words[i]))) return p + strlen(words[i]);
    return json_skip_number(p);
}

static bool json_is_valid(const char *text)
{
    const char *end = json_skip_value(json_skip_space(text), 0);
    return end && !*json_skip_space(end);
}

/* The member or element of the valid container at p that the first part of path names. */
static const char *json_member(const char *p, const char *path, size_t len)
{
    bool is_object = *p == '{';
    long index = is_object ? -1 : strtol(path, NULL, 10);
    p = json_skip_space(p + 1);
    for (long i = 0; *p != '}' && *p != ']'; i++) {
        bool found = i == index;
        if (is_object) {
            const char *end = json_skip_string(p);
            found = (size_t)(end - p) == len + 2 && !strncmp(p + 1, path, len);
            p = json_skip_space(json_skip_space(end) + 1);
        }
        if (found) return p;
        p = json_skip_space(json_skip_value(p, 0));
        if (*p == ',') p = json_skip_space(p + 1);
    }
    return NULL;
}

/* Parts are parted by '/', because names hold dots. NULL: not there. */
static inline const char *json_at(const char *text, const char *path)
{
    const char *p = json_is_valid(text) ? json_skip_space(text) : NULL;
    while (p && *path) {
        size_t len = strcspn(path, "/");
        if (*p != '{' && *p != '[') return NULL;
        p = json_member(p, path, len);
        path += len + (path[len] == '/');
    }
    return p;
}

static inline double json_number_at(const char *text, const char *path)
{
    const char *p = json_at(text, path);
    return p ? strtod(p, NULL) : -1e300;
}

static inline bool json_text_is(const char *text, const char *path,
                                const char *expected) /* expected: quoted and escaped */
{
    const char *p = json_at(text, path);
    return p && !strncmp(p, expected, strlen(expected));
}

#endif
