// StageRecord: what one stage of a compilation made of a graph, and how long it took.
#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/ir/graph_module.h"

namespace kerf::inline pipeline {

struct StageRecord {
  std::string group;  ///< "aot", "partition", "backend"; of passes their stage: "post_grad"
  std::string name;   ///< "functional", "min_cut", "schedule"; of passes as `group`
  std::string part;   ///< "forward" or "backward" of a training step; empty: the whole graph
  std::size_t nodesBefore = 0, nodesAfter = 0;
  bool changed = false;
  std::chrono::nanoseconds time{};
  GraphSnapshot before{}, after{};  ///< null without a listener, and of the backend's stages

  /// "post_grad", "forward post_grad".
  std::string title() const { return part.empty() ? name : part + " " + name; }
};

using StageListener = std::function<void(const StageRecord&)>;

/// Times one stage after another, and stops between them when asked to.
class StageRecorder {
 public:
  StageRecorder(StageListener listener, std::stop_token stop)
      : m_listener(std::move(listener)), m_stop(std::move(stop)) {}

  /// Ends a stage that made `after` of `before`. Cancelled when asked to stop.
  Result<void> finish(StageRecord record, const Graph& before, const Graph& after);
  /// A stage of the backend, which changes no graph and has its own clock.
  void add(StageRecord record);
  /// What came before is no stage's time.
  void restart() { m_start = std::chrono::steady_clock::now(); }
  const std::vector<StageRecord>& records() const { return m_records; }
  const std::stop_token& stop() const { return m_stop; }

 private:
  StageListener m_listener;
  std::stop_token m_stop;
  std::vector<StageRecord> m_records;
  std::chrono::steady_clock::time_point m_start = std::chrono::steady_clock::now();
};

}  // namespace kerf::inline pipeline
