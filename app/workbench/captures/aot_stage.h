// The graph of an address as one of AOTAutograd's stages: traced to ATen, functionalized, with its backward part.
#pragma once

#include <functional>

#include "app/workbench/captures/graph_source.h"
#include "engine/autograd/aot_graph.h"
#include "engine/ops/core/decomposition_tables.h"
#include "engine/pipeline/compile_fx.h"

namespace kerf::workbench {

/// "model.pt2@stage:joint" as its two parts, the second empty where there is none; a file may have such a name.
std::pair<std::string, std::string> splitAtStage(const std::string& text);
/// A stage, and the decompositions that it is written with.
struct StageChoice {
  AotStage stage = AotStage::Joint;
  DecompositionTable table = DecompositionTable::None;
  bool functionalRng = false;  ///< random numbers of seeds that are inputs
  bool forwardMode = false;    ///< "linearize": primals and tangents in, outputs and their tangents out
};
/// "aten", "functional", "joint", "joint/inductor" (with the decompositions of that table), "joint/inductor/rng" (with
/// seeds as inputs), "linearize" (or "jvp"); none for "" and "dynamo", which is the graph as it was captured. BadUsage for others.
Result<std::optional<StageChoice>> parseStage(const std::string& name);

/// The source with its stage in the place of its graph: the same inputs, attributes that became inputs before them, and made-up
/// tangents behind them. Exported programs are put into training mode for a joint graph. The new graph's signature says
/// what its inputs and outputs are (gradients as "gradient_to_parameter"). Errors name the node that has no such form.
Result<GraphSource> stageOf(GraphSource source, const StageChoice& choice, const Job& job);
/// A captured graph as aotTrace takes it: with the parameters of modules that only reprs tell, in training mode for a
/// joint graph of an exported program.
struct AotSubject {
  GraphModule module;
  std::vector<AotInput> inputs;
  std::function<bool(const AotInput&)> requiresGrad;
};
AotSubject aotSubject(const CapturedGraph& graph, AotStage stage, const Job& job);
/// What stageOf traces, where the source's shapes are known.
Result<AotGraph> traceStage(const CapturedGraph& graph, const StageChoice& choice, const Job& job);

/// A joint graph that was derived from a forward graph is compiled as a training step: partitioned, with forward and
/// backward code apart. Others stay as they are.
void setGoal(CompileOptions& options, const GraphSource& source);

/// What each placeholder is, from a program's signature or from what the recorded inputs say.
std::vector<AotInput> aotInputs(const CapturedGraph& graph);

}  // namespace kerf::workbench
