/* rt_state.c: the process's and the threads' state, and the table of live handles. */
#include "cuda/rt_state.h"

/* There is one runtime per process: programs register their kernels before main and pass no context to any
 * call. This is its only mutable object. */
struct rt_state *rt_state(void)
{
    static struct rt_state state;
    return &state;
}

struct rt_thread *rt_thread(void)
{
    static _Thread_local struct rt_thread thread;
    return &thread;
}

void rt_object_add(void *object, enum rt_kind kind)
{
    ((struct rt_object *)object)->kind = kind;
    rt_table_put(&rt_state()->objects, rt_key(object), object);
}

void *rt_object_find(const void *handle, enum rt_kind kind)
{
    struct rt_object *o = rt_table_get(&rt_state()->objects, rt_key(handle));
    return o && o->kind == kind ? o : NULL;
}

void rt_object_remove(void *object)
{
    rt_table_remove(&rt_state()->objects, rt_key(object));
    free(object);
}

/* Streams, events and arrays belonged to the context; kernels and binaries belong to the program and stay. */
static void objects_reset(struct rt_state *s)
{
    struct rt_object *o;
    for (uint32_t i = 0; (o = rt_table_next(&s->objects, &i));)
        if (o->kind == RT_STREAM || o->kind == RT_EVENT || o->kind == RT_ARRAY) rt_object_remove(o);
}

void rt_state_refresh(struct gpu *g)
{
    struct rt_state *s = rt_state();
    gpu_lock();
    if (s->generation != gpu_generation(g)) {
        s->generation = gpu_generation(g);
        rt_modules_reset(g);
        rt_textures_reset();
        rt_texrefs_reset();
        rt_pools_reset();
        rt_memory_reset();
        objects_reset(s);
        s->limits_ready = false;
    }
    gpu_unlock();
}
