/* rdc_other.cu: the other half of rdc_main.cu. */
__device__ int calls;
__constant__ int offsets[4] = {0, 10, 20, 30};
static __device__ int mine = 100;
__device__ int scale_by(int x) { return x * 3 + mine; }
