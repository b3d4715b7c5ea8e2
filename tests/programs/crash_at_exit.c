/* crash_at_exit.c: says that it has passed, then crashes when it ends: for passes_test.sh. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static void crash(void) { raise(SIGSEGV); }

int main(void)
{
    puts("it: PASS");
    fflush(stdout);
    return atexit(crash);
}
