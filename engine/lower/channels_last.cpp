#include "engine/lower/channels_last.h"

#include <algorithm>

#include "engine/lower/lowering_fit.h"
#include "engine/ops/core/op_registry.h"
#include "engine/ops/core/strides.h"

namespace kerf::inline lower {
namespace {

/// Views that only choose and order dimensions of their base, or fail where its strides do not allow them.
constexpr std::string_view plainViews[] = {"aten::view",    "aten::_unsafe_view", "aten::unsqueeze", "aten::squeeze",
                                           "aten::permute", "aten::transpose",    "aten::t",         "aten::expand",
                                           "aten::slice",   "aten::select",       "aten::alias",     "aten::detach"};

class Choice {
 public:
  Choice(const ValueTable& values, const std::function<bool(NodeId)>& isFree)
      : m_values(values), m_graph(values.graph()), m_isFree(isFree) {
    std::size_t slots = 0;
    for (const NodeId id : m_graph.order()) slots = std::max<std::size_t>(slots, id.index + std::size_t{1});
    m_last.assign(slots, false);
  }

  std::vector<bool> run() {
    for (const NodeId id : m_graph.order()) m_last[id.index] = lies(id);
    return std::move(m_last);
  }

 private:
  bool lies(NodeId id) const {
    const ValueInfo& info = m_values[id];
    if (!info.isTensor || info.sizes.size() != 4 || info.sizes.isSymbolic() || info.strides.isSymbolic()) return false;
    const bool wants = isRowConvolution(info) || (info.kind == ValueKind::Pointwise && followsOne(info));
    if (!wants || !m_isFree(id)) return strideSaysSo(info);
    return viewsAllow(id, metaTensor(info.dtype, info.sizes, strides(info)));
  }

  static SymSizes strides(const ValueInfo& info) {
    return formatStrides(info.sizes, MemoryFormat::ChannelsLast).value_or(info.strides);
  }

  /// Of memory that lies as it was recorded.
  static bool strideSaysSo(const ValueInfo& info) {
    const Tensor tensor = metaTensor(info.dtype, info.sizes, info.strides);
    return isContiguousAs(tensor, MemoryFormat::ChannelsLast) && !isContiguousAs(tensor, MemoryFormat::Contiguous);
  }

  /// An operand of the same sizes lies so.
  bool followsOne(const ValueInfo& info) const {
    const auto lies = [&](NodeId id) {
      return id.valid() && m_last[id.index] && sameSizes(m_values[id].sizes, info.sizes);
    };
    if (!info.lowering->element) return std::ranges::any_of(info.operandNodes, lies);
    // What moves elements has other sizes than its operands, but as many channels or pixels.
    return std::ranges::any_of(elementReads(info), [&](NodeId id) { return m_last[id.index]; });
  }

  /// `value` is what `id` would be.
  bool viewsAllow(NodeId id, const Tensor& value) const {
    return std::ranges::all_of(m_graph.node(id).users(), [&](NodeId user) { return userAllows(user, id, value); });
  }

  bool userAllows(NodeId user, NodeId id, const Tensor& value) const {
    const ValueInfo& info = m_values[user];
    if (info.kind == ValueKind::Extern) return !isRandom(m_graph.node(user));
    if (info.kind == ValueKind::Tuple) return info.lowering != nullptr;
    if (info.kind != ValueKind::View) return true;
    if (info.base != id || info.viewCall != user || info.needsLayout) return false;
    if (std::ranges::find(plainViews, info.bound.op->schema.name) == std::end(plainViews)) return false;
    BoundArguments bound = info.bound;
    bound.values[0] = value;
    const auto shape = runShapeRule(bound);
    return shape && shape->isTensor() && viewsAllow(user, shape->tensor());
  }

  /// Numbers are drawn in the order of memory.
  static bool isRandom(const Node& node) {
    const OpInfo* op = findOp(node);
    return op == nullptr || has(op->traits, OpTrait::Random);
  }

  const ValueTable& m_values;
  const Graph& m_graph;
  const std::function<bool(NodeId)>& m_isFree;
  std::vector<bool> m_last;
};

}  // namespace

bool isRowConvolution(const ValueInfo& info) {
  if (info.kind != ValueKind::Extern || !info.isTensor || info.bound.op == nullptr) return false;
  if (info.bound.op->schema.name != "aten::convolution" || info.dtype != DType::Float32) return false;
  if (info.sizes.size() != 4 || info.sizes.isSymbolic() || info.bound.values.size() < 7) return false;
  const auto* transposed = info.bound.values[6].as<bool>();
  const bool numbers = !info.bound.tensor(0).isSymbolic() && !info.bound.tensor(1).isSymbolic();
  return transposed != nullptr && !*transposed && numbers;
}

std::vector<bool> channelsLastValues(const ValueTable& values, const std::function<bool(NodeId)>& isFree) {
  return Choice(values, isFree).run();
}

}  // namespace kerf::inline lower
