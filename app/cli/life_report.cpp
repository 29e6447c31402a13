#include "app/cli/diff_reports.h"

#include <algorithm>

namespace kerf::cli {

namespace {

constexpr std::size_t shownNodes = 12;  ///< of a stage
constexpr std::size_t shownKernels = 12;

std::string stageText(const LifeStage& stage, bool all) {
  std::string text = fmt::format("\n{} ({})\n", stage.part, stage.graph);
  const auto shown = all ? stage.nodes.size() : std::min(stage.nodes.size(), shownNodes);
  for (std::size_t i = 0; i < shown; ++i) {
    const LifeNode& node = stage.nodes[i];
    text += fmt::format("  {:<11} {}\n", node.how.empty() ? "*" : node.how, node.call);
  }
  if (shown < stage.nodes.size()) text += fmt::format("  and {} more (--all lists them)\n", stage.nodes.size() - shown);
  return text;
}

std::string kernelText(const LifeKernel& kernel) {
  std::string text = fmt::format("  {}{}  {}\n", kernel.kernel,
                                 kernel.part.empty() || kernel.part == "inference" ? "" : " (" + kernel.part + ")",
                                 fmt::join(kernel.nodes, ", "));
  if (kernel.definedAt > 0) text += fmt::format("    {}:{} defines it\n", kernel.record, kernel.definedAt);
  if (kernel.calledAt > 0) text += fmt::format("    {}:{} {}\n", kernel.record, kernel.calledAt, kernel.callText);
  return text;
}

}  // namespace

std::string lifeText(const NodeLife& life, bool all) {
  std::string text = fmt::format("{} of {}{}\n", life.node, life.graph,
                                 life.compileId.empty() ? "" : fmt::format(" {}", life.compileId));
  if (!life.source.empty()) text += fmt::format("from {}\n", life.source);
  for (const auto& stage : life.stages) text += stageText(stage, all);
  if (!life.kernels.empty()) text += "\nkernels\n";
  const auto shown = all ? life.kernels.size() : std::min(life.kernels.size(), shownKernels);
  for (std::size_t i = 0; i < shown; ++i) text += kernelText(life.kernels[i]);
  if (shown < life.kernels.size())
    text += fmt::format("  and {} more (--all lists them)\n", life.kernels.size() - shown);
  for (const auto& note : life.notes) text += fmt::format("note: {}\n", note);
  return text;
}

}  // namespace kerf::cli
