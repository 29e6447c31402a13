#include "engine/lower/buffer_table.h"

#include <algorithm>
#include <unordered_set>

#include "engine/lower/channels_last.h"
#include "engine/lower/lowering_fit.h"
#include "engine/lower/view_shapes.h"
#include "engine/ops/core/memory_writes.h"
#include "engine/ops/core/strides.h"

namespace kerf::inline lower {
namespace {

/// Longest chain of arithmetic that is computed inside its consumer, in additions.
constexpr int inlineCost = 64;
/// The same inside of a write or a scan along rows, whose loops often go an element at a time: an exponential takes ten
/// times as long there as a vector at a time.
constexpr int serialInlineCost = 8;
/// Above this a value that its consumer repeats is computed once instead.
constexpr int repeatCost = 4;
/// Elements of a value, such as a batch norm's 1 / sqrt(variance + epsilon) or a gate of channels, that its consumer
/// computes again: for each channel where its loops allow (engine/codegen_llvm/kernel_hoists.cpp).
constexpr std::int64_t mostRepeated = 4096;
constexpr int repeatedCost = 14;

/// At the example's sizes.
std::int64_t numelOf(const SymSizes& sizes) {
  std::int64_t count = 1;
  for (const SymInt size : sizes) count *= exampleOf(size);
  return count;
}

SymInt spanOf(const SymSizes& sizes, const SymSizes& strides) {
  SymInt last = 1;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (isZero(sizes[d])) return 0;
    last += (sizes[d] - 1) * strides[d];
  }
  return last;
}

}  // namespace

IndexMap identityMap(const SymSizes& sizes) {
  IndexMap map;
  for (std::size_t d = 0; d < sizes.size(); ++d) map.push_back(isOne(sizes[d]) ? Affine{} : Affine::variable(d));
  return map;
}

IndexMap broadcastMap(const IndexMap& map, const SymSizes& from) {
  IndexMap result;
  const std::size_t skipped = map.size() - from.size();
  for (std::size_t d = 0; d < from.size(); ++d)  // the shape rule has asked the same
    result.push_back(guardOrFalse(from[d] == 1) ? Affine{} : map[skipped + d]);
  return result;
}

std::optional<IndexMap> mapThroughView(const ValueTable& values, NodeId view, const IndexMap& map,
                                       const SymSizes& variableSizes) {
  const ValueInfo& info = values[view];
  if (info.needsLayout) return std::nullopt;
  Affine rest = flatten(map, info.viewStrides, info.viewOffset);
  const SymSizes& sizes = values[info.base].sizes;
  const SymSizes strides = contiguousStrides(sizes);
  IndexMap result(sizes.size());
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (isOne(sizes[d])) continue;
    auto parts = divideExactly(rest, strides[d], variableSizes);
    if (!parts) return std::nullopt;
    result[d] = std::move(parts->quotient);
    rest = std::move(parts->remainder);
  }
  return result;
}

/// Walks the graph backwards for uses, then forwards to hand out buffers.
class BufferPlanner {
 public:
  BufferPlanner(const ValueTable& values, bool fuse, ImageLayout layout)
      : m_values(values), m_graph(values.graph()), m_fuse(fuse), m_layout(layout) {
    std::size_t slots = 0;
    for (const NodeId id : m_graph.order()) slots = std::max<std::size_t>(slots, id.index + std::size_t{1});
    m_table.m_bufferOf.assign(slots, -1);
    m_table.m_views.resize(slots);
    m_needed.assign(slots, false);
    m_owned.assign(slots, false);
    m_cost.assign(slots, 0);
    m_readers.resize(slots);
  }

  Result<BufferTable> run() {
    for (const NodeId id : m_graph.order()) collectUses(m_graph.node(id));
    if (m_layout == ImageLayout::ChannelsLast)
      m_channelsLast = channelsLastValues(m_values, [this](NodeId id) { return !m_owned[id.index]; });
    for (const NodeId id : m_graph.order()) {
      askFor(m_graph.node(id));
      auto placed = place(m_graph.node(id));
      if (!placed) return fail(std::move(placed.error().atNode(m_graph.node(id).name())));
    }
    return std::move(m_table);
  }

