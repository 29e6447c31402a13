// Elements that are some element of an operand, wherever it lies in memory.
#include <algorithm>

#include "engine/lower/element_builder.h"
#include "engine/ops/core/lowering_calls.h"

namespace kerf::inline lower {

/// Reads for one element of one value.
class ElementBuilder::MemoryReader : public ElementReader {
 public:
  MemoryReader(ElementBuilder& builder, NodeId node) : m_builder(builder), m_info(builder.m_values[node]) {}

  int at(std::size_t argument, std::size_t item, std::span<const Place> places) override {
    IndexMap map;
    for (const Place& place : places) map.push_back(place.affine);
    if (!isInMemory(argument, item)) return m_builder.piece(nodeOf(argument, item), map, -1);
    const Source source = read(argument, item, map);
    int offset = -1;
    for (std::size_t d = 0; d < places.size(); ++d) {
      if (places[d].computed < 0) continue;
      const int step = scaled(places[d].computed, source.strides[d]);
      offset = offset < 0 ? step : m_builder.m_builder.binary(ExprOp::Add, offset, step);
    }
    if (offset < 0) return m_builder.m_builder.load(source.buffer, source.index);
    return m_builder.m_builder.loadAt(source.buffer, source.index, offset);
  }

  int atWhere(std::size_t argument, std::size_t item, const IndexMap& map, int condition) override {
    if (!isInMemory(argument, item)) return m_builder.piece(nodeOf(argument, item), map, condition);
    const Source source = read(argument, item, map);
    return m_builder.m_builder.loadWhere(source.buffer, source.index, condition);
  }

  int index(std::size_t argument, std::size_t item, const IndexMap& map, const IndexUse& use) override {
    ExprBuilder& b = m_builder.m_builder;
    const Source source = read(argument, item, map);
    check({nodeOf(argument, item), m_info.bound.opName(), use.size, use.dim, use.mayBeNegative});
    const int stored = b.convert(b.load(source.buffer, source.index), DType::Int64);
    if (!use.mayBeNegative) return stored;
    const int isNegative = b.binary(ExprOp::Lt, stored, b.integer(0, DType::Int64));
    return b.select(isNegative, b.binary(ExprOp::Add, stored, b.size(use.size, DType::Int64)), stored);
  }

 private:
  struct Source {
    int buffer;
    Affine index;
    const SymSizes& strides;
  };

  NodeId nodeOf(std::size_t argument, std::size_t item) const {
    const auto& items = m_info.operandItems[argument];
    return items.empty() ? m_info.operandNodes[argument] : items[item];
  }

  bool isInMemory(std::size_t argument, std::size_t item) const {
    return m_builder.m_buffers.view(nodeOf(argument, item)) != nullptr;
  }

  Source read(std::size_t argument, std::size_t item, const IndexMap& map) {
    const NodeId node = nodeOf(argument, item);
    const BufferView& view = *m_builder.m_buffers.view(node);
    if (m_builder.onRead) m_builder.onRead(m_builder.m_values.root(node), std::nullopt);
    Affine index = flatten(map, view.strides, view.offset);
    const SymInt offset = std::exchange(index.constant, SymInt(0));
    return {m_builder.bufferArgument(view.buffer, offset), std::move(index), view.strides};
  }

  int scaled(int value, SymInt stride) {
    if (isOne(stride)) return value;
    return m_builder.m_builder.binary(ExprOp::Mul, value, m_builder.m_builder.size(stride, DType::Int64));
  }

  void check(IndexCheck check) {
    const auto isIt = [&](const IndexCheck& known) {
      return known.node == check.node && sameSize(known.size, check.size) && known.mayBeNegative == check.mayBeNegative;
    };
    if (std::ranges::none_of(m_builder.m_indexChecks, isIt)) m_builder.m_indexChecks.push_back(std::move(check));
  }

  ElementBuilder& m_builder;
  const ValueInfo& m_info;
};

Result<int> ElementBuilder::moved(NodeId id, const IndexMap& map) {
  const ValueInfo& info = m_values[id];
  for (const NodeId read : elementReads(info))
    if (!m_buffers.view(read) && !(readsAffinely(info) && isPiece(read)))
      return fail(ErrorCode::Internal, "an operand that is read at other places has no memory");
  MemoryReader reader(*this, id);
  return ownedBy(id, finish(info, info.lowering->element({m_builder, info.bound, info.dtype, map, reader, info.item})));
}

}  // namespace kerf::inline lower
