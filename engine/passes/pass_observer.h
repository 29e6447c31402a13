// PassObserver: watches passes run, at each level: pipeline, stage, pass, graph.
#pragma once

#include <chrono>

#include "engine/passes/pass.h"

namespace kerf::inline passes {

/// What was measured of one pass on one graph.
struct PassRecord {
  int index = 0;  ///< of the pass among those that were asked for
  std::string name;
  PassStage stage = PassStage::PostGrad;
  std::string path;  ///< of the nested graph; empty: the outermost
  std::size_t nodesBefore = 0;
  std::size_t nodesAfter = 0;
  std::chrono::nanoseconds time{};
  bool changed = false;  ///< by content, not by the pass's word
  Hash128 hashBefore, hashAfter;
  GraphSnapshot before, after;  ///< the same pointer when the graph did not change
};

/// Each `after` follows its `before`, unless an error ended the run in between. Modules are as they are at that moment.
class PassObserver {
 public:
  virtual ~PassObserver() = default;
  /// Asked before a pass; false skips it (bisection).
  virtual bool shouldRun(const Pass&) { return true; }

  virtual void beforePipeline(const GraphModule&) {}
  virtual void afterPipeline(const GraphModule&) {}
  /// Of each stage, also of one without passes.
  virtual void beforeStage(PassStage, const GraphModule&) {}
  virtual void afterStage(PassStage, const GraphModule&) {}
  /// Of a pass on all of its graphs; the module is the outermost.
  virtual void beforePass(const Pass&, const GraphModule&) {}
  virtual void afterPass(const Pass&, const GraphModule&) {}
  /// Of a pass on one graph, nested or outermost (then `path` is empty).
  virtual void beforeGraph(const Pass&, std::string_view /*path*/, const GraphModule&) {}
  virtual void afterGraph(const PassRecord&, const GraphModule&) {}
};

}  // namespace kerf::inline passes
