// RecordedValues: an interpreter run that keeps everything, on copies where the graph writes into its inputs.
#include "minifier/core/recorded_values.h"

#include <algorithm>
#include <cstring>

#include "engine/ir/interpreter.h"
#include "engine/ops/core/op_registry.h"
#include "engine/ops/random/state.h"

namespace kerf::inline minifier::inline core {

namespace {

/// Unknown calls count as writing; the op table knows the others.
bool mayWrite(const Graph& graph) {
  return std::ranges::any_of(graph.order(), [&](NodeId id) {
    const Node& node = graph.node(id);
    if (node.op() == Opcode::CallMethod || node.op() == Opcode::CallModule) return true;
    if (node.op() != Opcode::CallFunction) return false;
    const OpInfo* op = findOp(node);
    return !op || has(op->traits, OpTrait::Inplace | OpTrait::Impure);
  });
}

Result<StoragePtr> copyStorage(const StoragePtr& storage) {
  KERF_TRY(StoragePtr copy, Storage::allocate(storage->bytes()));
  if (storage->bytes() > 0) std::memcpy(copy->data(), storage->data(), std::size_t(storage->bytes()));
  return copy;
}

Result<Tensor> copyTensor(const Tensor& tensor, std::unordered_map<const Storage*, StoragePtr>& copies) {
  StoragePtr& storage = copies[tensor.storage().get()];
  if (!storage) {
    KERF_TRY(storage, copyStorage(tensor.storage()));
  }
  Tensor copy(storage, tensor.dtype(), tensor.sizes(), tensor.strides(), tensor.offset());
  copy.setDevice(tensor.device());
  copy.requiresGrad = tensor.requiresGrad;
  copy.isLeaf = tensor.isLeaf;
  return copy;
}

}  // namespace

Result<ValueList> copyInputs(const ValueList& inputs) {
  std::unordered_map<const Storage*, StoragePtr> copies;
  ValueList result;
  for (const Value& input : inputs) {
    if (!input.isTensor() || !input.tensor().defined()) {
      result.push_back(input);
      continue;
    }
    KERF_TRY(Tensor copy, copyTensor(input.tensor(), copies));
    result.emplace_back(std::move(copy));
  }
  return result;
}

Result<Value> compacted(const Value& value) {
  if (!value.isTensor() || !value.tensor().defined()) return value;
  const Tensor& tensor = value.tensor();
  KERF_TRY(Tensor copy, tensor.clonePreservingStrides());
  copy.setDevice(tensor.device());
  return Value(std::move(copy));
}

const Value* RecordedValues::find(NodeId node) {
  if (!m_ran) record();
  const auto found = m_values.find(node);
  return found == m_values.end() ? nullptr : &found->second;
}

void RecordedValues::record() {
  m_ran = true;
  const bool writes = mayWrite(m_candidate.module.graph);
  ValueList inputs = m_candidate.inputs;
  if (writes) {
    Result<ValueList> copied = copyInputs(inputs);
    if (!copied) return;
    inputs = std::move(*copied);
  }
  const RandomScope random;
  Interpreter interpreter(m_candidate.module, referenceOps());
  interpreter.onNode = [&](const Node& node, const Value& value) {
    Result<Value> kept = writes ? compacted(value) : Result<Value>(value);
    if (kept) m_values.insert_or_assign(node.id(), std::move(*kept));
  };
  (void)interpreter.run(inputs, m_stop);  // an error only means that later nodes have no value
}

}  // namespace kerf::inline minifier::inline core
