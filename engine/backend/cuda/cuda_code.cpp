#include "engine/backend/cuda/cuda_code.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <unordered_map>

#include "engine/backend/cuda/driver.h"
#include "engine/codegen_cuda/nvrtc.h"
#include "engine/codegen_cuda/scalar_text.h"
#include "engine/codegen_llvm/object_cache.h"
#include "engine/process/program.h"
#include "engine/process/temporary_folder.h"
#include "engine/support/thread_pool.h"

namespace kerf::inline backend {
namespace {

/// Of entries that an older kerf wrote nothing is taken.
constexpr std::string_view cacheVersion = "cuda 1";

struct CachedCode {
  CompiledSource code;
  bool cached = false;
};

Result<CachedCode> compileCached(const std::string& source, const std::string& architecture,
                                 const std::string& compiler, const ObjectCache& cache) {
  const Hash128 key = hashText(fmt::format("{} {} {}\n{}", cacheVersion, compiler, architecture, source));
  if (auto known = cache.find(key); known && known->texts.size() == 1)
    return CachedCode{{std::move(known->texts.front()), std::move(known->object)}, true};
  KERF_TRY(CompiledSource compiled, compileSource(source, architecture));
  cache.store(key, {compiled.cubin, {compiled.ptx}});
  return CachedCode{std::move(compiled), false};
}

Result<void> compileStep(CudaStepCode& code, const std::string& architecture, const std::string& compiler,
                         const ObjectCache& cache) {
  auto made = compileCached(code.kernel.source, architecture, compiler, cache);
  if (!made) {
    made.error().message = fmt::format("kernel {}: {}", code.kernel.name, made.error().message);
    return fail(std::move(made.error()));
  }
  code.ptx = std::move(made->code.ptx);
  code.cubin = std::move(made->code.cubin);
  code.cached = made->cached;
  return {};
}

}  // namespace

Result<std::vector<CudaStepCode>> compileCuda(const LoweredGraph& graph, const std::string& architecture,
                                              const std::filesystem::path& cache, bool shares) {
  KERF_TRY(const std::string compiler, nvrtcVersion());
  std::vector<CudaStepCode> codes;
  std::unordered_map<std::string, std::size_t> known;
  std::vector<std::size_t> own;
  for (const LoweredStep& step : graph.steps) {
    if (step.isExtern) continue;
    std::vector<std::string> nodes;
    for (const NodeId id : step.nodes) nodes.push_back(graph.values->graph().node(id).name());
    CudaStepCode code{.name = step.kernel.name};
    code.guarded = !step.indexChecks.empty();
    KERF_TRY(code.kernel,
             generateKernel(step.kernel, nodes, step.origins, code.guarded ? KernelGuard::Indices : KernelGuard::None,
                            KernelTarget::of(architecture, compiler)));
    code.writes.assign(step.kernel.buffers.size(), false);
    for (const LoopStore& store : step.kernel.stores) code.writes[std::size_t(store.buffer)] = true;
    code.same =
        shares ? known.emplace(structuralKey(step.kernel) + (code.guarded ? "guarded" : ""), codes.size()).first->second
               : codes.size();
    if (code.same == codes.size()) own.push_back(code.same);
    codes.push_back(std::move(code));
  }
  const ObjectCache objects(cache);
  std::vector<Result<void>> done(own.size());
  parallelFor(std::int64_t(own.size()), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t c = begin; c < end; ++c)
      done[std::size_t(c)] = compileStep(codes[own[std::size_t(c)]], architecture, compiler, objects);
  });
  for (auto& result : done) KERF_CHECK(std::move(result));
  return codes;
}

Result<std::string> compiledCubin(const std::string& source, const std::string& architecture,
                                  const std::filesystem::path& cache) {
  KERF_TRY(const std::string compiler, nvrtcVersion());
  KERF_TRY(CachedCode made, compileCached(source, architecture, compiler, ObjectCache(cache)));
  return std::move(made.code.cubin);
}

std::string targetArchitecture() {
  if (const char* chosen = std::getenv("KERF_CUDA_ARCH"); chosen != nullptr && *chosen != '\0') return chosen;
  const auto driver = CudaDriver::get();
  return driver ? (*driver)->architecture() : "sm_90";
}

std::string disassembled(const std::string& cubin) {
  std::vector<std::string> command;
  if (const auto program = findProgram("nvdisasm"); !program.empty())
    command = {program.string(), "-c"};
  else if (const auto other = findProgram("cuobjdump"); !other.empty())
    command = {other.string(), "-sass"};
  if (command.empty() || cubin.empty()) return {};
  auto folder = TemporaryFolder::create();
  if (!folder) return {};
  const auto path = folder->path() / "kernel.cubin";
  std::ofstream(path, std::ios::binary) << cubin;
  command.push_back(path.string());
  const auto ran = runProgram(command, "", std::chrono::seconds(30));
  return ran && ran->status == 0 ? ran->output : std::string();
}

}  // namespace kerf::inline backend
