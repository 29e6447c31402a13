#include "engine/lower/element_builder.h"

#include <algorithm>

#include "engine/ops/core/lowering_calls.h"
#include "engine/ops/core/op_row.h"
#include "engine/ops/pointwise/engine.h"

namespace kerf::inline lower {

bool LoopSpace::reduces() const {
  return std::ranges::any_of(variables, [](const LoopVariable& v) { return v.reduced; });
}

SymSizes LoopSpace::sizes() const {
  SymSizes result;
  for (const auto& v : variables) result.push_back(v.size);
  return result;
}

namespace {

/// The loops of the writes.
LoopSpace writeSpace(const ValueInfo& info) {
  LoopSpace space;
  const WriteLoops loops = info.lowering->writes->loops(info.bound);
  space.reduced.assign(loops.sizes.size(), false);
  for (std::size_t d = 0; d < loops.sizes.size(); ++d) {
    const bool single = isOne(loops.sizes[d]);
    space.variableOf.push_back(single ? -1 : int(space.variables.size()));
    if (!single) space.variables.push_back({loops.sizes[d], false, bool(loops.serial[d])});
  }
  return space;
}

}  // namespace

Result<LoopSpace> loopSpace(const ValueTable& values, NodeId id, MemberPart part) {
  const ValueInfo& info = values[id];
  if (part == MemberPart::Writes) return writeSpace(info);
  const bool reduces = info.kind == ValueKind::Reduction;
  const SymSizes& sizes = reduces ? info.bound.tensor(0).symSizes() : info.sizes;
  LoopSpace space;
  space.reduced.assign(sizes.size(), false);
  if (reduces) {
    KERF_TRY(space.reduced, reducedDimensions(info, sizes.size()));
    space.keepsDimensions = keepsDimensions(info);
  }
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    const bool single = isOne(sizes[d]);
    space.variableOf.push_back(single ? -1 : int(space.variables.size()));
    if (!single) space.variables.push_back({sizes[d], bool(space.reduced[d])});
  }
  if (info.kind == ValueKind::Scan && !sizes.empty()) {
    KERF_TRY(const std::size_t dim, scannedDimension(info, sizes.size()));
    if (space.variableOf[dim] >= 0) space.variables[std::size_t(space.variableOf[dim])].reduced = true;
  }
  return space;
}

namespace {

Affine dimensionIndex(const LoopSpace& space, std::size_t d, const IndexMap& assignment) {
  const int own = space.variableOf[d];
  return own < 0 ? Affine{} : assignment[std::size_t(own)];
}

}  // namespace

IndexMap resultMap(const LoopSpace& space, const IndexMap& assignment) {
  IndexMap map;
  for (std::size_t d = 0; d < space.variableOf.size(); ++d) {
    if (!space.reduced[d])
      map.push_back(dimensionIndex(space, d, assignment));
    else if (space.keepsDimensions)
      map.push_back({});
  }
  return map;
}

IndexMap elementMap(const LoopSpace& space, const IndexMap& assignment) {
  IndexMap map;
  for (std::size_t d = 0; d < space.variableOf.size(); ++d) map.push_back(dimensionIndex(space, d, assignment));
  return map;
}

Result<int> ElementBuilder::member(const Member& member) {
  const IndexMap map = resultMap(*member.space, member.assignment);
  if (member.part == MemberPart::Fill) return filled(member.node, map);
  int value = -1;
  const ValueKind kind = m_values[member.node].kind;
  if (kind == ValueKind::Reduction || kind == ValueKind::Scan) {
    KERF_TRY(value, reduction(member.node, *member.space, member.assignment));
  } else {
    KERF_TRY(value, pointwise(member.node, map));
  }
  m_known[member.node].push_back({map, value, true});
  return value;
}

int ElementBuilder::bufferArgument(int buffer, SymInt offset) {
  for (std::size_t i = 0; i < m_arguments.size(); ++i)
    if (m_arguments[i].buffer == buffer && sameSize(m_arguments[i].offset, offset)) return int(i);
  const BufferInfo& info = m_buffers.buffers()[std::size_t(buffer)];
  m_kernel.buffers.push_back({info.dtype, info.name});
  m_arguments.push_back({buffer, offset});
  return int(m_arguments.size()) - 1;
}

