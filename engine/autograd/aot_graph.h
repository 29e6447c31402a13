// aotTrace: from any forward graph (Dynamo, torch.export, ATen) to the graphs of AOTAutograd: flat ATen calls, without
// writes, with the backward part (formats A.6, B.4).
#pragma once

#include <functional>
#include <memory>
#include <stop_token>

#include "engine/autograd/aot_metadata.h"
#include "engine/ir/graph_module.h"
#include "engine/support/result.h"

namespace kerf::inline autograd {

/// How far a graph is traced. Each holds what the one before it does.
enum class AotStage : std::uint8_t {
  Aten,        ///< flat calls of ATen ops: functions, methods, modules and composite ops are written out
  Functional,  ///< without writes: what is left in an input is an output, or a copy_ at the end
  Joint,       ///< primals and tangents in, outputs and gradients out
};
/// "aten", "functional", "joint".
std::string_view stageName(AotStage stage);
std::optional<AotStage> aotStageFromName(std::string_view name);

struct AotOptions {
  AotStage stage = AotStage::Joint;
  /// Functional: mutated inputs are written by a copy_ at the end, as in PyTorch's inference graphs, instead of being the
  /// first outputs, which they always are in joint graphs.
  bool keepsMutations = true;
  /// Whether an input takes part in autograd; asked for floating point and complex ones. Empty: parameters do, and where
  /// there are none, every such user input.
  std::function<bool(const AotInput&)> requiresGrad;
  std::stop_token stop = {};
};

struct AotGraph {
  GraphModule module;
  AotMetadata metadata;
  std::size_t mutatedOutputs = 0;  ///< of the graph's outputs, the first so many are new values of mutated inputs
  std::size_t userOutputs = 0;     ///< then so many are the function's; gradients of the inputs follow in a joint graph
  std::vector<std::size_t> tangents;   ///< joint: by tangent, the index of its output (mutated inputs included)
  std::vector<std::string> rngInputs;  ///< placeholders behind the tangents: seeds and offsets (functionalizeRng)
};

/// Traces `module`, whose placeholders must have metas (CapturedGraph::annotateShapes). `inputs` says what each
/// placeholder is; Parameter and Buffer attributes become inputs before them, in order of first use. Symbols keep their
/// names. UnsupportedOp naming the node for what has no functional form or no gradient; Cancelled.
Result<AotGraph> aotTrace(const GraphModule& module, std::vector<AotInput> inputs, const AotOptions& options = {});

/// Sets which inputs take part in autograd, by `rule` or as AotOptions says without one; `inputs` are those of the
/// graph's placeholders.
void chooseGradients(std::vector<AotInput>& inputs, const Graph& graph,
                     const std::function<bool(const AotInput&)>& rule);
/// What can be said of the placeholders without a signature: user inputs, symbols.
std::vector<AotInput> plainInputs(const GraphModule& module);

}  // namespace kerf::inline autograd
