#include "engine/ir/node.h"

#include <algorithm>
#include <array>
#include <unordered_set>

namespace kerf::inline ir {
namespace {

constexpr std::array<std::string_view, 6> opcodeNames = {"placeholder", "call_function", "call_method",
                                                         "call_module", "get_attr",      "output"};

std::optional<Sizes> concrete(const std::vector<Dim>& dims) {
  Sizes out;
  out.reserve(dims.size());
  for (const Dim& dim : dims) {
    if (!dim.hint) return std::nullopt;
    out.push_back(*dim.hint);
  }
  return out;
}

/// Collects distinct nodes in order; a set takes over where a linear search would get slow.
class DistinctNodes {
 public:
  void add(const Argument& argument) {
    forEachNode(argument, [this](NodeId id) {
      if (isNew(id)) m_ids.push_back(id);
    });
  }
  std::vector<NodeId> take() { return std::move(m_ids); }

 private:
  static constexpr std::size_t fewNodes = 32;

  bool isNew(NodeId id) {
    if (m_ids.size() < fewNodes) return std::ranges::find(m_ids, id) == m_ids.end();
    if (m_seen.empty()) m_seen.insert(m_ids.begin(), m_ids.end());
    return m_seen.insert(id).second;
  }

  std::vector<NodeId> m_ids;
  std::unordered_set<NodeId> m_seen;
};

}  // namespace

std::string_view opcodeName(Opcode op) { return opcodeNames[std::size_t(op)]; }

std::optional<Opcode> opcodeFromName(std::string_view name) {
  const auto at = std::ranges::find(opcodeNames, name);
  if (at == opcodeNames.end()) return std::nullopt;
  return static_cast<Opcode>(at - opcodeNames.begin());
}

std::optional<Sizes> TensorMeta::concreteSizes() const { return concrete(sizes); }
std::optional<Sizes> TensorMeta::concreteStrides() const {
  if (strides.size() == sizes.size()) return concrete(strides);
  const auto known = concreteSizes();
  return known ? std::optional(contiguousStrides(*known)) : std::nullopt;
}

bool Node::isUnnumberedCall(OpId op) const {
  return m_op == Opcode::CallFunction && op && canonicalOpName(m_target) == opName(op);
}

std::shared_ptr<const NodeMeta> Node::emptyMeta() {
  static const auto empty = std::make_shared<const NodeMeta>();
  return empty;
}

std::vector<NodeId> Node::inputs() const {
  DistinctNodes nodes;
  for (const Argument& argument : m_args) nodes.add(argument);
  for (const auto& [key, argument] : m_kwargs) nodes.add(argument);
  return nodes.take();
}

}  // namespace kerf::inline ir
