// ElementBuilder: the expression of one element of a value, with everything inlined down to loads.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "engine/loops/expr_builder.h"
#include "engine/lower/buffer_table.h"
#include "engine/lower/index_check.h"
#include "engine/lower/lowering_fit.h"
#include "engine/ops/core/lowering_calls.h"

namespace kerf::inline lower {

/// What a kernel computes of a value: all of it, or, of one that is written at computed places, what fills it before,
/// or the writes.
enum class MemberPart : std::uint8_t { Whole, Fill, Writes };

/// The loops that one computed value needs: its dimensions longer than 1 (for a reduction those of its operand, for
/// writes those of what is written).
struct LoopSpace {
  std::vector<LoopVariable> variables;
  std::vector<int> variableOf;  ///< per dimension; -1 for size 1
  std::vector<bool> reduced;    ///< per dimension
  bool keepsDimensions = true;

  bool reduces() const;
  SymSizes sizes() const;
};
Result<LoopSpace> loopSpace(const ValueTable& values, NodeId id, MemberPart part = MemberPart::Whole);

/// Index of the value's own result, and of a reduction's operand, where variable v of `space` is `assignment[v]` over
/// the loop variables of a kernel.
IndexMap resultMap(const LoopSpace& space, const IndexMap& assignment);
IndexMap elementMap(const LoopSpace& space, const IndexMap& assignment);

class ElementBuilder {
 public:
  /// Values in `members` are computed in this kernel; a read of one at another place than its own is a load.
  struct Member {
    NodeId node;
    const LoopSpace* space = nullptr;
    IndexMap assignment;
    MemberPart part = MemberPart::Whole;
  };

  ElementBuilder(const ValueTable& values, const BufferTable& buffers, LoopKernel& kernel)
      : m_values(values), m_buffers(buffers), m_kernel(kernel), m_builder(kernel) {}

  /// Whether every 16-bit result is rounded, as eager does after each op. Else it stays float32 until it is stored, as
  /// in Inductor's kernels (its emulate_precision_casts, off by default).
  bool roundsEachOp = true;

  /// Told of every value with memory that is read, and where; no map where the index is not affine in its dimensions.
  std::function<void(NodeId, const std::optional<IndexMap>&)> onRead;

  /// The member's result in its stored type (in float32 where it is not rounded yet); adds it to the values that later
  /// members use directly.
  Result<int> member(const Member& member);
  /// Of a member's writes: the store.
  Result<LoopStore> writes(const Member& member);
  /// A member's result in the type in which memory holds it.
  int stored(NodeId id, int value);
  /// The same as copy_ writes it.
  int copied(NodeId copy, NodeId id, int value);
  /// A load or store target: kernel buffer and index of element `map` of a view.
  int bufferArgument(int buffer, SymInt offset);
  struct Argument {
    int buffer;
    SymInt offset;
  };
  const std::vector<Argument>& arguments() const { return m_arguments; }
  /// Index tensors whose values must be checked before the kernel runs.
  const std::vector<IndexCheck>& indexChecks() const { return m_indexChecks; }
  /// Per expression of the kernel, the FX node that it is of.
  const std::vector<std::string>& origins() const { return m_origins; }
  /// Members, what was computed inside of them, and the views on the way, in graph order.
  std::vector<NodeId> computedNodes() const;

 private:
  class MemoryReader;
  Result<int> element(NodeId id, const IndexMap& map);
  Result<int> compute(NodeId id, const IndexMap& map);
  Result<int> reduction(NodeId id, const LoopSpace& space, const IndexMap& assignment);
  Result<int> filled(NodeId id, const IndexMap& map);
  Result<int> pointwise(NodeId id, const IndexMap& map);
  Result<int> moved(NodeId id, const IndexMap& map);
  Result<int> throughView(NodeId id, const IndexMap& map);
  int load(NodeId id, const BufferView& view, const IndexMap& map);
  bool isPiece(NodeId id) const;
  int piece(NodeId id, const IndexMap& map, int condition);
  void noteRead(NodeId id, const std::optional<IndexMap>& map) const;
  int finish(const ValueInfo& info, int value);
  int offsetOf(std::span<const Place> places, const SymSizes& strides);
  int ownedBy(NodeId id, int value);
  DType resultType(const ValueInfo& info) const;
  int numberOperand(const ValueInfo& info, std::size_t position, DType compute);
  int tensorOperand(const ValueInfo& info, const Tensor& tensor, int stored, DType compute);

  const ValueTable& m_values;
  const BufferTable& m_buffers;
  LoopKernel& m_kernel;
  ExprBuilder m_builder;
  std::vector<Argument> m_arguments;
  std::vector<std::string> m_origins;
  std::vector<IndexCheck> m_indexChecks;
  struct Known {
    IndexMap map;
    int value;
    bool isMember;
  };
  std::unordered_map<NodeId, std::vector<Known>> m_known;
  std::set<NodeId> m_pieces;   ///< computed at places of a move
  std::set<NodeId> m_written;  ///< filled or written to
  bool m_inPiece = false;
  int m_condition = -1;  ///< of the piece: elsewhere no memory is read
};

}  // namespace kerf::inline lower
