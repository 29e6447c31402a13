// GraphBuilder's last step: what is written back to inputs, what is returned, and the shapes of all nodes.
#include <algorithm>
#include <cstring>

#include "engine/ir/value_meta.h"
#include "engine/ops/core/op_call.h"
#include "engine/symbolic/shape_env.h"
#include "tests/differential/fuzzgraph/graph_builder.h"

namespace kerf::fuzzgraph {
namespace {

bool isWritable(const Tensor& tensor) {
  for (std::int64_t d = 0; d < tensor.dim(); ++d)
    if (tensor.size(d) > 1 && tensor.stride(d) == 0) return false;
  return true;
}

const char* symbolOf(std::int64_t size) {
  for (const auto& [name, example] : fuzzSymbols())
    if (size == example) return name;
  return nullptr;
}

}  // namespace

/// The first input with a size names the symbol; later uses ask that input for it.
void GraphBuilder::nameSymbols(NodeId input, const Tensor& tensor) {
  for (std::int64_t d = 0; d < tensor.dim(); ++d) {
    if (!symbolOf(tensor.size(d)) || m_symbolNodes.contains(tensor.size(d))) continue;
    const auto call = [&] {
      return module.graph.callFunction("torch.ops.aten.sym_size.int", {Argument(input), Argument(d)}, {},
                                       "sym_size_int");
    };
    if (!m_firstCall) {
      m_symbolNodes[tensor.size(d)] = call();
      addFrontNode(m_symbolNodes[tensor.size(d)]);
      continue;
    }
    const InsertionScope scope(module.graph, InsertionScope::Where::Before, *m_firstCall);
    m_symbolNodes[tensor.size(d)] = call();
    m_firstCall = m_symbolNodes[tensor.size(d)];
  }
}

Argument GraphBuilder::sizeArgument(std::int64_t size) {
  if (const auto found = m_symbolNodes.find(size); found != m_symbolNodes.end()) return found->second;
  for (const auto& [example, node] : m_symbolNodes) {
    if (size == 0 || size % example != 0) continue;
    Argument rest = sizeArgument(size / example);
    const NodeId product = module.graph.callFunction("operator.mul", {Argument(node), std::move(rest)}, {}, "mul");
    return product;
  }
  return size;
}

void GraphBuilder::writeEpilogue() {
  const OpInfo* copy = findOp("torch.ops.aten.copy_.default");
  const std::vector<KnownTensor> known = m_tensors;
  theme.mutates = true;
  for (const KnownTensor& input : known) {
    if (!input.isInput || !isWritable(input.tensor) || !dice.chance(40)) continue;
    for (auto value = known.rbegin(); value != known.rend(); ++value) {
      if (value->isInput || value->tensor.sizes() != input.tensor.sizes() || isComplex(value->tensor.dtype()) ||
          value->tensor.storage() == input.tensor.storage() || (value->rounded && isIntegral(input.tensor.dtype())))
        continue;
      keep(*copy, {"torch.ops.aten.copy_.default", "copy_", {operandOf(input), operandOf(*value)}, {}});
      break;
    }
  }
}

/// What nobody uses is returned, so that little is dead; now and then an input, or a value twice.
ArgumentList GraphBuilder::chooseOutputs() {
  ArgumentList outputs;
  for (const KnownTensor& known : m_tensors) {
    const bool unused = module.graph.node(known.node).users().empty();
    if (!known.isInput && dice.chance(unused ? 85 : 8)) outputs.emplace_back(known.node);
    if (known.isInput && dice.chance(3)) outputs.emplace_back(known.node);
  }
  if (outputs.empty()) outputs.emplace_back(m_tensors.back().node);
  if (dice.chance(8)) outputs.push_back(outputs[dice.below(outputs.size())]);
  if (dice.chance(4)) outputs.emplace_back();
  return outputs;
}

void GraphBuilder::annotate(NodeId input, const Tensor& tensor, ShapeEnv* env) {
  if (!env) return module.graph.setValueMeta(input, {metaOf(tensor)});
  SymSizes sizes;
  for (const std::int64_t size : tensor.sizes()) {
    if (const char* symbol = symbolOf(size))
      sizes.push_back(*env->parse(symbol));
    else
      sizes.push_back(size);
  }
  module.graph.setValueMeta(input, metaOf(Value(metaTensor(tensor.dtype(), sizes))));
}

/// Sizes that depend on data are written down as they were derived, and stay so at other sizes: where guards have
/// settled a symbol by then, inputs have its number, as PyTorch records it.
Result<void> GraphBuilder::settleSymbols(ShapeEnv& env) {
  const auto dependsOnData = [&](NodeId id) {
    const OpInfo* op = findOp(module.graph.node(id));
    return op != nullptr && has(op->traits, OpTrait::DataDependent);
  };
  if (env.replacements().empty() || std::ranges::none_of(module.graph.order(), dependsOnData)) return {};
  const ShapeEnv::Scope scope(env);
  for (const NodeId id : module.graph.placeholders())
    if (const auto value = valueOf(module.graph.node(id).meta().value)) module.graph.setValueMeta(id, metaOf(*value));
  return propagateShapes(module);
}

Result<Candidate> GraphBuilder::finish() {
  if (m_tensors.empty()) return fail(ErrorCode::BadInput, "nothing grew");
  if (theme.mutates || (!theme.symbolic && dice.chance(15))) writeEpilogue();
  module.graph.output(Argument::tuple(chooseOutputs()));
  for (const FreshInput& input : m_placed)
    if (!input.bytes.empty()) std::memcpy(input.tensor.storage()->data(), input.bytes.data(), input.bytes.size());
  ShapeEnv env;
  const ShapeEnv::Scope scope(env);
  for (const auto& [name, example] : fuzzSymbols())
    if (theme.symbolic) env.addSymbol({name, example, {2, ValueRange::greatest}});
  const std::vector<NodeId> placeholders = module.graph.placeholders();
  for (std::size_t i = 0; i < placeholders.size(); ++i)
    annotate(placeholders[i], m_inputs[i].tensor(), theme.symbolic ? &env : nullptr);
  KERF_CHECK(module.graph.lint());
  ShapeEnv derived;
  KERF_CHECK(propagateShapes(module, derived));
  KERF_CHECK(settleSymbols(derived));
  return Candidate{module, m_inputs};
}

}  // namespace kerf::fuzzgraph
