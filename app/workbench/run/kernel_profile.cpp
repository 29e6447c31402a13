#include "app/workbench/run/model_runs.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/backend/cuda/device_rates.h"
#include "engine/ops/core/op_registry.h"
#include "engine/support/parallel_copy.h"
#include "engine/support/thread_pool.h"

namespace kerf::workbench {
namespace {

using Clock = std::chrono::steady_clock;

// The fastest of several runs: of many where a run is short, so that threads are awake and caches hold what they can.
// The first, which gets its memory from the system, is not counted in the time.
constexpr int fewRuns = 7, mostRuns = 300;
constexpr auto longEnough = std::chrono::seconds(3), longEnoughForMany = std::chrono::seconds(1);

double seconds(Clock::duration time) { return std::chrono::duration<double>(time).count(); }

/// Bytes that a copy reads and writes a second, beyond the caches, by as many threads as kernels have.
Result<double> measuredCopyRate() {
  constexpr std::int64_t bytes = std::int64_t{256} << 20;
  KERF_TRY(const StoragePtr from, Storage::allocate(bytes));
  KERF_TRY(const StoragePtr to, Storage::allocate(bytes));
  parallelCopy(from->data(), to->data(), std::size_t(bytes));  // each piece's pages come to the thread that works on it
  double best = 0;
  for (int i = 0; i < 4; ++i) {
    const auto start = Clock::now();
    parallelCopy(to->data(), from->data(), std::size_t(bytes));
    best = std::max(best, 2 * double(bytes) / seconds(Clock::now() - start));
  }
  return best;
}

/// Operations of a product of float32 matrices a second, of a size that gives every thread enough to do.
Result<double> measuredProductRate() {
  const std::int64_t size = threadCount() < 8 ? 768 : 2048;
  KERF_TRY(const Tensor a, Tensor::zeros(DType::Float32, {size, size}));
  double best = 0;
  for (int i = 0; i < 4; ++i) {
    const auto start = Clock::now();
    KERF_CHECK(referenceOps().call("torch.ops.aten.mm.default", {Value(a), Value(a)}, {}));
    best = std::max(best, 2.0 * double(size * size * size) / seconds(Clock::now() - start));
  }
  return best;
}

/// The fastest run of every kernel, and the most memory in use.
struct Measured {
  std::map<std::string, std::chrono::nanoseconds> kernels;
  std::set<std::string> onHost;
  std::chrono::nanoseconds whole = std::chrono::nanoseconds::max();
  std::int64_t peakBytes = 0;
  std::vector<MemoryRow> memory;

  void add(const std::vector<StepTime>& steps, std::chrono::nanoseconds time, std::int64_t bytesBefore) {
    whole = std::min(whole, time);
    for (const StepTime& step : steps) {
      const auto [known, isNew] = kernels.emplace(step.name, step.time);
      if (!isNew) known->second = std::min(known->second, step.time);
      if (step.onHost) onHost.insert(step.name);
    }
    if (!memory.empty()) return;  // later runs find memory that this one keeps: the arena, packed filters
    for (const StepTime& step : steps) {
      memory.push_back({step.name, {}, 0, step.liveBytes - bytesBefore, step.peakBytes - bytesBefore});
      peakBytes = std::max(peakBytes, memory.back().peak);
    }
  }
};

Result<Measured> measure(CompiledGraph& graph, const ValueList& inputs, const std::stop_token& stop) {
  Measured measured;
  auto start = Clock::now();
  const auto isEnough = [&](int runs) {
    return runs >= 3 && (runs >= mostRuns || Clock::now() - start >= (runs < fewRuns ? longEnough : longEnoughForMany));
  };
  for (int run = 0; !isEnough(run); ++run) {
    const std::int64_t bytesBefore = liveStorageBytes();
    std::vector<StepTime> steps;
    graph.timeSteps(&steps);
    const auto begin = Clock::now();
    const auto ran = graph.run(inputs, stop);
    const auto time = Clock::now() - begin;
    graph.timeSteps(nullptr);
    KERF_CHECK(ran);
    measured.add(steps, time, bytesBefore);
    if (run == 0) start = Clock::now();
  }
  return measured;
}

/// The whole graph on a device that has its inputs already.
Result<void> timeOnDevice(CompiledGraph& graph, const ValueList& inputs, const std::stop_token& stop,
                          KernelProfile& profile) {
  constexpr int runsBefore = 3, runs = 50;  // the second run is captured, the third runs as it was
  for (int run = 0; run < runsBefore; ++run) KERF_CHECK(graph.run(inputs, stop));
  const auto time = graph.timeOnDevice(runs);
  if (time)
    profile.deviceTime = *time;
  else
    profile.deviceNote = time.error().message;
  return {};
}

/// What was measured beside what was planned; steps of nested graphs have no plan of their own.
std::vector<MemoryRow> memoryRows(const CompiledGraph& graph, std::vector<MemoryRow> rows) {
  std::map<std::string, std::int64_t> planned;
  for (const StepMemory& step : graph.artifacts().memory) planned.emplace(step.name, step.bytes);
  std::map<std::string, const std::vector<std::string>*> nodes;
  for (const KernelInfo& kernel : graph.kernels()) nodes.emplace(kernel.name, &kernel.nodes);
  for (MemoryRow& row : rows) {
    if (const auto found = planned.find(row.name); found != planned.end()) row.planned = found->second;
    if (const auto found = nodes.find(row.name); found != nodes.end()) row.nodes = *found->second;
  }
  return rows;
}

double shareOf(const KernelTime& kernel, const KernelProfile& profile) {
  const double least = std::max(kernel.bytes / profile.copyRate, kernel.flops / profile.productRate);
  return std::min(1.0, least / std::max(1e-9, std::chrono::duration<double>(kernel.time).count()));
}

}  // namespace

Result<KernelProfile> profileKernels(CompiledGraph& graph, const ValueList& inputs, std::string_view backend,
                                     std::stop_token stop) {
  KERF_TRY(const Measured measured, measure(graph, inputs, stop));
  KernelProfile profile;
  profile.time = measured.whole;
  profile.peakBytes = measured.peakBytes;
  profile.plannedBytes = graph.artifacts().plannedBytes;
  profile.memory = memoryRows(graph, measured.memory);
  for (const MemoryRow& row : profile.memory) profile.plannedPeak = std::max(profile.plannedPeak, row.planned);
  if (backend == "cuda") {
    KERF_TRY(const DeviceRates rates, measuredDeviceRates());
    profile.copyRate = rates.copy;
    profile.productRate = rates.product;
    KERF_CHECK(timeOnDevice(graph, inputs, stop, profile));
  } else {
    KERF_TRY(profile.copyRate, measuredCopyRate());
    KERF_TRY(profile.productRate, measuredProductRate());
  }
  for (const KernelInfo& info : graph.kernels()) {
    const auto found = measured.kernels.find(info.name);
    if (found == measured.kernels.end()) continue;
    KernelTime kernel{info.name, info.kind, info.nodes, found->second, info.bytes, info.flops, 0};
    kernel.share = shareOf(kernel, profile);
    kernel.onHost = measured.onHost.contains(info.name);
    profile.kernels.push_back(std::move(kernel));
  }
  std::ranges::stable_sort(profile.kernels, std::ranges::greater{}, &KernelTime::time);
  return profile;
}

}  // namespace kerf::workbench