 private:
  bool isComputed(NodeId id) const {
    const ValueKind kind = m_values[id].kind;
    return kind == ValueKind::Pointwise || kind == ValueKind::Reduction || kind == ValueKind::Scan ||
           kind == ValueKind::Write;
  }

  void need(NodeId id, bool owned) {
    const NodeId root = m_values.root(id);
    m_needed[root.index] = true;
    if (owned) m_owned[root.index] = true;
  }

  void collectUses(const Node& node) {
    const ValueInfo& info = m_values[node.id()];
    switch (info.kind) {
      case ValueKind::Output:
        for (const NodeId input : node.inputs()) need(input, true);
        break;
      case ValueKind::Extern:
        for (const NodeId input : node.inputs())
          need(input, mayKeepArguments(node, info) && !isOnlyCopied(node, info, input));
        break;
      case ValueKind::View:
        collectViewUse(node, info);
        break;
      case ValueKind::Pointwise:
      case ValueKind::Reduction:
      case ValueKind::Scan:
        collectReads(node, info);
        break;
      case ValueKind::Write:
        collectWrite(node, info);
        break;
      default:
        break;
    }
  }

  /// Whether an extern kernel's result may share memory with its arguments, or it writes into them.
  static bool mayKeepArguments(const Node& node, const ValueInfo& info) {
    const OpInfo* op = info.bound.op ? info.bound.op : findOp(node);
    if (!op || node.op() != Opcode::CallFunction || node.isCall("operator.getitem"_op)) return true;
    return mayShareMemory(*op);
  }

  /// What copy_ only reads.
  static bool isOnlyCopied(const Node& node, const ValueInfo& info, NodeId input) {
    return node.isCall("aten.copy_.default"_op) && !info.operandNodes.empty() && info.operandNodes[0] != input;
  }

  void collectViewUse(const Node& node, const ValueInfo& info) {
    const NodeId root = m_values.root(info.base);
    if (!isComputed(root)) return;
    if (info.needsLayout || m_needed[root.index]) return need(root, false);
    // A view that is no affine map of its base (a merge of dimensions) can only be read from memory.
    std::optional<IndexMap> map = identityMap(info.sizes);
    for (NodeId at = node.id(); map && m_values[at].kind == ValueKind::View; at = m_values[at].base)
      map = mapThroughView(m_values, at, *map, info.sizes);
    if (!map) need(root, false);
  }

  void collectReads(const Node& node, const ValueInfo& info) {
    if (info.lowering->element) {
      m_cost[node.id().index] = info.lowering->cost;
      for (const NodeId operand : elementReads(info)) collectMove(node, info, operand);
      return;
    }
    const bool isPointwise = info.kind == ValueKind::Pointwise;
    const std::vector<NodeId> operands = isPointwise ? tensorOperands(info) : std::vector{info.operandNodes[0]};
    int cost = isPointwise ? info.lowering->cost : 2;
    const std::int64_t elements = numelOf(isPointwise ? info.sizes : info.bound.tensor(0).symSizes());
    for (const NodeId operand : operands) cost += costOfRead(node, info, operand, elements);
    m_cost[node.id().index] = std::max(cost, 0);
  }

  /// What an element of the operand adds to the cost of one of the reader's; the operand gets memory where that pays.
  int costOfRead(const Node& node, const ValueInfo& info, NodeId operand, std::int64_t elements) {
    const NodeId root = m_values.root(operand);
    if (!isComputed(root)) return 0;
    m_readers[root.index].insert(node.id());
    const bool wasNeeded = m_needed[root.index];
    if (!mustMaterialise(root, info, elements)) return wasNeeded ? 0 : m_cost[root.index];
    m_needed[root.index] = true;
    return wasNeeded ? -m_cost[root.index] : 0;
  }

