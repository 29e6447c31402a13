// BufferTable: which values live in memory, and where every tensor value of the graph can be read from.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/lower/value_table.h"

namespace kerf::inline lower {

enum class BufferKind : std::uint8_t {
  Input,      ///< a placeholder's tensor
  Attribute,  ///< a parameter or constant of the module
  Planned,    ///< a place in the arena, reused when nobody needs it any more
  Owned,      ///< storage of its own in every run: outputs, and what an aliasing extern kernel may keep
  External,   ///< made by an extern kernel: a tensor, a list or a number
  Number,     ///< a ValueKind::Number
};

struct BufferInfo {
  BufferKind kind = BufferKind::Planned;
  NodeId node;
  std::string name;
  DType dtype = DType::Float32;
  SymSizes sizes, strides;
  std::int64_t storageOffset = 0;  ///< of eager's tensor; as_strided counts from it
  SymInt bytes = 0;                ///< Planned and Owned; where sizes turn out to be 0, less than 0 stands for 0 too
  std::int64_t arenaOffset = 0;    ///< Planned, at the example's sizes
};

/// A tensor as a strided look at a buffer; the offset counts elements from the buffer's first element.
struct BufferView {
  int buffer = -1;
  SymSizes sizes, strides;
  SymInt offset = 0;
};

/// How intermediate images lie in memory.
enum class ImageLayout : std::uint8_t {
  AsRecorded,
  ChannelsLast,  ///< results of convolutions and what follows them (channelsLastValues)
};

class BufferTable {
 public:
  /// Decides which pointwise and reduction values get memory. `fuse` false gives it to all of them.
  static Result<BufferTable> build(const ValueTable& values, bool fuse, ImageLayout layout = ImageLayout::AsRecorded);

  const std::vector<BufferInfo>& buffers() const { return m_buffers; }
  std::vector<BufferInfo>& buffers() { return m_buffers; }
  /// Puts in what guards have settled.
  void settle(ShapeEnv& env);
  /// Own buffer of a node, or -1.
  int bufferOf(NodeId id) const { return m_bufferOf[id.index]; }
  bool hasBuffer(NodeId id) const { return bufferOf(id) >= 0; }
  /// The buffer in which a value lies, be it its own or one that it looks at; -1: it exists only inside kernels.
  int memoryOf(NodeId id) const { return hasBuffer(id) ? bufferOf(id) : m_views[id.index].buffer; }
  /// A value that had a buffer of its own, and whatever looks at it, lies at `place` from now on, which has its strides.
  void moveTo(NodeId id, BufferView place);
  /// Where a value can be read, through views; none for values that exist only inside kernels.
  const BufferView* view(NodeId id) const {
    const auto& view = m_views[id.index];
    return view.buffer >= 0 ? &view : nullptr;
  }

 private:
  friend class BufferPlanner;
  std::vector<BufferInfo> m_buffers;
  std::vector<int> m_bufferOf;
  std::vector<BufferView> m_views;
};

/// Index of a view's base for an index of the view; none when it is no affine map.
std::optional<IndexMap> mapThroughView(const ValueTable& values, NodeId view, const IndexMap& map,
                                       const SymSizes& variableSizes);
/// Index of an operand of shape `from` for an index of a result it broadcasts to.
IndexMap broadcastMap(const IndexMap& map, const SymSizes& from);
/// i0, i1, … with 0 for dimensions of size 1.
IndexMap identityMap(const SymSizes& sizes);

}  // namespace kerf::inline lower
