#include "engine/backend/kernels/kernel_info.h"

#include <algorithm>
#include <set>

#include "engine/codegen_llvm/line_numbers.h"
#include "engine/ir/value_meta.h"
#include "engine/loops/kernel_traffic.h"
#include "engine/ops/core/cost.h"
#include "engine/ops/core/instruments.h"

namespace kerf::inline backend {
namespace {

struct Reason {
  std::string_view op, reason;
};
constexpr Reason reasons[] = {
    {"mm", "gemm"},
    {"addmm", "gemm"},
    {"bmm", "gemm"},
    {"baddbmm", "gemm"},
    {"convolution", "convolution"},
    {"convolution_backward", "convolution"},
};

std::string externReason(const Node& node) {
  const std::string base = opBaseName(node.target());
  const auto* row = std::ranges::find(reasons, base, &Reason::op);
  if (row != std::end(reasons)) return std::string(row->reason);
  if (node.target().starts_with("torch.ops.higher_order.")) return "calls compiled graphs";
  return node.target().starts_with("operator.") ? "takes an item of an extern result" : "not lowered";
}

void addNodes(const Graph& graph, const std::vector<NodeId>& nodes, const Graph& original, KernelInfo& info) {
  std::set<std::string> seen, named;
  for (const NodeId id : shownNodes(graph, nodes)) {
    const Node& node = graph.node(id);
    for (std::string& name : knownNames(node, original))
      if (named.insert(name).second) info.nodes.push_back(std::move(name));
    const auto& origins = node.meta().fromNodes;
    if (origins.empty() && seen.insert(node.name()).second) info.capturedNodes.push_back(node.name());
    for (const std::string& origin : origins)
      if (seen.insert(origin).second) info.capturedNodes.push_back(origin);
  }
}

void addTexts(const LoopKernel& loops, const CompiledKernel& compiled, bool keepArtifacts, KernelInfo& info) {
  if (keepArtifacts) info.texts.push_back({"loop", printLoopIr(loops)});
  const auto add = [&](const std::string& format, const std::string& text, const std::vector<int>& loopLines) {
    if (text.empty()) return;
    info.texts.push_back({format, text});
    info.texts.push_back({format + std::string(loopLinesSuffix), lineNumbersText(loopLines)});
  };
  add("llvm", compiled.text, compiled.textLines);
  add("asm", compiled.assembly, compiled.assemblyLines);
}

Sizes exampleSizes(const SymSizes& sizes) {
  Sizes result;
  for (const SymInt size : sizes) result.push_back(exampleOf(size));
  return result;
}

/// The value at the example's sizes: a formula for operations must not decide anything about symbols.
Value atExample(const Value& value) {
  if (value.isTensor()) return metaTensor(value.tensor().dtype(), exampleSizes(value.tensor().symSizes()));
  if (const auto* number = value.as<SymNumber>()) return Value(exampleOf(number->value));
  if (!value.isList()) return value;
  ValueList items;
  for (const Value& item : value.list()) items.push_back(atExample(item));
  return Value(std::move(items));
}

double bytesOf(const Value& value) {
  if (value.isTensor()) {
    double bytes = double(itemSize(value.tensor().dtype()));
    for (const std::int64_t size : value.tensor().sizes()) bytes *= double(size);
    return bytes;
  }
  double bytes = 0;
  if (value.isList())
    for (const Value& item : value.list()) bytes += bytesOf(item);
  return bytes;
}

void addCosts(const LoweredGraph& lowered, const LoweredStep& step, KernelInfo& info) {
  const Graph& graph = lowered.values->graph();
  for (const NodeId id : step.nodes) {
    BoundArguments bound = (*lowered.values)[id].bound;
    const auto meta = valueOf(graph.node(id).meta().value);
    if (!meta || bound.op == nullptr) continue;
    for (Value& value : bound.values) value = atExample(value);
    const Value result = atExample(*meta);
    info.flops += flopsOf(bound, result.isList() ? result.list() : ValueList(1, result)).value_or(0);
    if (!step.isExtern) continue;
    for (const Value& value : bound.values) info.bytes += bytesOf(value);  // each whole
    info.bytes += bytesOf(result);
  }
  if (step.isExtern) return;
  std::vector<std::int64_t> elements;
  for (const auto& argument : step.arguments) {
    std::int64_t count = 1;
    for (const SymInt size : lowered.buffers.buffers()[std::size_t(argument.buffer)].sizes) count *= exampleOf(size);
    elements.push_back(count);
  }
  info.bytes = double(kernelBytes(step.kernel, elements));
}

}  // namespace

std::vector<std::string> knownNames(const Node& node, const Graph& original) {
  if (original.find(node.name()) || node.meta().fromNodes.empty()) return {node.name()};
  return node.meta().fromNodes;
}

std::vector<KernelInfo> describeKernels(const LoweredGraph& lowered, const CompiledKernels& kernels,
                                        const Graph& original, bool keepArtifacts) {
  const Graph& graph = lowered.values->graph();
  std::vector<KernelInfo> result;
  std::set<NodeId> inKernels;
  std::size_t kernel = 0;
  for (const LoweredStep& step : lowered.steps) {
    KernelInfo info;
    info.name = step.kernel.name;
    info.kind = step.isExtern ? "extern" : "fused";
    addNodes(graph, step.nodes, original, info);
    inKernels.insert(step.nodes.begin(), step.nodes.end());
    addCosts(lowered, step, info);
    if (step.isExtern) info.reason = externReason(graph.node(step.node));
    if (!step.isExtern) addTexts(step.kernel, kernels.kernels[kernel++], keepArtifacts, info);
    if (info.nodes.empty()) continue;  // an instrument that belongs to no node
    result.push_back(std::move(info));
  }
  for (const NodeId id : graph.order()) {
    if ((*lowered.values)[id].kind != ValueKind::View || inKernels.contains(id)) continue;
    KernelInfo info;
    info.name = "view_" + graph.node(id).name();
    info.kind = "view";
    addNodes(graph, {id}, original, info);
    result.push_back(std::move(info));
  }
  return result;
}

}  // namespace kerf::inline backend
