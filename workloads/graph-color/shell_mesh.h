/* shell_mesh.h: the graph of graph-color, made like the matrix hood of the University of Florida's
 * collection. */
#ifndef GRAPH_COLOR_MESH_H
#define GRAPH_COLOR_MESH_H

/* Vertex v's neighbours are adjacency[v * max_degree ...], rising, closed by -1 where there are fewer. */
struct mesh {
    int vertices, max_degree;
    int *adjacency;
};

/* A shell of width x height nodes with six unknowns each; the count of vertices is rounded up to a whole
 * multiple of `round_to` with vertices that have no neighbours, as the original pads its graphs. */
struct mesh mesh_make(int width, int height, int round_to);

#endif
