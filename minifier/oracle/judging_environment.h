// What a verdict depends on beside graph and oracle: this program, and the variables that compilers read.
#pragma once

#include <string>

namespace kerf::inline minifier::inline oracle {

/// The running program as its linker named it (build id), as hexadecimal digits: another build of Kerf does not trust
/// this one's verdicts on its own engine. Where it has none, a hash of its file.
std::string programIdentity();

/// Hash of the variables of this process that change what a program, Python or PyTorch does: PATH, LD_*, PYTHON*,
/// TORCH*, PYTORCH*, CUDA*, INDUCTOR*, TRITON*, compilers and thread counts; not of folders for caches, which change
/// nothing.
std::string environmentIdentity();

}  // namespace kerf::inline minifier::inline oracle
