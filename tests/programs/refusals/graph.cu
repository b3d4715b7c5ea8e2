/* A stream that is captured into a graph. */
#include <cstdio>

int main()
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaStreamCreate(&stream);
    bool refused = cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaErrorNotSupported;
    refused &= cudaGraphCreate(&graph, 0) == cudaErrorNotSupported;
    printf("graph: %s\n", refused ? "PASS" : "FAIL");
}
