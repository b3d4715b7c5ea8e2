/* A transform by cuFFT, whose kernels have no PTX. */
#include <cstdio>
#include <cufft.h>

int main()
{
    cufftHandle plan;
    int made = cufftPlan1d(&plan, 256, CUFFT_C2C, 1);
    printf("cufftPlan1d: %d\n", made);
}
