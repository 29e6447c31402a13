// Rows that begin anywhere: their packs begin where memory's do, and single threads take what is in no pack.
#include <fmt/format.h>

#include "engine/codegen_cuda/kernel_writer.h"

namespace kerf::inline codegen_cuda {

/// Of a row that begins anywhere: elements before its first pack, its packs, and all elements that are in none.
void KernelWriter::writeShift() {
  if (!isShifted()) return;
  const std::vector<std::string> indices = m_index;
  m_index[*m_shape.vectorVariable] = "(Index)0";
  line(fmt::format("const int head = (int)((V - ({}) % V) % V);", affine(*m_shape.shift)));
  line(fmt::format("const Index packs = ({} - head) / V;", count(m_shape.inner)));
  line(fmt::format("const int edges = (int)({} - packs * V);", count(m_shape.inner)));
  m_index = indices;
}

/// What single threads do with the elements that are in no pack.
void KernelWriter::inEdges(const std::function<void()>& write) {
  if (!isShifted()) return;
  const std::vector<std::string> indices = m_index;
  m_atEdge = true;
  open("if (lane < edges)");
  const std::string name = fmt::format("i{}", *m_shape.vectorVariable);
  line(fmt::format("const Index {} = lane < head ? lane : lane + packs * V;", name));
  m_index[*m_shape.vectorVariable] = name;
  write();
  close();
  m_atEdge = false;
  m_index = indices;
}

}  // namespace kerf::inline codegen_cuda
