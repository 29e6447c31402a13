#include "tests/differential/annotations/changed_annotations.h"

#include <algorithm>

#include "engine/capture/common/capture.h"
#include "engine/ir/printer.h"
#include "engine/ops/core/shape_conflicts.h"
#include "tests/differential/fuzzgraph/dice.h"

namespace kerf::annotations {
namespace {

using fuzzgraph::Dice;

bool isNumber(const Dim& dim) { return dim.text.empty() && dim.hint.has_value(); }

/// A tensor's recorded value with another dtype, another size or another stride; empty where that says nothing.
std::string changeTensor(TensorMeta& meta, Dice& dice) {
  const std::size_t rank = meta.sizes.size();
  const auto otherSize = [&](Dim& size) { size = Dim{{}, *size.hint + (*size.hint > 1 && dice.chance(50) ? -1 : 1)}; };
  switch (dice.below(4)) {
    case 0:
      meta.dtype = meta.dtype == DType::Float32 ? DType::BFloat16 : DType::Float32;
      return "dtype";
    case 1: {
      if (rank == 0) return {};
      Dim& size = meta.sizes[dice.below(rank)];
      if (!isNumber(size)) return {};
      otherSize(size);
      return "shape";
    }
    case 2: {
      if (rank < 1) return {};
      meta.sizes.pop_back();
      if (meta.strides.size() == rank) meta.strides.pop_back();
      return "shape";
    }
    default: {
      if (rank == 0 || meta.strides.size() != rank) return {};
      const std::size_t at = dice.below(rank);
      const auto isEmpty = [](const Dim& size) { return !isNumber(size) || *size.hint == 0; };
      if (std::ranges::any_of(meta.sizes, isEmpty) || *meta.sizes[at].hint < 2 || !isNumber(meta.strides[at]))
        return {};
      meta.strides[at] = Dim{{}, *meta.strides[at].hint == 0 ? 1 : dice.chance(30) ? 0 : *meta.strides[at].hint + 1};
      return "stride";
    }
  }
}

std::string changeValue(ValueMeta& value, Dice& dice) {
  if (value.tensor() == nullptr) return {};
  TensorMeta meta = *value.tensor();
  const std::string what = changeTensor(meta, dice);
  if (!what.empty()) value = ValueMeta{std::move(meta)};
  return what;
}

bool saysIt(const std::vector<ShapeConflict>& conflicts, const Graph& graph, NodeId id) {
  const auto names = [&](const std::string& name) {
    return std::ranges::find(conflicts, name, &ShapeConflict::node) != conflicts.end();
  };
  return names(graph.node(id).name()) ||
         std::ranges::any_of(graph.node(id).users(), [&](NodeId user) { return names(graph.node(user).name()); });
}

void changeOne(const CapturedGraph& captured, const std::string& file, Dice& dice, AnnotationReport& report) {
  GraphModule module = captured.module;
  std::vector<NodeId> calls;
  for (const NodeId id : module.graph.order()) {
    const Node& node = module.graph.node(id);
    if ((node.op() == Opcode::CallFunction || node.op() == Opcode::CallMethod) && node.meta().value.tensor() != nullptr)
      calls.push_back(id);
  }
  if (calls.empty()) return;
  const NodeId id = dice.pick(calls);
  ValueMeta value = module.graph.node(id).meta().value;
  const std::string before = printAnnotation(module.graph.node(id).meta(), true, false);
  const std::string what = changeValue(value, dice);
  if (what.empty()) return;
  module.graph.setValueMeta(id, value);
  ++report.changes;
  if (saysIt(shapeConflicts(module), module.graph, id)) {
    ++report.said;
    return;
  }
  const Node& node = module.graph.node(id);
  ++report.unsaidByOp[node.target() + " " + what];
  report.unsaid.push_back(fmt::format("{} {}: {} {}: {} → {}", file, captured.name, node.name(), node.target(), before,
                                      printAnnotation(node.meta(), true, false)));
}

}  // namespace

Result<void> changeAnnotations(const std::filesystem::path& file, const AnnotationOptions& options,
                               AnnotationReport& report) {
  KERF_TRY(Capture capture, importCapture(file));
  Dice dice((options.seed * 1'000'003 + std::uint64_t(report.graphs)) * 0xd1342543de82ef95ULL);
  for (CapturedGraph& graph : capture.graphs) {
    if (!graph.ensureLoaded()) continue;
    ++report.graphs;
    for (const std::string& note : conflictNotes(shapeConflicts(graph.module)))
      report.falseAlarms.push_back(fmt::format("{} {}: {}", file.string(), graph.name, note));
    for (int i = 0; i < options.count; ++i) changeOne(graph, file.string(), dice, report);
  }
  return {};
}

}  // namespace kerf::annotations