  /// What an op writes, and what it fills its result with, may be computed where it is written; places are read from
  /// memory, where they are checked.
  void collectWrite(const Node& node, const ValueInfo& info) {
    m_needed[node.id().index] = true;
    const std::int64_t writes = numelOf(info.lowering->writes->loops(info.bound).sizes);
    for (std::size_t i = 0; i < info.operandNodes.size(); ++i) {
      for (const NodeId item : info.operandItems[i])
        if (item.valid()) need(item, false);
      if (!info.operandNodes[i].valid()) continue;
      if (!isElementOfWrite(info, i))
        need(info.operandNodes[i], false);
      else
        (void)costOfRead(node, info, info.operandNodes[i], i == 0 ? numelOf(info.sizes) : writes);
    }
  }

  /// A piece of a cat is read from memory, or computed from what is there, if that is cheap.
  void collectMove(const Node& node, const ValueInfo& info, NodeId operand) {
    if (!readsAffinely(info) || !isCheapPiece(info, operand)) return need(operand, false);
    m_readers[operand.index].insert(node.id());
    m_cost[node.id().index] += m_cost[operand.index];
  }

  bool isCheapPiece(const ValueInfo& reader, NodeId operand) const {
    const ValueInfo& value = m_values[operand];
    if (value.kind != ValueKind::Pointwise || value.lowering->element || value.lowering->cost > 1) return false;
    if (!m_fuse || value.alone || reader.alone || value.segment != reader.segment) return false;
    if (m_graph.node(operand).users().size() != 1) return false;
    return std::ranges::all_of(tensorOperands(value), [&](NodeId read) {
      const NodeId root = m_values.root(read);
      return !isComputed(root) || m_needed[root.index];
    });
  }

  bool mustMaterialise(NodeId root, const ValueInfo& reader, std::int64_t elements) const {
    const ValueInfo& value = m_values[root];
    const int cost = m_cost[root.index];
    if (!m_fuse || value.alone || reader.alone) return true;
    if (value.kind != ValueKind::Pointwise || value.segment != reader.segment) return true;
    const bool isSerial = reader.kind == ValueKind::Write || scansRows(reader);
    if (cost > (isSerial ? serialInlineCost : inlineCost)) return true;
    if (m_readers[root.index].size() > 1 && cost > 1) return true;
    return elements > numelOf(value.sizes) && cost > repeatCost && !isRepeated(root);
  }

  /// A few elements of arithmetic on what no kernel computes.
  bool isRepeated(NodeId root) const {
    const ValueInfo& value = m_values[root];
    if (!isComputed(root)) return value.isTensor;
    if (value.kind != ValueKind::Pointwise || value.lowering->element || value.sizes.isSymbolic()) return false;
    if (numelOf(value.sizes) > mostRepeated || m_cost[root.index] > repeatedCost) return false;
    return std::ranges::all_of(tensorOperands(value), [&](NodeId read) { return isRepeated(m_values.root(read)); });
  }

  Result<void> place(const Node& node) {
    const ValueInfo& info = m_values[node.id()];
    switch (info.kind) {
      case ValueKind::Input:
        return give(node, info, info.isTensor ? BufferKind::Input : BufferKind::External);
      case ValueKind::Attribute:
        return give(node, info, BufferKind::Attribute);
      case ValueKind::Extern:
        return placeExtern(node, info);
      case ValueKind::Number:
        return give(node, info, BufferKind::Number);
      case ValueKind::View:
        return placeView(node, info);
      case ValueKind::Pointwise:
      case ValueKind::Reduction:
      case ValueKind::Scan:
      case ValueKind::Write:
        if (!m_needed[node.id().index] && info.kind == ValueKind::Pointwise && m_fuse && !info.alone) return {};
        return give(node, info, m_owned[node.id().index] ? BufferKind::Owned : BufferKind::Planned);
      case ValueKind::Tuple:
      case ValueKind::Output:
        return {};
    }
    return {};
  }