std::vector<NodeId> ElementBuilder::computedNodes() const {
  std::vector<NodeId> result;
  for (const auto& [id, known] : m_known) {
    const bool isMember = std::ranges::any_of(known, &Known::isMember);
    if (isMember || !m_buffers.hasBuffer(id)) result.push_back(id);
  }
  result.insert(result.end(), m_written.begin(), m_written.end());
  for (const NodeId id : m_pieces)
    if (!m_known.contains(id)) result.push_back(id);
  std::ranges::sort(result);
  return result;
}

int ElementBuilder::load(NodeId id, const BufferView& view, const IndexMap& map) {
  Affine index = flatten(map, view.strides, view.offset);
  const SymInt offset = std::exchange(index.constant, SymInt(0));
  const int buffer = bufferArgument(view.buffer, offset);
  if (m_condition >= 0) return ownedBy(id, m_builder.loadWhere(buffer, std::move(index), m_condition));
  return ownedBy(id, m_builder.load(buffer, std::move(index)));
}

void ElementBuilder::noteRead(NodeId id, const std::optional<IndexMap>& map) const {
  if (onRead) onRead(id, m_inPiece ? std::nullopt : map);
}

Result<int> ElementBuilder::element(NodeId id, const IndexMap& map) {
  if (!m_inPiece)
    for (const Known& k : m_known[id])
      if (k.map == map) return k.value;
  const ValueInfo& info = m_values[id];
  int value = -1;
  if (info.kind == ValueKind::View) {
    KERF_TRY(value, throughView(id, map));
  } else if (const BufferView* view = m_buffers.view(id)) {
    noteRead(id, map);
    value = load(id, *view, map);
  } else {
    KERF_TRY(value, compute(id, map));
  }
  if (!m_inPiece) m_known[id].push_back({map, value, false});
  return value;
}

/// A value that a move takes without its being in memory: it is computed from what is.
bool ElementBuilder::isPiece(NodeId id) const {
  const ValueInfo& info = m_values[id];
  if (info.kind != ValueKind::Pointwise || info.lowering->element) return false;
  return std::ranges::all_of(tensorOperands(info), [&](NodeId read) { return m_buffers.view(read) != nullptr; });
}

int ElementBuilder::piece(NodeId id, const IndexMap& map, int condition) {
  const bool wasInPiece = std::exchange(m_inPiece, true);
  const int before = std::exchange(m_condition, condition);
  const auto value = pointwise(id, map);
  m_inPiece = wasInPiece, m_condition = before;
  m_pieces.insert(id);
  return value.value_or(-1);  // isPiece(): all that it reads is in memory
}

/// A view of a value computed in this kernel is that value at another index; of memory, a strided load.
Result<int> ElementBuilder::throughView(NodeId id, const IndexMap& map) {
  const NodeId root = m_values.root(id);
  const BufferView* view = m_buffers.view(id);
  const SymSizes sizes = m_kernel.variableSizes();
  std::optional<IndexMap> at = map;
  for (NodeId step = id; at && step != root; step = m_values[step].base)
    at = mapThroughView(m_values, step, *at, sizes);
  const auto computed = m_known.find(root);
  if (at && !m_inPiece && computed != m_known.end())
    for (const Known& k : computed->second)
      if (k.isMember && k.map == *at) return k.value;
  if (view) {
    noteRead(root, at);
    return load(id, *view, map);
  }
  if (!at) return fail(ErrorCode::Internal, "a view of a value without memory is not affine");
  return element(root, *at);
}

Result<int> ElementBuilder::compute(NodeId id, const IndexMap& map) {
  if (m_values[id].kind == ValueKind::Pointwise) return pointwise(id, map);
  return fail(ErrorCode::Internal, "a value without memory is read by a kernel");
}

int ElementBuilder::numberOperand(const ValueInfo& info, std::size_t position, DType compute) {
  const Value& value = info.bound.values[position];
  const DType dtype = operandDType(info);
  const bool isHalf = dtype == DType::BFloat16 || dtype == DType::Float16;  // which 257 does not fit into
  const auto whole = value.asSymInt();
  if (whole && (whole->isSymbolic() || !isHalf)) return m_builder.size(*whole, compute);
  double number = info.bound.number(position);
  const bool exact = takesNumbersExactly(info);
  if (!exact && dtype == DType::BFloat16) number = float(BFloat16(float(number)));
  if (!exact && dtype == DType::Float16) number = float(Half(float(number)));
  return m_builder.constant(number, compute);
}

