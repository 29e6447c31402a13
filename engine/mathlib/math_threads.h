// How many threads the outside math libraries (OpenBLAS, oneDNN) may use.
#pragma once

namespace kerf::inline mathlib {

/// Threads of matrix products and of oneDNN from now on; 0 follows threadCount() again. A child made by fork() may use
/// as many: OpenBLAS starts its threads anew there, and oneDNN has none of its own (applyOpenMpThreads).
void setMathThreads(int count);
int mathThreads();

/// mathThreads(), but 1 for work too small to be worth waking threads (in multiplications).
int mathThreadsFor(double multiplications);

/// Makes OpenBLAS obey mathThreads(), for LAPACK's routines. Called before every use; costs nothing when nothing
/// changed.
void applyBlasThreads();
/// Makes OpenBLAS stay on the calling thread: large products are split here, so that one set of threads does
/// everything. Called before every use; costs nothing when nothing changed.
void applySingleBlasThread();
/// Makes OpenMP regions started by the calling thread use `count` threads.
void applyOpenMpThreads(int count);

}  // namespace kerf::inline mathlib