  static bool isLibraryKernel(const Node& node, const ValueInfo& info) {
    if (!info.bound.op || !info.isTensor) return false;
    const auto isNode = [](const auto& named) { return named.second.template as<NodeId>() != nullptr; };
    if (std::ranges::any_of(node.kwargs(), isNode)) return false;  // alpha and beta are numbers there
    static constexpr std::string_view names[] = {"aten::mm", "aten::addmm", "aten::bmm", "aten::convolution"};
    return std::ranges::find(names, info.bound.op->schema.name) != std::end(names);
  }

  Result<void> placeExtern(const Node& node, const ValueInfo& info) {
    if (!isLibraryKernel(node, info)) return give(node, info, BufferKind::External);
    return give(node, info, m_owned[node.id().index] ? BufferKind::Owned : BufferKind::Planned);
  }

  Result<void> placeView(const Node& node, const ValueInfo& info) {
    const BufferView* base = m_table.view(info.base);
    if (!base) return {};
    const std::int64_t shift = m_table.m_buffers[std::size_t(base->buffer)].storageOffset;
    KERF_TRY(const Value shape, m_shapes.of(info.viewCall, m_values[info.viewCall].bound, [&] {
      return metaTensor(m_values[info.base].dtype, base->sizes, base->strides, base->offset + shift);
    }));
    const Tensor& result = shape.isList() ? shape.list()[std::size_t(info.item)].tensor() : shape.tensor();
    m_table.m_views[node.id().index] = {base->buffer, result.symSizes(), result.symStrides(),
                                        result.symOffset() - shift};
    return {};
  }

  Result<void> give(const Node& node, const ValueInfo& info, BufferKind kind) {
    BufferInfo buffer{kind, node.id(), node.name(), info.dtype, info.sizes, info.strides, info.storageOffset, 0, 0};
    if (kind == BufferKind::Planned || kind == BufferKind::Owned) {
      buffer.storageOffset = 0;
      if (kind == BufferKind::Planned && liesChannelsLast(node.id())) {
        KERF_TRY(buffer.strides, formatStrides(info.sizes, MemoryFormat::ChannelsLast));
      }
      if (!info.sizes.isSymbolic()) KERF_CHECK(checkedNumel(info.sizes.numbers()));
      buffer.bytes = spanOf(info.sizes, buffer.strides) * itemSize(info.dtype);
    }
    const int id = int(m_table.m_buffers.size());
    m_table.m_bufferOf[node.id().index] = id;
    if (info.isTensor) m_table.m_views[node.id().index] = {id, info.sizes, buffer.strides, 0};
    m_table.m_buffers.push_back(std::move(buffer));
    return {};
  }

  bool liesChannelsLast(NodeId id) const { return !m_channelsLast.empty() && m_channelsLast[id.index]; }

  const ValueTable& m_values;
  const Graph& m_graph;
  const bool m_fuse;
  const ImageLayout m_layout;
  std::vector<bool> m_channelsLast;
  BufferTable m_table;
  ViewShapes m_shapes;
  std::vector<bool> m_needed, m_owned;
  std::vector<int> m_cost;
  std::vector<std::unordered_set<NodeId>> m_readers;
};

void BufferTable::moveTo(NodeId id, BufferView place) {
  const int before = std::exchange(m_bufferOf[id.index], -1);
  m_buffers[std::size_t(before)].kind = BufferKind::Planned;  // which nobody writes: it has no place
  for (BufferView& view : m_views) {
    if (view.buffer != before) continue;
    view.buffer = place.buffer;
    view.offset += place.offset;
  }
}

void BufferTable::settle(ShapeEnv& env) {
  const auto settled = [&](auto&... sizes) {
    for (SymSizes* list : {&sizes...})
      for (SymInt& size : *list) size = env.resolved(size);
  };
  for (BufferInfo& buffer : m_buffers) {
    settled(buffer.sizes, buffer.strides);
    buffer.bytes = env.resolved(buffer.bytes);
  }
  for (BufferView& view : m_views) {
    settled(view.sizes, view.strides);
    view.offset = env.resolved(view.offset);
  }
}

Result<BufferTable> BufferTable::build(const ValueTable& values, bool fuse, ImageLayout layout) {
  return BufferPlanner(values, fuse, layout).run();
}

}  // namespace kerf::inline lower
