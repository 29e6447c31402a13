#include "engine/distributed/dtensor/dtensor_ops.h"

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

Result<Tensor> DTensorOps::redistribute(const Tensor& tensor, const Placements& to) const {
  const Spec from = *specOf(tensor);
  KERF_TRY(const Tensor part, sharding::redistribute(m_rank, local(tensor), from, to));
  return fromLocal(part, tensor, to);
}

Result<Value> DTensorOps::runParts(const Dispatch& dispatch, const BoundArguments& parts) const {
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
