#include "app/workbench/captures/memory_need.h"

#include <algorithm>
#include <set>

#include "engine/ops/core/op_registry.h"
#include "engine/tensor/storage.h"

namespace kerf::workbench {

namespace {

/// From the first to the last element; 0 where a size is not known.
std::int64_t bytesOf(const TensorMeta& meta) {
  double elements = 1, span = 1;
  const bool strided = meta.strides.size() == meta.sizes.size();
  for (std::size_t i = 0; i < meta.sizes.size(); ++i) {
    if (!meta.sizes[i].hint || *meta.sizes[i].hint < 0) return 0;
    const auto size = double(*meta.sizes[i].hint);
    elements *= size;
    span += strided ? std::max(0.0, size - 1) * double(meta.strides[i].hint.value_or(0)) : 0;
  }
  const double count = elements == 0 ? 0 : strided ? std::min(elements, span) : elements;
  return std::int64_t(std::min(count * double(itemSize(meta.dtype)), 0x1p62));
}

std::int64_t bytesOf(const ValueMeta& meta) {
  if (const TensorMeta* tensor = meta.tensor()) return bytesOf(*tensor);
  double bytes = 0;
  if (const auto* list = meta.list())
    for (const ValueMeta& item : *list) bytes += double(bytesOf(item));
  return std::int64_t(std::min(bytes, 0x1p62));
}

/// An op of the table that gives memory of its own.
bool makesMemory(const Node& node) {
  if (node.op() != Opcode::CallFunction) return false;
  const OpInfo* op = findOp(node);
  if (op == nullptr || has(op->traits, OpTrait::View) || has(op->traits, OpTrait::Inplace)) return false;
  return std::ranges::all_of(op->schema.arguments,
                             [](const SchemaArgument& argument) { return argument.alias.empty(); });
}

std::int64_t inputBytes(const CapturedGraph& graph) {
  double bytes = 0;
  for (const StorageRef& storage : graph.storages)
    if (storage.hash.empty() && !storage.data && !storage.file) bytes += double(storage.bytes);
  if (graph.inputs.empty())
    for (const NodeId id : graph.module.graph.placeholders())
      bytes += double(bytesOf(graph.module.graph.node(id).meta().value));
  return std::int64_t(std::min(bytes, 0x1p62));
}

std::string gigabytes(std::int64_t bytes) { return fmt::format("{:.3g} GB", double(bytes) / 1e9); }

}  // namespace

MemoryNeed memoryNeed(const CapturedGraph& captured) {
  const Graph& graph = captured.module.graph;
  MemoryNeed need{.inputs = inputBytes(captured)};
  std::set<NodeId> returned;
  if (const NodeId output = graph.outputNode(); output.valid())
    for (const NodeId id : graph.node(output).inputs()) returned.insert(id);
  double results = 0;
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (!makesMemory(node)) continue;
    const std::int64_t bytes = bytesOf(node.meta().value);
    if (returned.contains(id)) {
      results += double(bytes);
    } else if (bytes > need.largest) {
      need.largest = bytes;
      need.node = node.name();
    }
  }
  need.results = std::int64_t(std::min(results, 0x1p62));
  return need;
}

Result<void> checkMemory(const CapturedGraph& graph, bool opByOp) {
  const MemoryNeed need = memoryNeed(graph);
  const std::int64_t limit = storageLimit() - liveStorageBytes();
  const double values = opByOp ? double(need.largest) : 0;
  const double all = double(need.inputs) + std::max(double(need.results), values);
  if (all <= double(limit)) return {};
  std::string text =
      fmt::format("the graph needs at least {}: {} for its inputs, {} for its results",
                  gigabytes(std::int64_t(std::min(all, 0x1p62))), gigabytes(need.inputs), gigabytes(need.results));
  if (opByOp && need.largest > need.results) text += fmt::format(", {} for {}", gigabytes(need.largest), need.node);
  text += fmt::format("; there are {}. ", gigabytes(std::max<std::int64_t>(0, limit)));
  const bool symbolic = !graph.symbols().empty();
  text += symbolic ? "Give its symbols smaller values"
                   : "Make its sizes smaller in the text, or run it where there is more";
  if (symbolic) return fail(ErrorCode::TooLarge, Hint{Advice::GiveSizes}, "{}", text);
  return fail(ErrorCode::TooLarge, "{}", text);
}

}  // namespace kerf::workbench
