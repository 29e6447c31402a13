// What a repro says of how it is compared: autocast around the run, tolerance and rule in PyTorch's configuration.
#pragma once

#include "app/workbench/captures/graph_source.h"
#include "app/workbench/protocol/accuracy_choice.h"
#include "engine/accuracy/same_two_models.h"

namespace kerf::workbench {

/// The text around the source's graph.
const ReproEnvelope& envelopeOf(const GraphSource& source);

/// The graph as both sides run it: inside of torch.amp.autocast("cuda") where an after_dynamo repro says
/// `autocast=True`, as PyTorch's run_repro does; else as it is. Shapes are derived anew.
Result<GraphModule> moduleToCompare(const GraphSource& source);

/// `torch._dynamo.config.repro_tolerance` and `repro_ignore_non_fp`, where the repro sets them and the user does not.
void takeRecordedRule(const GraphSource& source, const AccuracyChoice& choice, CompareOptions& options);

/// The source with environment, configuration and versions where its graph has no such lines, from the repro that the same log has of
/// the same compilation, or of another one of its process. As it is where there is none, or it cannot be read.
GraphSource withRecordedEnvironment(GraphSource source);

/// What the lines of a capture say to PyTorch's own minifier, each with what Kerf does about it, for people:
/// "repro_level 4: accuracy is compared". Empty for most captures.
std::vector<std::string> recordedSettings(const GraphSource& source);

/// What the user calls the values that a graph returns: those of an exported program that its caller copies into
/// buffers and inputs by what they mutate ("mutates b1.running_mean"), the others "out0", "out1", … in their order.
/// Empty for graphs without a signature: all are outputs.
std::vector<std::string> resultNames(const CapturedGraph& graph);

}  // namespace kerf::workbench
