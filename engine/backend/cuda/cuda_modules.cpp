#include "engine/backend/cuda/cuda_modules.h"

#include <algorithm>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "engine/codegen_cuda/nvrtc.h"
#include "engine/codegen_cuda/scalar_text.h"
#include "engine/support/thread_pool.h"

namespace kerf::inline backend {
namespace {

/// Of entries that an older kerf wrote nothing is taken.
constexpr std::string_view moduleVersion = "cuda 2";
/// What a kernel takes at least, in characters of source.
constexpr std::size_t smallestKernel = 600;

using Kernels = std::vector<const CudaKernel*>;

template <class Body>
void forEach(std::size_t count, const Body& body) {
  parallelFor(std::int64_t(count), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) body(std::size_t(i));
  });
}

Hash128 sourceKey(const std::string& source, ModuleSharing sharing, const CudaTarget& target) {
  return hashText(fmt::format("{} {} {} {}\n{}", moduleVersion, sharing == ModuleSharing::Alone ? "alone" : "together",
                              target.compiler, target.architecture, source));
}

std::shared_ptr<const CudaModule> moduleOf(CachedObject&& entry) {
  return std::make_shared<CudaModule>(CudaModule{std::move(entry.texts.front()), std::move(entry.object)});
}

/// Of a kernel there is a module under its key, or the key of the module that it shares with others.
struct CachedKernel {
  std::shared_ptr<const CudaModule> module;
  std::optional<Hash128> shared;
};

std::optional<Hash128> hashOfHex(const std::string& hex) {
  Hash128 hash;
  if (hex.size() != 32 || std::sscanf(hex.c_str(), "%16lx%16lx", &hash.high, &hash.low) != 2) return {};
  return hash;
}

CachedKernel cachedKernel(const CudaKernel& kernel, ModuleSharing sharing, const CudaTarget& target,
                          const ObjectCache& cache) {
  auto entry = cache.find(sourceKey(kernel.source, sharing, target));
  if (!entry || entry->texts.size() != 1) return {};
  if (entry->object.empty()) return {nullptr, hashOfHex(entry->texts.front())};
  return {moduleOf(std::move(*entry)), {}};
}

std::string moduleSource(const Kernels& kernels) {
  return kernels.size() == 1 ? kernels.front()->source : joinedSource(kernels);
}

/// A kernel of one module lies under its own key; of several, each has an entry that names the module's.
void keep(const Kernels& kernels, const std::string& source, const CudaModule& module, ModuleSharing sharing,
          const CudaTarget& target, const ObjectCache& cache) {
  const Hash128 key = sourceKey(source, sharing, target);
  cache.store(key, {module.cubin, {module.ptx}});
  if (kernels.size() == 1) return;
  for (const CudaKernel* kernel : kernels) cache.store(sourceKey(kernel->source, sharing, target), {"", {key.hex()}});
}

/// One module of some of the kernels.
class ModuleJob {
 public:
  ModuleJob(Kernels kernels, ModuleSharing sharing, const CudaTarget& target, const ObjectCache& cache)
      : m_kernels(std::move(kernels)), m_sharing(sharing), m_target(target), m_cache(cache) {}

  /// Modules of the kernels in their order.
  Result<CudaModules> compile() const {
    auto module = compile(m_kernels);
    if (module) return CudaModules(m_kernels.size(), std::move(*module));
    if (m_kernels.size() == 1) return fail(named(std::move(module.error())));
    CudaModules each;  // so that the kernel that fails is named
    for (const CudaKernel* kernel : m_kernels) {
      KERF_TRY(CudaModules own, ModuleJob({kernel}, m_sharing, m_target, m_cache).compile());
      each.push_back(std::move(own.front()));
    }
    return each;
  }

