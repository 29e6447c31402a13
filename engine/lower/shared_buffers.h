// SharedBuffers: which buffers may be the same memory. What an extern call gives may look at what it was given.
#pragma once

#include <vector>

#include "engine/lower/buffer_table.h"

namespace kerf::inline lower {

/// What an extern call does with one of the values it is given.
struct ExternUse {
  NodeId value;
  bool writes = false, shares = false;  ///< shares: its result may look at that memory
};
/// Of a call that is no op of the table anything may be.
std::vector<ExternUse> externUses(const Node& node);

class SharedBuffers {
 public:
  SharedBuffers(const ValueTable& values, const BufferTable& buffers);

  /// The same number for buffers that may share memory.
  int memory(int buffer) const;

 private:
  void join(int a, int b);

  std::vector<int> m_parents;
};

}  // namespace kerf::inline lower
