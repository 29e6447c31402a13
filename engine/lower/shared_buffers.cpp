#include "engine/lower/shared_buffers.h"

#include <numeric>

#include "engine/ops/core/memory_use.h"

namespace kerf::inline lower {

std::vector<ExternUse> externUses(const Node& node) {
  std::vector<ExternUse> uses;
  const bool isKnown = node.op() == Opcode::CallFunction && (findOp(node) || node.isCall("operator.getitem"_op));
  for (const NodeId input : node.inputs()) uses.push_back({input, !isKnown, !isKnown});
  if (!isKnown) return uses;
  forEachMemoryUse(node, [&](const Argument& argument, bool writes, bool shares) {
    forEachNode(argument, [&](NodeId id) {
      for (ExternUse& use : uses) {
        if (use.value != id) continue;
        use.writes |= writes;
        use.shares |= shares;
      }
    });
  });
  return uses;
}

SharedBuffers::SharedBuffers(const ValueTable& values, const BufferTable& buffers)
    : m_parents(buffers.buffers().size()) {
  std::iota(m_parents.begin(), m_parents.end(), 0);
  for (const NodeId id : values.graph().order()) {
    if (values[id].kind != ValueKind::Extern || !buffers.hasBuffer(id)) continue;
    if (buffers.buffers()[std::size_t(buffers.bufferOf(id))].kind != BufferKind::External) continue;
    for (const ExternUse& use : externUses(values.graph().node(id)))
      if (const int memory = buffers.memoryOf(use.value); use.shares && memory >= 0) join(buffers.bufferOf(id), memory);
  }
  for (std::size_t b = 0; b < m_parents.size(); ++b) m_parents[b] = memory(int(b));
}

int SharedBuffers::memory(int buffer) const {
  while (m_parents[std::size_t(buffer)] != buffer) buffer = m_parents[std::size_t(buffer)];
  return buffer;
}

void SharedBuffers::join(int a, int b) { m_parents[std::size_t(memory(b))] = memory(a); }

}  // namespace kerf::inline lower