 private:
  Result<std::shared_ptr<const CudaModule>> compile(const Kernels& kernels) const {
    const std::string source = moduleSource(kernels);
    KERF_TRY(CompiledSource compiled, compileSource(source, m_target.architecture));
    auto module = std::make_shared<CudaModule>(CudaModule{std::move(compiled.ptx), std::move(compiled.cubin)});
    keep(kernels, source, *module, m_sharing, m_target, m_cache);
    return module;
  }
  Error named(Error error) const {
    if (m_kernels.front()->name.empty()) return error;
    error.message = fmt::format("kernel {}: {}", m_kernels.front()->name, error.message);
    return error;
  }

  Kernels m_kernels;
  ModuleSharing m_sharing;
  const CudaTarget& m_target;
  const ObjectCache& m_cache;
};

}  // namespace

std::string joinedSource(const std::vector<const CudaKernel*>& kernels) {
  std::string source(preamble());
  for (std::size_t k = 0; k < kernels.size(); ++k)
    source += fmt::format("namespace kerf_kernel_{} {{\n{}}}\n", k, kernels[k]->text());
  return source;
}

std::vector<std::vector<std::size_t>> balancedGroups(const std::vector<std::size_t>& sizes, std::size_t count) {
  std::vector<std::vector<std::size_t>> groups(std::min(count, sizes.size()));
  if (groups.empty()) return groups;
  std::vector<std::size_t> order(sizes.size()), load(groups.size(), 0);
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return sizes[i]; });
  for (const std::size_t i : order) {
    const auto lightest = std::size_t(std::ranges::min_element(load) - load.begin());
    groups[lightest].push_back(i);
    load[lightest] += std::max<std::size_t>(sizes[i], 1);
  }
  for (auto& group : groups) std::ranges::sort(group);
  return groups;
}

CudaModules cachedModules(const std::vector<const CudaKernel*>& kernels, ModuleSharing sharing,
                          const CudaTarget& target, const ObjectCache& cache) {
  std::vector<CachedKernel> found(kernels.size());
  forEach(kernels.size(), [&](std::size_t k) { found[k] = cachedKernel(*kernels[k], sharing, target, cache); });
  std::map<Hash128, std::shared_ptr<const CudaModule>> shared;
  for (const CachedKernel& kernel : found)
    if (kernel.shared) shared.emplace(*kernel.shared, nullptr);
  std::vector<std::pair<const Hash128, std::shared_ptr<const CudaModule>>*> wanted;
  for (auto& module : shared) wanted.push_back(&module);
  forEach(wanted.size(), [&](std::size_t m) {
    auto entry = cache.find(wanted[m]->first);
    if (entry && entry->texts.size() == 1 && !entry->object.empty()) wanted[m]->second = moduleOf(std::move(*entry));
  });
  CudaModules modules;
  for (CachedKernel& kernel : found)
    modules.push_back(kernel.shared ? shared.at(*kernel.shared) : std::move(kernel.module));
  return modules;
}

Result<void> compileModules(const std::vector<const CudaKernel*>& kernels, ModuleSharing sharing,
                            const CudaTarget& target, const ObjectCache& cache, CudaModules& modules) {
  std::vector<std::size_t> missing, sizes;
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    if (modules[k]) continue;
    missing.push_back(k);
    sizes.push_back(kernels[k]->source.size() - preamble().size() + smallestKernel);
  }
  const std::size_t count = sharing == ModuleSharing::Alone ? missing.size() : std::size_t(threadCount());
  const auto groups = balancedGroups(sizes, count);
  std::vector<Result<CudaModules>> made(groups.size());
  forEach(groups.size(), [&](std::size_t g) {
    Kernels members;
    for (const std::size_t i : groups[g]) members.push_back(kernels[missing[i]]);
    made[g] = ModuleJob(std::move(members), sharing, target, cache).compile();
  });
  for (std::size_t g = 0; g < groups.size(); ++g) {
    KERF_TRY(const CudaModules own, std::move(made[g]));
    for (std::size_t i = 0; i < own.size(); ++i) modules[missing[groups[g][i]]] = own[i];
  }
  return {};
}

}  // namespace kerf::inline backend
