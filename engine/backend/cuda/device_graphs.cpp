#include "engine/backend/cuda/device_graphs.h"

#include <algorithm>

#include "engine/support/log.h"

namespace kerf::inline backend {
namespace {

/// Below that a graph is no gain, unless it is the whole program.
constexpr std::size_t fewestSteps = 2;
/// CU_STREAM_CAPTURE_MODE_RELAXED: libraries may allocate meanwhile.
constexpr int relaxed = 2;

}  // namespace

void DeviceGraphs::drop() {
  for (const Stretch& stretch : m_stretches)
    if (stretch.executable != nullptr) m_driver.functions().destroyExecutable(stretch.executable);
  m_stretches.clear();
}

void DeviceGraphs::reset() {
  if (m_mode == Mode::Capture)
    if (const auto graph = endCapture()) m_driver.functions().destroyGraph(*graph);
  m_queue.setReplays(false);
  m_mode = Mode::Direct;
  m_current = nullptr;
}

void DeviceGraphs::begin(const void* program, std::size_t steps, std::vector<DeviceAddress> places) {
  if (program == m_program && places == m_places) {
    if (++m_runs == 1) findStretches();
    return;
  }
  m_current = nullptr;
  drop();
  m_program = program;
  m_places = std::move(places);
  m_onHost.assign(steps, false);
  m_runs = 0;
}

void DeviceGraphs::findStretches() {
  for (std::size_t first = 0; first < m_onHost.size();) {
    std::size_t end = first;
    while (end < m_onHost.size() && !m_onHost[end]) ++end;
    if (end - first >= std::min(fewestSteps, m_onHost.size())) m_stretches.push_back({.first = first, .last = end - 1});
    first = end + 1;
  }
}

DeviceGraphs::Stretch* DeviceGraphs::stretchAt(std::size_t step) {
  const auto found = std::ranges::find(m_stretches, step, &Stretch::first);
  return found == m_stretches.end() || found->refused ? nullptr : &*found;
}

Result<void> DeviceGraphs::beforeStep(std::size_t step) {
  m_step = step;
  if (m_mode != Mode::Direct) return {};
  m_current = stretchAt(step);
  if (m_current == nullptr) return {};
  m_queue.startFingerprint();
  if (m_current->executable != nullptr) {
    m_mode = Mode::Replay;
    m_queue.setReplays(true);
    return {};
  }
  KERF_CHECK(m_driver.check(m_driver.functions().beginCapture(m_driver.stream(), relaxed), "capturing a CUDA graph"));
  m_mode = Mode::Capture;
  return {};
}

Result<void> DeviceGraphs::afterStep(std::size_t step) {
  if (m_current == nullptr || step != m_current->last) return {};
  if (m_mode == Mode::Capture) return keepCaptured();
  m_mode = Mode::Direct;
  m_queue.setReplays(false);
  if (m_queue.fingerprint() != m_current->fingerprint)
    return fail(ErrorCode::Internal, "a captured CUDA graph does not fit the run that it stands for");
  return m_driver.check(m_driver.functions().launchGraph(m_current->executable, m_driver.stream()),
                        "launching a CUDA graph");
}

/// The graph; to be destroyed.
Result<void*> DeviceGraphs::endCapture() {
  m_mode = Mode::Direct;
  void* graph = nullptr;
  KERF_CHECK(m_driver.check(m_driver.functions().endCapture(m_driver.stream(), &graph), "capturing a CUDA graph"));
  return graph;
}

Result<void> DeviceGraphs::keepCaptured() {
  KERF_TRY(void* const graph, endCapture());
  const auto& f = m_driver.functions();
  f.graphNodes(graph, nullptr, &m_current->nodes);
  const auto made = m_driver.check(f.instantiate(&m_current->executable, graph, 0), "making a CUDA graph");
  f.destroyGraph(graph);
  KERF_CHECK(made);
  m_current->fingerprint = m_queue.fingerprint();
  logAt(LogCategory::Compile, LogLevel::Debug, "CUDA graph of steps {} to {}: {} nodes", m_current->first,
        m_current->last, m_current->nodes);
  return m_driver.check(f.launchGraph(m_current->executable, m_driver.stream()), "launching a CUDA graph");
}

void DeviceGraphs::ranOnHost() {
  if (m_step < m_onHost.size()) m_onHost[m_step] = true;
}

/// What was captured so far runs; the rest of the stretch comes step by step, and is never captured again.
Result<void> DeviceGraphs::flush() {
  if (m_mode == Mode::Direct) return {};
  if (m_mode == Mode::Replay)
    return fail(ErrorCode::Internal, "a captured CUDA graph does not fit the run that it stands for");
  m_current->refused = true;
  KERF_TRY(void* const graph, endCapture());
  const auto& f = m_driver.functions();
  void* executable = nullptr;
  auto done = m_driver.check(f.instantiate(&executable, graph, 0), "making a CUDA graph");
  if (done) done = m_driver.check(f.launchGraph(executable, m_driver.stream()), "launching a CUDA graph");
  if (done) done = m_driver.synchronize();
  if (executable != nullptr) f.destroyExecutable(executable);
  f.destroyGraph(graph);
  return done;
}

std::size_t DeviceGraphs::graphs() const {
  return std::size_t(std::ranges::count_if(m_stretches, [](const Stretch& s) { return s.executable != nullptr; }));
}

std::size_t DeviceGraphs::nodes() const {
  std::size_t count = 0;
  for (const Stretch& stretch : m_stretches) count += stretch.nodes;
  return count;
}

Result<std::chrono::nanoseconds> DeviceGraphs::timeLaunches(int times) {
  std::size_t steps = 0;
  for (const Stretch& stretch : m_stretches)
    if (stretch.executable != nullptr) steps += stretch.last - stretch.first + 1;
  if (steps == 0 || steps != m_onHost.size())
    return fail(ErrorCode::NotFound, "{} of {} steps are in no CUDA graph", m_onHost.size() - steps, m_onHost.size());
  const auto launchAll = [&]() -> Result<void> {
    for (int i = 0; i < times; ++i)
      for (const Stretch& stretch : m_stretches)
        KERF_CHECK(m_driver.check(m_driver.functions().launchGraph(stretch.executable, m_driver.stream()),
                                  "launching a CUDA graph"));
    return {};
  };
  KERF_TRY(const auto time, m_driver.timed(launchAll, [](DeviceAddress, std::int64_t) { return Result<void>(); }));
  return time / times;
}

}  // namespace kerf::inline backend
