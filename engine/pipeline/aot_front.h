// The front of a compilation: a captured graph, by AOTAutograd's stages, to the graph that the joint passes see.
#pragma once

#include "engine/autograd/aot_graph.h"
#include "engine/ops/core/decomposition_tables.h"
#include "engine/pipeline/stage_record.h"

namespace kerf::inline pipeline {

struct AotSettings {
  std::vector<AotInput> inputs{};  ///< what the captured graph's placeholders are; empty: plainInputs
  std::function<bool(const AotInput&)> requiresGrad{};  ///< as AotOptions has it
  DecompositionTable decompositions = DecompositionTable::Inductor;
  /// Each stage is traced, so that there is a record of it; else the last alone, which holds the others.
  bool recordsEveryStage = false;
};

/// Traces `captured` to `last` (a compilation: Functional for inference, Joint for training) and decomposes that. Records of group "aot":
/// "aten", "functional", "joint", "joint, inductor decompositions". Errors as aotTrace.
Result<AotGraph> traceCaptured(const GraphModule& captured, AotStage last, const AotSettings& settings,
                               StageRecorder& stages);

/// What the traced graph takes of a run on the captured graph's inputs: attributes that became inputs, then those.
/// Internal where the counts do not fit. Tangents are not among them.
Result<ValueList> tracedInputs(const GraphModule& captured, const AotMetadata& metadata, const ValueList& inputs);

}  // namespace kerf::inline pipeline
