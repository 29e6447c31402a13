// Requests about what AOTAutograd makes of a graph: its stages from Dynamo to the joint graph.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "app/workbench/protocol/address.h"
#include "engine/process/codec.h"

namespace kerf::workbench {

/// One stage: "dynamo", "aten", "functional", "joint", "decomposed".
struct AotStageDoc {
  std::string name;
  std::int64_t nodes = 0;                                   ///< placeholders and output included
  std::chrono::nanoseconds time{};                          ///< from the captured graph to this stage
  std::vector<std::pair<std::string, std::int64_t>> calls;  ///< targets and how often each is called, by target
  std::string error;                                        ///< why the graph has no such stage; empty: it has

  KERF_FIELDS(name, nodes, time, calls, error)
};
struct AotInputDoc {
  std::string name, source, kind;  ///< "primals_3", "layers.0.weight", "parameter"
  bool requiresGrad = false, mutatesData = false, mutatesMetadata = false;

  KERF_FIELDS(name, source, kind, requiresGrad, mutatesData, mutatesMetadata)
};
struct AotOutputDoc {
  std::string alias;  ///< "", "view of input", "is input", "shares with output"
  int base = -1;      ///< the input or output that it shares memory with
  bool requiresGrad = false;

  KERF_FIELDS(alias, base, requiresGrad)
};
struct AotReport {
  std::vector<AotStageDoc> stages;
  std::vector<AotInputDoc> inputs;
  std::vector<AotOutputDoc> outputs;
  std::int64_t fixedInputs = 0;  ///< parameters and buffers

  KERF_FIELDS(stages, inputs, outputs, fixedInputs)
};
/// Traces the graph to every stage up to `stage`. A stage that the graph does not have is told with its error.
struct AotRequest {
  using Answer = AotReport;
  static constexpr std::string_view name = "aot";
  GraphAddress graph;           ///< its own stage is not looked at
  std::string stage = "joint";  ///< the last one: aten, functional, joint

  KERF_FIELDS(graph, stage)
};

}  // namespace kerf::workbench
