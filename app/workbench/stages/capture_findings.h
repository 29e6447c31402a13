// Findings: what is otherwise between two captures of one program, one kind a function: patterns, inputs, decompositions,
// fused kernels, saved values. Each looks at two graphs of one stage, or at the graphs of one compilation.
#pragma once

#include <string>
#include <vector>

#include "app/workbench/graphs/module_comparison.h"
#include "engine/capture/common/recorded_fusion.h"

namespace kerf::workbench {

using CaptureFindings = std::vector<CaptureFinding>;

/// Patterns that Kerf ships and that match more or less often: how often, where the nearest place of the other graph
/// fails, and what became of the nodes of the lost matches. Graphs of ATen calls.
CaptureFindings patternFindings(const ModuleComparison& comparison);

/// Inputs whose dtype, strides, device or sizes are others: numbers that became symbols, and symbols that became
/// numbers, first.
CaptureFindings inputFindings(const ModuleComparison& comparison);

/// Ops of Dynamo's graphs that became other calls. `lowered` graphs are AOTAutograd's, joint or of inference.
CaptureFindings decompositionFindings(const GraphModule& before, const GraphModule& loweredBefore,
                                      const GraphModule& after, const GraphModule& loweredAfter);

/// Kernels that hold other nodes than before; `comparison` is of the graphs after the post-grad passes.
CaptureFindings fusionFindings(const ModuleComparison& comparison, const std::vector<RecordedFusionGroup>& before,
                               const std::vector<RecordedFusionGroup>& after);

/// What the backward graph is given of the forward graph: values and bytes, those that only one of them saves named.
/// `comparison` is of the backward graphs.
CaptureFindings savedFindings(const ModuleComparison& comparison);

/// Status, guards and times.
CaptureFindings compileFindings(const CompileDifference& compile);

/// By kind, then by how much changed; equal ones of several graphs in the order of the captures.
void sortFindings(CaptureFindings& findings);

/// "mul_3 is now …" for each node of `names` in the first graph (`mirrored`: of the second one, "was …") that has no
/// equal one in the other.
std::vector<std::string> nodeFates(const ModuleComparison& comparison, const std::vector<std::string>& names,
                                   bool mirrored);
/// Keeps the first few of `because`.
void limitCauses(CaptureFinding& finding);

}  // namespace kerf::workbench