/// Eager turns tensors of other dtypes into the 16-bit one that it computes in; those without dimensions stay exact for
/// the ops that take numbers so.
int ElementBuilder::tensorOperand(const ValueInfo& info, const Tensor& tensor, int stored, DType compute) {
  const DType dtype = operandDType(info);
  const bool isHalf = dtype == DType::BFloat16 || dtype == DType::Float16;
  const bool isExact = tensor.dim() == 0 && takesNumbersExactly(info);
  const bool rounds = isHalf && roundsEachOp && tensor.dtype() != dtype && !isExact;
  return m_builder.convert(rounds ? m_builder.convert(stored, dtype) : stored, compute);
}

Result<int> ElementBuilder::pointwise(NodeId id, const IndexMap& map) {
  const ValueInfo& info = m_values[id];
  if (info.lowering->element) return moved(id, map);
  const bool raw = info.lowering->types == OperandTypes::Raw;
  const DType compute = raw ? computeType(info.dtype) : computeTypeOf(info);
  std::vector<int> operands;
  for (const std::size_t i : elementOperands(info)) {
    if (info.bound.none(i)) {
      operands.push_back(-1);
      continue;
    }
    const Tensor* tensor = info.bound.tensorIf(i);
    if (!tensor) {
      operands.push_back(numberOperand(info, i, compute));
      continue;
    }
    KERF_TRY(const int stored, element(info.operandNodes[i], broadcastMap(map, tensor->symSizes())));
    const std::string& role = info.bound.op->schema.arguments[i].name;
    const bool isCondition = role == "condition" || role == "mask";
    if (raw)
      operands.push_back(stored);
    else
      operands.push_back(isCondition ? m_builder.convert(stored, DType::Bool)
                                     : tensorOperand(info, *tensor, stored, compute));
  }
  const PointwiseCall call{m_builder, info.bound, resultType(info), operands, compute, map};
  return ownedBy(id, finish(info, info.lowering->pointwise(call)));
}

namespace {

/// Where along its dimension a scan is, or a reduction over one dimension.
Affine placeAlong(const ValueInfo& info, const LoopSpace& space, const IndexMap& assignment) {
  const std::size_t rank = space.variableOf.size();
  if (info.kind != ValueKind::Scan) {
    const auto reduced = std::ranges::find(space.reduced, true);
    const bool isOnly = std::ranges::count(space.reduced, true) == 1;
    return isOnly ? dimensionIndex(space, std::size_t(reduced - space.reduced.begin()), assignment) : Affine{};
  }
  if (rank == 0) return {};
  const auto dim = scannedDimension(info, rank);
  return dim ? dimensionIndex(space, *dim, assignment) : Affine{};
}

}  // namespace

Result<int> ElementBuilder::reduction(NodeId id, const LoopSpace& space, const IndexMap& assignment) {
  const ValueInfo& info = m_values[id];
  KERF_TRY(const int value, element(info.operandNodes[0], elementMap(space, assignment)));
  SymInt count = 1;
  for (const auto& variable : space.variables)
    if (variable.reduced) count *= variable.size;
  const ReductionCall call{m_builder, info.bound, resultType(info), info.item,
                           value,     count,      space.reduces(),  placeAlong(info, space, assignment)};
  const bool isScan = info.kind == ValueKind::Scan;
  return ownedBy(id, finish(info, isScan ? info.lowering->scan(call) : info.lowering->reduction(call)));
}

/// Rounds to the stored type, as eager does after every op; or leaves that to the store.
int ElementBuilder::finish(const ValueInfo& info, int value) { return m_builder.convert(value, resultType(info)); }

/// The expressions that were made since the last call are of this node.
int ElementBuilder::ownedBy(NodeId id, int value) {
  m_origins.resize(m_kernel.exprs.size(), m_values.graph().node(id).name());
  return value;
}

DType ElementBuilder::resultType(const ValueInfo& info) const {
  const bool isHalf = info.dtype == DType::BFloat16 || info.dtype == DType::Float16;
  return isHalf && !roundsEachOp ? DType::Float32 : info.dtype;
}

int ElementBuilder::stored(NodeId id, int value) { return m_builder.convert(value, m_values[id].dtype); }

int ElementBuilder::copied(NodeId copy, NodeId id, int value) {
  return ownedBy(copy, m_builder.convert(stored(id, value), m_values[copy].dtype));
}

}  // namespace kerf::inline lower
