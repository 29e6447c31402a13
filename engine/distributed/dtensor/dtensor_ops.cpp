#include "engine/distributed/dtensor/dtensor_ops.h"

#include "engine/distributed/dtensor/distributed_tensor.h"
#include "engine/ops/core/composite.h"

namespace kerf::inline distributed::inline dtensor {
namespace {

/// The tensors of a result, in order, none where there is none.
void flatten(const Value& value, std::vector<Value>& out) {
  if (!value.isList()) {
    out.push_back(value);
    return;
  }
  for (const Value& item : value.list()) flatten(item, out);
}

}  // namespace

Tensor DTensorOps::fromLocal(const Tensor& local, const Tensor& whole, const Placements& placements) const {
  Tensor tensor = handle(whole, placements);
  m_locals.resize(std::size_t(handles()));
  m_locals.back() = local;
  return tensor;
}

Result<Tensor> DTensorOps::distribute(const Tensor& whole, const Placements& placements) const {
  KERF_TRY(const Tensor part, localPart(m_rank, whole, placements));
  return fromLocal(part, metaTensor(whole.dtype(), whole.sizes()), placements);
}

Result<Tensor> DTensorOps::full(const Tensor& tensor) const {
  return fullTensor(m_rank, local(tensor), *specOf(tensor));
}

void DTensorOps::note(const ValueList& inputs, const ValueList& results, CustomBackward backward) const {
  if (tape() == nullptr || !tape()->tracksAny(inputs, {})) return;
  tape()->recordCustom(inputs, results, {}, [backward = std::move(backward)](const ValueList& grads, const OpRunner&) {
    return backward(grads);
  });
}

Result<Tensor> DTensorOps::redistribute(const Tensor& tensor, const Placements& to) const {
  const Spec from = *specOf(tensor);
  KERF_TRY(const Tensor part, sharding::redistribute(m_rank, local(tensor), from, to));
  Tensor result = fromLocal(part, tensor, to);
  note({tensor}, {result}, [this, from](const ValueList& grads) -> Result<ValueList> {
    const Tensor& gradient = grads[0].tensor();
    KERF_TRY(const DistributedTensor back,
             redistributedBack(m_rank, {local(gradient), *specOf(gradient)}, {Tensor(), from}));
    return ValueList{Value(fromLocal(back.local, metaTensor(back.spec.dtype, back.spec.sizes), back.spec.placements))};
  });
  return result;
}

Result<Tensor> DTensorOps::wrapped(const Tensor& own, const Placements& placements) const {
  KERF_TRY(const Tensor rows, own.contiguous());  // as the strides of whole tensors are told
  KERF_TRY(const DistributedTensor made, dtensor::fromLocal(m_rank, rows, placements, false));
  const Spec spec = made.spec;
  Tensor result = fromLocal(made.local, metaTensor(spec.dtype, spec.sizes), placements);
  note({own}, {result}, [this, spec](const ValueList& grads) -> Result<ValueList> {
    const Tensor& gradient = grads[0].tensor();
    KERF_TRY(DistributedTensor back, redistributedBack(m_rank, {local(gradient), *specOf(gradient)}, {Tensor(), spec}));
    back.local.traced = -1;
    return ValueList{Value(std::move(back.local))};
  });
  return result;
}

Tensor DTensorOps::unwrapped(const Tensor& tensor, const Placements& gradients) const {
  Tensor own = asLocal(local(tensor));
  const Placements placements = gradients.empty() ? withoutPartials(specOf(tensor)->placements) : gradients;
  note({tensor}, {own}, [this, tensor, placements](const ValueList& grads) -> Result<ValueList> {
    KERF_TRY(Tensor part, grads[0].tensor().contiguous());
    part.traced = -1;
    return ValueList{Value(fromLocal(part, metaTensor(part.dtype(), tensor.sizes()), placements))};
  });
  return own;
}

/// Messages between two ranks: nothing that CommDebugMode counts.
/// Piece i to member i of the group, empty ones to nobody; what comes from each, or an empty one.
Result<std::vector<Tensor>> DTensorOps::swapped(const Group& group, std::vector<Tensor> pieces, std::int64_t dim,
                                                const Sizes& received) const {
  constexpr int haloTag = 0;
  Communicator& ranks = m_rank.ranks;
  if (OwnCollectives* const own = ranks.own()) return own->exchange(group, {"halo", ""}, pieces);
  const auto me = std::size_t(group.indexOf(ranks.rank()));
  for (std::size_t other = 0; other < pieces.size(); ++other)
    if (other != me && pieces[other].size(dim) > 0) KERF_CHECK(ranks.send(group, int(other), haloTag, pieces[other]));
  for (std::size_t other = 0; other < received.size(); ++other)
    if (other != me && received[other] > 0) {
      KERF_TRY(pieces[other], ranks.receive(group, int(other), haloTag));
    }
  return pieces;
}

Result<Tensor> DTensorOps::exchange(std::size_t meshDim, std::int64_t dim, const Tensor& pieces, const Sizes& sent,
                                    const Sizes& received) const {
  const Group group = m_rank.group(meshDim);
  std::vector<Tensor> mine;
  std::int64_t at = 0;
  for (const std::int64_t size : sent) {
    KERF_TRY(const Tensor view, callTensorOp("aten.slice.Tensor"_op, {pieces, dim, at, at + size}));
    at += size;
    KERF_TRY(Tensor piece, view.clone());
    mine.push_back(std::move(piece));
  }
  KERF_TRY(const std::vector<Tensor> come, swapped(group, std::move(mine), dim, received));
  std::vector<Tensor> parts;
  for (std::size_t other = 0; other < received.size(); ++other) {
    if (received[other] == 0) continue;
    if (come[other].size(dim) != received[other])
      return fail(ErrorCode::RuntimeFailed, "rank {} got {} elements of a halo from rank {} instead of {}",
                  m_rank.ranks.rank(), come[other].size(dim), group.ranks[other], received[other]);
    parts.push_back(come[other]);
  }
  if (parts.empty()) return callTensorOp("aten.slice.Tensor"_op, {pieces, dim, std::int64_t{0}, std::int64_t{0}});
  return callTensorOp("aten.cat.default"_op, {tensorList(parts), dim});
}

Result<Value> DTensorOps::runParts(const Dispatch& dispatch, const BoundArguments& parts) const {
  if (isShardedConvolution(dispatch.args, dispatch.strategy))
    return ShardedConvolution(OpRunner(referenceOps()), *this, mesh(), m_rank.coordinate)
        .run(dispatch.args, parts, dispatch.strategy);
  KERF_TRY(Value result, callRow(*dispatch.args.op, parts, OpRunner(referenceOps())));
  if (dispatch.args.op->id == "aten.equal.default"_op) {
    const bool* same = result.as<bool>();
    const Tensor mine = Tensor::scalarInt(same != nullptr && *same ? 1 : 0, DType::Int64);
    const Group everyone = worldGroup(m_rank.ranks.worldSize());
    ++m_rank.issued["c10d.allreduce_"];
    KERF_TRY(const Tensor all, allReduce(m_rank.ranks, everyone, mine, "min"));
    return Value(all.itemAsInt() != 0);
  }
  return result;
}

Result<Tensor> DTensorOps::placed(const Tensor& tensor, const Spec& from, const Placements& to) const {
  const Tensor own = specOf(tensor) == nullptr ? tensor : local(tensor);
  KERF_TRY(Tensor part, sharding::redistribute(m_rank, own, from, to));
  part.traced = -1;
  return fromLocal(part, tensor, to);
}

Result<Value> DTensorOps::execute(const Dispatch& dispatch) const {
  std::vector<Value> parts;
  for (std::size_t i = 0; i < dispatch.operands.size(); ++i) {
    const bool isPlain = specOf(dispatch.tensors[i]) == nullptr;
    const Tensor& own = isPlain ? dispatch.tensors[i] : local(dispatch.tensors[i]);
    KERF_TRY(Tensor part, sharding::redistribute(m_rank, own, dispatch.operands[i].spec, dispatch.strategy.inputs[i]));
    part.traced = -1;
    parts.emplace_back(std::move(part));
  }
  const BoundArguments arguments = localArguments(dispatch.args, dispatch.operands, parts, dispatch.strategy,
                                                  dispatch.shapes, mesh(), m_rank.coordinate);
  KERF_TRY(const Value result, runParts(dispatch, arguments));
  if (const Value* written = writtenArgument(dispatch.args);
      written != nullptr && dispatch.args.op->id != "aten.squeeze_.dim"_op)
    return *written;
  if (dispatch.shapes.isNone()) return result;
  std::vector<Value> locals;
  flatten(result, locals);
  return mapTensors(dispatch.shapes, [&](const Tensor& shape, std::size_t index) -> Result<Value> {
    if (index >= locals.size() || !locals[index].isTensor()) return Value();
    return Value(fromLocal(locals[index].tensor(), shape, outputOf(dispatch, index)));
  });
}

}  // namespace kerf::inline distributed::inline dtensor
