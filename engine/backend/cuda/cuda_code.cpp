#include "engine/backend/cuda/cuda_code.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <unordered_map>

#include "engine/backend/cuda/compiler_version.h"
#include "engine/backend/cuda/devices.h"
#include "engine/codegen_llvm/object_cache.h"

namespace kerf::inline backend {
namespace {

/// The code of every step without its module.
Result<std::vector<CudaStepCode>> generatedCodes(const LoweredGraph& graph, const CudaTarget& target, bool shares) {
  std::vector<CudaStepCode> codes;
  std::unordered_map<std::string, std::size_t> known;
  for (const LoweredStep& step : graph.steps) {
    if (step.isExtern) continue;
    std::vector<std::string> nodes;
    for (const NodeId id : step.nodes) nodes.push_back(graph.values->graph().node(id).name());
    CudaStepCode code{.name = step.kernel.name};
    code.guarded = !step.indexChecks.empty();
    KERF_TRY(code.kernel,
             generateKernel(step.kernel, nodes, step.origins, code.guarded ? KernelGuard::Indices : KernelGuard::None,
                            KernelTarget::of(target.architecture, target.compiler)));
    code.writes.assign(step.kernel.buffers.size(), false);
    for (const LoopStore& store : step.kernel.stores) code.writes[std::size_t(store.buffer)] = true;
    code.same =
        shares ? known.emplace(structuralKey(step.kernel) + (code.guarded ? "guarded" : ""), codes.size()).first->second
               : codes.size();
    codes.push_back(std::move(code));
  }
  return codes;
}

/// The kernels that have code of their own, and the places of their steps.
struct OwnKernels {
  std::vector<std::size_t> steps;
  std::vector<const CudaKernel*> kernels;

  explicit OwnKernels(const std::vector<CudaStepCode>& codes) {
    for (std::size_t c = 0; c < codes.size(); ++c) {
      if (codes[c].same != c) continue;
      steps.push_back(c);
      kernels.push_back(&codes[c].kernel);
    }
  }
};

bool isWhole(const CudaModules& modules) {
  return std::ranges::all_of(modules, [](const auto& module) { return module != nullptr; });
}

/// What was found in the cache, and what is in the graph.
struct FoundCodes {
  std::vector<CudaStepCode> codes;
  CudaModules modules;
};

Result<FoundCodes> findCodes(const LoweredGraph& graph, const CudaTarget& target, ModuleSharing sharing,
                             const ObjectCache& cache) {
  FoundCodes found;
  KERF_TRY(found.codes, generatedCodes(graph, target, sharing == ModuleSharing::Together));
  found.modules = cachedModules(OwnKernels(found.codes).kernels, sharing, target, cache);
  return found;
}

}  // namespace

Result<std::vector<CudaStepCode>> compileCuda(const LoweredGraph& graph, const std::string& architecture,
                                              const std::filesystem::path& cache, bool shares) {
  const ObjectCache objects(cache);
  const ModuleSharing sharing = shares ? ModuleSharing::Together : ModuleSharing::Alone;
  std::optional<FoundCodes> found;
  CudaTarget target{architecture, rememberedCompiler(objects).value_or("")};
  if (!target.compiler.empty()) {
    KERF_TRY(found, findCodes(graph, target, sharing, objects));
  }
  if (!found || !isWhole(found->modules)) {
    KERF_TRY(std::string opened, openedCompiler(objects));
    if (!found || opened != target.compiler) {
      target.compiler = std::move(opened);
      KERF_TRY(found, findCodes(graph, target, sharing, objects));
    }
  }
  const OwnKernels own(found->codes);
  CudaModules modules = found->modules;
  KERF_CHECK(compileModules(own.kernels, sharing, target, objects, modules));
  for (std::size_t k = 0; k < modules.size(); ++k) {
    CudaStepCode& code = found->codes[own.steps[k]];
    code.cached = found->modules[k] != nullptr;
    code.module = std::move(modules[k]);
  }
  return std::move(found->codes);
}

Result<std::string> compiledCubin(const std::string& source, const std::string& architecture,
                                  const std::filesystem::path& cache) {
  const ObjectCache objects(cache);
  const CudaKernel kernel{"", source, {}};
  CudaTarget target{architecture, rememberedCompiler(objects).value_or("")};
  if (!target.compiler.empty())
    if (const auto known = cachedModules({&kernel}, ModuleSharing::Alone, target, objects); isWhole(known))
      return known.front()->cubin;
  KERF_TRY(target.compiler, openedCompiler(objects));
  CudaModules modules(1);
  KERF_CHECK(compileModules({&kernel}, ModuleSharing::Alone, target, objects, modules));
  return modules.front()->cubin;
}

std::string targetArchitecture() {
  if (const char* chosen = std::getenv("KERF_CUDA_ARCH"); chosen != nullptr && *chosen != '\0') return chosen;
  return deviceArchitecture().value_or("sm_90");
}

}  // namespace kerf::inline backend
