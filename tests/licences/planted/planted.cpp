// Libraries that only the tests know: the first is linked to the second, and that to the third (PLANTED says which).
#if PLANTED == 1
int plantedUnlisted() { return 1; }
#elif PLANTED == 2
int plantedUnlisted();
int plantedMiddle() { return plantedUnlisted() + 1; }
#else
int plantedMiddle();
int plantedTop() { return plantedMiddle() + 1; }
#endif
