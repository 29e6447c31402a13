#include "engine/backend/kernels/program_memory.h"

#include <algorithm>

#include "engine/ops/core/memory_use.h"
#include "engine/ops/core/op_registry.h"
#include "engine/runtime/convolution_steps.h"

namespace kerf::inline backend {
namespace {

std::int64_t rounded(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

/// At the hints of sizes that are expressions.
std::int64_t bytesOf(const TensorMeta& meta) {
  const auto sizes = meta.concreteSizes();
  if (!sizes) return 0;
  std::int64_t count = 1;
  for (const std::int64_t size : *sizes) count *= size;
  return rounded(count * itemSize(meta.dtype));
}

std::int64_t bytesOf(const ValueMeta& meta) {
  if (const TensorMeta* tensor = meta.tensor()) return bytesOf(*tensor);
  std::int64_t bytes = 0;
  if (const auto* items = meta.list())
    for (const ValueMeta& item : *items) bytes += bytesOf(item);
  return bytes;
}

std::int64_t bytesOf(const Slot& slot) {
  std::int64_t last = 1;
  for (std::size_t d = 0; d < slot.sizes.size(); ++d) {
    if (slot.sizes[d] == 0) return 0;
    last += (slot.sizes[d] - 1) * slot.strides[d];
  }
  return rounded(last * itemSize(slot.dtype));
}

class MemoryWalk {
 public:
  explicit MemoryWalk(const Program& program) : m_program(program), m_graph(program.module->graph) {
    m_releasedAt.assign(program.slots.size(), int(program.steps.size()));
    for (std::size_t s = 0; s < program.steps.size(); ++s)
      for (const int slot : program.steps[s].releases) m_releasedAt[std::size_t(slot)] = int(s);
    m_lastUse = m_releasedAt;
    for (const Step& step : program.steps) keepBases(step);
  }

  std::vector<StepMemory> run() {
    std::vector<std::int64_t> change(m_program.steps.size() + 1, 0);
    std::int64_t always = m_program.arenaBytes > 0 ? rounded(m_program.arenaBytes) : 0;
    for (std::size_t slot = 0; slot < m_program.slots.size(); ++slot)
      if (m_program.slots[slot].kind == SlotKind::Fresh)
        add(change, 0, m_releasedAt[slot], bytesOf(m_program.slots[slot]));
    for (std::size_t s = 0; s < m_program.steps.size(); ++s) {
      const Step& step = m_program.steps[s];
      if (step.slot < 0) continue;
      if (step.kind == StepKind::Convolution) always += packedFilter(step);
      if (m_program.slots[std::size_t(step.slot)].kind == SlotKind::Result)
        add(change, int(s), m_lastUse[std::size_t(step.slot)], ownBytes(step));
    }
    std::vector<StepMemory> rows;
    std::int64_t live = always;
    for (std::size_t s = 0; s < m_program.steps.size(); ++s) {
      live += change[s];
      rows.push_back({m_program.steps[s].name, live});
    }
    return rows;
  }

 private:
  /// From step `first` until step `last` is done.
  static void add(std::vector<std::int64_t>& change, int first, int last, std::int64_t bytes) {
    change[std::size_t(first)] += bytes;
    const auto end = std::size_t(last) + 1;
    if (end < change.size()) change[end] -= bytes;
  }

  const Node& nodeOf(const Step& step) const { return m_graph.node(step.node); }

  /// Items and views live on the memory of what they are taken from.
  bool sharesMemory(const Node& node) const {
    if (node.isCall("operator.getitem"_op)) return true;
    const OpInfo* op = findOp(node);
    return op != nullptr && mayShareMemory(*op);
  }

  std::int64_t ownBytes(const Step& step) const {
    const Node& node = nodeOf(step);
    return sharesMemory(node) ? 0 : bytesOf(node.meta().value);
  }

  /// What a result lives on is needed as long as the result.
  void keepBases(const Step& step) {
    if (step.slot < 0 || !step.node.valid() || !sharesMemory(nodeOf(step))) return;
    for (const NodeId input : nodeOf(step).inputs()) {
      const int base = m_program.views[input.index].slot;
      if (base < 0) continue;
      int& last = m_lastUse[std::size_t(base)];
      last = std::max(last, m_releasedAt[std::size_t(step.slot)]);
    }
  }

  /// The copy of a filter that a convolution over images with channels last keeps.
  std::int64_t packedFilter(const Step& step) const {
    const Slot& result = m_program.slots[std::size_t(step.slot)];
    if (!liesChannelsLast(result.sizes, result.strides)) return 0;
    const auto& inputs = nodeOf(step).args();
    const NodeId* filter = inputs.size() > 1 ? inputs[1].as<NodeId>() : nullptr;
    return filter ? bytesOf(m_graph.node(*filter).meta().value) : 0;
  }

  const Program& m_program;
  const Graph& m_graph;
  std::vector<int> m_releasedAt;  ///< by slot: the step after which it is not needed
  std::vector<int> m_lastUse;     ///< the same, counting what lives on it
};

}  // namespace

std::vector<StepMemory> plannedMemory(const Program& program) { return MemoryWalk(program).run(); }

std::int64_t heldBytes(const Program& program) {
  std::int64_t bytes = program.arenaBytes;
  for (const Slot& slot : program.slots)
    if (slot.kind == SlotKind::Fresh) bytes += bytesOf(slot);
  return bytes;
}

}  // namespace kerf::inline backend
