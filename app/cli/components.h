// Components that CMake found when kerf was configured.
#pragma once

#include <string_view>

#ifndef KERF_LLVM_VERSION
#define KERF_LLVM_VERSION "found"
#endif
#ifndef KERF_DNNL_VERSION
#define KERF_DNNL_VERSION "found"
#endif
#ifndef KERF_MPI
#define KERF_MPI "not found"
#endif
#ifndef KERF_PYTHON
#define KERF_PYTHON "not found"
#endif
#ifndef KERF_QT
#define KERF_QT "not found, built without it"
#endif

namespace kerf::cli {

struct Component {
  std::string_view name, state;
};

/// The first three are required: without them kerf is not built.
inline constexpr Component components[] = {
    {"LLVM", KERF_LLVM_VERSION}, {"oneDNN", KERF_DNNL_VERSION}, {"OpenBLAS", "found"}, {"Qt", KERF_QT},
    {"MPI", KERF_MPI},           {"Python", KERF_PYTHON},
};

}  // namespace kerf::cli
