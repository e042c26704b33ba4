// Textures whose levels are images of their own: an array of them, the coarsest first.
#define LEVELS 9

// Returns what READ gives of the image that is mip level `mip`: descriptors are selected by constants, which every device can.
#define OF_LEVEL(mip, READ)                                                                                                  \
    switch (LEVELS - 1 - (mip)) {                                                                                            \
    case 0: return READ(0);                                                                                                  \
    case 1: return READ(1);                                                                                                  \
    case 2: return READ(2);                                                                                                  \
    case 3: return READ(3);                                                                                                  \
    case 4: return READ(4);                                                                                                  \
    case 5: return READ(5);                                                                                                  \
    case 6: return READ(6);                                                                                                  \
    case 7: return READ(7);                                                                                                  \
    default: return READ(8);                                                                                                 \
    }
