// Elements that are some element of an operand, wherever it lies in memory.
#include <algorithm>

#include "engine/lower/element_builder.h"
#include "engine/ops/core/lowering_calls.h"

namespace kerf::inline lower {

/// Reads for one element of one value.
class ElementBuilder::MemoryReader : public ElementReader {
 public:
  MemoryReader(ElementBuilder& builder, NodeId node, bool writes = false)
      : m_builder(builder), m_info(builder.m_values[node]), m_writes(writes) {}

  /// What stopped a read, once.
  std::optional<Error> takeFailure() { return std::exchange(m_failure, {}); }

  int at(std::size_t argument, std::size_t item, std::span<const Place> places) override {
    IndexMap map;
    for (const Place& place : places) map.push_back(place.affine);
    if (m_writes && isElementOfWrite(m_info, argument)) return element(nodeOf(argument, item), map);
    if (!isInMemory(argument, item)) return m_builder.piece(nodeOf(argument, item), map, -1);
    const Source source = read(argument, item, map);
    const int offset = m_builder.offsetOf(places, source.strides);
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

  /// Computed here, if it has no memory.
  int element(NodeId node, const IndexMap& map) {
    auto value = m_builder.element(node, map);
    if (value) return *value;
    m_failure = std::move(value).error();
    return m_builder.m_builder.integer(0, DType::Int64);
  }

  Source read(std::size_t argument, std::size_t item, const IndexMap& map) {
    const NodeId node = nodeOf(argument, item);
    const BufferView& view = *m_builder.m_buffers.view(node);
    if (m_builder.onRead) m_builder.onRead(m_builder.m_values.root(node), std::nullopt);
    Affine index = flatten(map, view.strides, view.offset);
    const SymInt offset = std::exchange(index.constant, SymInt(0));
    return {m_builder.bufferArgument(view.buffer, offset), std::move(index), view.strides};
  }

  void check(IndexCheck check) {
    const auto isIt = [&](const IndexCheck& known) {
      return known.node == check.node && sameSize(known.size, check.size) && known.mayBeNegative == check.mayBeNegative;
    };
    if (std::ranges::none_of(m_builder.m_indexChecks, isIt)) m_builder.m_indexChecks.push_back(std::move(check));
  }

  ElementBuilder& m_builder;
  const ValueInfo& m_info;
  const bool m_writes;
  std::optional<Error> m_failure;
};

/// Σ places[d].computed·strides[d]; -1: none is computed.
int ElementBuilder::offsetOf(std::span<const Place> places, const SymSizes& strides) {
  int offset = -1;
  for (std::size_t d = 0; d < places.size(); ++d) {
    if (places[d].computed < 0) continue;
    const bool isPlain = isOne(strides[d]);
    const int step = isPlain
                         ? places[d].computed
                         : m_builder.binary(ExprOp::Mul, places[d].computed, m_builder.size(strides[d], DType::Int64));
    offset = offset < 0 ? step : m_builder.binary(ExprOp::Add, offset, step);
  }
  return offset;
}

/// An element of a value before anything is written to it, in the type in which memory holds it.
Result<int> ElementBuilder::filled(NodeId id, const IndexMap& map) {
  const ValueInfo& info = m_values[id];
  m_written.insert(id);
  MemoryReader reader(*this, id, true);
  const int value = info.lowering->writes->fill({m_builder, info.bound, info.dtype, map, reader, info.item});
  if (auto failure = reader.takeFailure()) return fail(*std::move(failure));
  return ownedBy(id, m_builder.convert(value, info.dtype));
}

Result<LoopStore> ElementBuilder::writes(const Member& member) {
  const ValueInfo& info = m_values[member.node];
  m_written.insert(member.node);
  MemoryReader reader(*this, member.node, true);
  const IndexMap map = elementMap(*member.space, member.assignment);
  const Write write = info.lowering->writes->write({m_builder, info.bound, info.dtype, map, reader});
  const BufferView& view = *m_buffers.view(member.node);
  IndexMap affine;
  for (const Place& place : write.places) affine.push_back(place.affine);
  const Affine index = flatten(affine, view.strides, 0);
  const int buffer = bufferArgument(view.buffer, 0), offset = offsetOf(write.places, view.strides);
  int there = -1;
  if (write.needsThere)
    there = m_builder.convert(offset < 0 ? m_builder.load(buffer, index) : m_builder.loadAt(buffer, index, offset),
                              computeType(info.dtype));
  const int value = m_builder.convert(write.value(there), info.dtype);
  if (auto failure = reader.takeFailure()) return fail(*std::move(failure));
  ownedBy(member.node, value);
  return LoopStore{buffer, index, value, true, offset};
}

Result<int> ElementBuilder::moved(NodeId id, const IndexMap& map) {
  const ValueInfo& info = m_values[id];
  for (const NodeId read : elementReads(info))
    if (!m_buffers.view(read) && !(readsAffinely(info) && isPiece(read)))
      return fail(ErrorCode::Internal, "an operand that is read at other places has no memory");
  MemoryReader reader(*this, id);
  return ownedBy(id, finish(info, info.lowering->element({m_builder, info.bound, info.dtype, map, reader, info.item})));
}

}  // namespace kerf::inline lower
