/* cfd_mesh.h: a mesh of tetrahedra around a box-shaped body in a wind tunnel. */
#ifndef CFD_MESH_H
#define CFD_MESH_H

enum { CFD_FACES = 4, CFD_WING = -1, CFD_FAR = -2 };

struct cfd_mesh {
    /* real ones */
    int elements;
    /* up to a whole number of CTAs; the rest repeats the last element */
    int padded;
    /* padded */
    float *areas;
    /* padded per face: a neighbour, CFD_WING or CFD_FAR */
    int *around;
    /* padded per face and axis: (face + axis * CFD_FACES) * padded + element; they point inwards */
    float *normals;
};

/* A tunnel of x * y * z cubes of six tetrahedra each, less a body of hx * hy * hz cubes in its middle. */
struct cfd_tunnel {
    int size[3], hole[3];
};
struct cfd_mesh cfd_mesh_make(const struct cfd_tunnel *tunnel, int block);

#endif
