#include "engine/align/step_writes.h"

#include <algorithm>

#include "engine/ops/core/memory_use.h"
#include "engine/ops/core/memory_writes.h"

namespace kerf::inline align {

namespace {

/// Higher-order ops that write into copies only.
bool writesCopiesOnly(std::string_view target) {
  return target.find("functional") !=
         std::string_view::npos;  // auto_functionalized_v2, triton_kernel_wrapper_functional
}

void addBase(std::vector<NodeId>& bases, NodeId base) {
  if (std::ranges::find(bases, base) == bases.end()) bases.push_back(base);
}

}  // namespace

StaleValues::StaleValues(const GraphModule& whole) : m_whole(whole) {
  for (const NodeId id : whole.graph.order()) {
    m_places.emplace(id, m_places.size());
    visit(whole.graph.node(id));
  }
}

void StaleValues::visit(const Node& node) {
  std::vector<NodeId> bases;
  if (node.op() == Opcode::GetAttr) bases.push_back(m_attributes.try_emplace(node.target(), node.id()).first->second);
  if (node.op() == Opcode::CallModule || node.target().find("higher_order") != std::string::npos)
    visitHigherOrder(node);
  else
    forEachMemoryUse(node, [&](const Argument& argument, bool writes, bool) {
      forEachNode(argument, [&](NodeId input) {
        for (const NodeId base : m_bases[input]) addBase(bases, base);
        if (writes) write(node.id(), input);
      });
    });
  if (bases.empty()) bases.push_back(node.id());
  m_bases[node.id()] = std::move(bases);
}

/// What a nested graph may write into, it may write into any operand.
void StaleValues::visitHigherOrder(const Node& node) {
  if (writesCopiesOnly(node.target())) return;
  bool looked = false, writes = false;
  for (const NodeId input : node.inputs()) {
    const Node& body = m_whole.graph.node(input);
    const Submodule* found = body.op() == Opcode::GetAttr ? m_whole.submodule(body.target()) : nullptr;
    if (found == nullptr || !found->graph) continue;
    looked = true;
    for (const auto answer : memoryWrites(*found->graph).placeholders) writes |= answer != MemoryWrites::Answer::No;
  }
  if (looked && !writes) return;
  for (const NodeId input : node.inputs()) write(node.id(), input);
}

void StaleValues::write(NodeId call, NodeId into) {
  for (const NodeId base : m_bases[into]) m_writers[base].push_back(call);
}

std::optional<StaleValues::Write> StaleValues::before(NodeId node, const std::vector<NodeId>& values,
                                                      const std::function<bool(NodeId)>& runs) const {
  const std::size_t end = m_places.at(node);
  for (const NodeId value : values) {
    const bool held = m_whole.graph.node(value).op() == Opcode::GetAttr;
    for (const NodeId base : m_bases.at(value)) {
      const auto writers = m_writers.find(base);
      if (writers == m_writers.end()) continue;
      for (const NodeId call : writers->second) {
        const std::size_t place = m_places.at(call);
        if (place < end && (held || place > m_places.at(value)) && !runs(call)) return Write{value, call};
      }
    }
  }
  return std::nullopt;
}

}  // namespace kerf::inline align
