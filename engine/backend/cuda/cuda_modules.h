// compileModules(): kernels as machine code. Those that the object cache lacks are compiled together, a module for each
// thread: NVRTC takes about as long to start on a module as for ten small kernels.
//
//   400 kernels, 16 threads: 16 modules of 25 kernels side by side, not 400 of one
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/codegen_cuda/kernel_source.h"
#include "engine/codegen_llvm/object_cache.h"

namespace kerf::inline backend {

/// Code of one or several kernels.
struct CudaModule {
  std::string ptx, cubin;
};
/// One per kernel, several of which may have the same module; null where it is not known.
using CudaModules = std::vector<std::shared_ptr<const CudaModule>>;

/// What code is made for, and by which NVRTC.
struct CudaTarget {
  std::string architecture;  ///< "sm_90"
  std::string compiler;      ///< "13.0"
};

enum class ModuleSharing : std::uint8_t {
  Alone,     ///< a module a kernel, whose PTX is that kernel's alone
  Together,  ///< several kernels a module
};

/// What the cache has. An entry that is damaged, or whose module is gone, is missing. Any thread.
CudaModules cachedModules(const std::vector<const CudaKernel*>& kernels, ModuleSharing sharing,
                          const CudaTarget& target, const ObjectCache& cache);

/// Compiles the kernels that have no module yet and keeps them in the cache. CompileFailed naming the kernel.
Result<void> compileModules(const std::vector<const CudaKernel*>& kernels, ModuleSharing sharing,
                            const CudaTarget& target, const ObjectCache& cache, CudaModules& modules);

/// One source of several kernels: each in a namespace of its own, behind one preamble.
std::string joinedSource(const std::vector<const CudaKernel*>& kernels);

/// At most `count` groups of about equal size, of the places of `sizes`, each in ascending order; none is empty.
std::vector<std::vector<std::size_t>> balancedGroups(const std::vector<std::size_t>& sizes, std::size_t count);

}  // namespace kerf::inline backend
