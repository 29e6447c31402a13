// CompiledFrame: what the rewritten frame calls: runs the graph, builds what lives on, and replays side effects.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "engine/dynamo/graph_to_compile.h"
#include "engine/dynamo/random_calls.h"
#include "engine/dynamo/rebuild.h"

namespace kerf::inline dynamo {

struct CompiledFrame {
  std::string graphName;  ///< "__compiled_fn_1"; empty where there is no graph
  std::vector<FrameInput> inputs;
  std::vector<TracedCall> calls;
  std::vector<NodeId> outputs;     ///< of the graph
  Ref backendCall;                 ///< what a Python backend made of the graph; null: the calls run one by one
  GraphRunner runner;              ///< what a backend by name made of it; null: the calls run one by one
  bool isAot = false;              ///< the graph is AOTAutograd's: it has no second derivative
  std::vector<StandIn*> standIns;  ///< real objects that are needed
  std::vector<std::pair<Ref, SourcePtr>> numbers;  ///< numbers of the frame that come out as they came in
  std::vector<std::pair<Ref, NodeId>> floats;      ///< numbers that the graph gives as tensors
  std::vector<TracedDraw> randomCalls;
  std::vector<Effect> effects;
  std::vector<Ref> results;                ///< templates
  std::map<std::size_t, SourcePtr> moved;  ///< results that are only handed on: where they come from
  bool single = false;                     ///< gives its only result instead of a tuple
  std::vector<int> slots;                  ///< which places of the frame its arguments are
  Ref globals;
  std::unordered_set<PyObject*> freshFunctions;
  /// What was traced lives as long as this does.
  std::vector<std::unique_ptr<StandIn>> keptStandIns;
  std::vector<Ref> kept;

  /// With the frame's values at `slots`; null with a Python exception set.
  Ref run(PyObject* const* args, std::size_t count) const;
};

/// A Python callable around it.
Ref compiledFrameObject(std::shared_ptr<const CompiledFrame> frame);

}  // namespace kerf::inline dynamo
