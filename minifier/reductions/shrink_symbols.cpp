// shrink_symbols: values by bisection from the least one upwards; the sizes of all inputs follow from their texts.
#include "minifier/reductions/shrink_symbols.h"

#include <algorithm>

#include "engine/capture/inputs/generated_inputs.h"
#include "engine/ops/core/graph_symbols.h"
#include "minifier/core/candidate_editor.h"
#include "minifier/core/tensor_like.h"
#include "minifier/reductions/smaller_values.h"

namespace kerf::inline minifier::inline reductions {

namespace {

/// Texts evaluated anew; none for a size that would be negative or whose text cannot be evaluated.
std::optional<Sizes> evaluated(const std::vector<Dim>& dims, const Sizes& values, const SymbolBindings& symbols) {
  Sizes result = values;
  for (std::size_t i = 0; i < std::min(dims.size(), values.size()); ++i) {
    if (!hasSymbols(dims[i])) continue;
    const auto value = evaluateSize(dims[i].text, symbols);
    if (!value || *value < 0) return std::nullopt;
    result[i] = *value;
  }
  return result;
}

/// The first elements of the tensor in each dimension, under the strides that its texts give.
std::optional<Tensor> resized(const Tensor& tensor, const TensorMeta& meta, const SymbolBindings& symbols) {
  if (meta.sizes.size() != tensor.sizes().size()) return std::nullopt;
  const auto sizes = evaluated(meta.sizes, tensor.sizes(), symbols);
  const auto strides = evaluated(meta.strides, tensor.strides(), symbols);
  if (!sizes || !strides || *sizes == tensor.sizes()) return sizes && strides ? std::optional(tensor) : std::nullopt;
  return corner(tensor, *sizes, *strides);
}

std::optional<Candidate> withValues(const ReductionInput& input, const SymbolBindings& symbols) {
  CandidateEditor editor(input.candidate);
  bindAnnotations(editor.module(), symbols);
  for (const NodeId id : editor.graph().placeholders()) {
    const ValueMeta meta = input.graph().node(id).meta().value;
    const Value* value = editor.input(id);
    if (value == nullptr) return std::nullopt;
    if (const SymMeta* sym = meta.sym(); sym != nullptr && hasSymbols(sym->expr)) {
      const auto number = evaluateSize(sym->expr.text, symbols);
      if (!number) return std::nullopt;
      editor.setInput(id, Value(*number));
    }
    const TensorMeta* tensor = meta.tensor();
    if (tensor == nullptr || !hasData(*value)) continue;
    std::optional<Tensor> smaller = resized(value->tensor(), *tensor, symbols);
    if (!smaller) return std::nullopt;
    if (smaller->storage() != value->tensor().storage()) editor.setInput(id, std::move(*smaller));
  }
  return editor.finishWithShapes();
}

void substitute(SymExpr& number, const SymbolBindings& values) {
  if (!hasSymbols(number)) return;
  const auto expression = Symbolic::parse(number.text);
  if (!expression) return;
  const Symbolic fixed = expression->substitute(values);
  number.text = fixed.asInteger() ? std::string() : fixed.text();
}

void substitute(ValueMeta& meta, const SymbolBindings& values) {
  if (auto* sym = std::get_if<SymMeta>(&meta.value)) substitute(sym->expr, values);
  if (auto* tensor = std::get_if<TensorMeta>(&meta.value))
    for (auto* dims : {&tensor->sizes, &tensor->strides})
      for (Dim& dim : *dims) substitute(dim, values);
}

/// Every use of `node` in a call becomes its number. What is returned stays.
bool inlineNumber(Graph& graph, NodeId node, std::int64_t number) {
  bool changed = false;
  const std::vector<NodeId> users = graph.node(node).users();
  for (const NodeId user : users) {
    if (graph.node(user).op() == Opcode::Output) continue;
    const auto literal = [&](NodeId id) { return id == node ? Argument(number) : Argument(id); };
    ArgumentList args = graph.node(user).args();
    for (Argument& argument : args) argument = mapNodes(argument, literal);
    auto kwargs = graph.node(user).kwargs();
    for (auto& [name, argument] : kwargs) argument = mapNodes(argument, literal);
    graph.setArgs(user, std::move(args));
    graph.setKwargs(user, std::move(kwargs));
    changed = true;
  }
  return changed;
}

std::optional<Candidate> fixed(const ReductionInput& input, const std::string& symbol, std::int64_t value) {
  CandidateEditor editor(input.candidate);
  const SymbolBindings values{{symbol, value}};
  for (const NodeId id : editor.graph().placeholders()) {
    ValueMeta meta = editor.graph().node(id).meta().value;
    const bool wasSymbolic = meta.sym() != nullptr && hasSymbols(meta.sym()->expr);
    substitute(meta, values);
    const bool isNumber = meta.sym() != nullptr && !hasSymbols(meta.sym()->expr);
    editor.graph().setValueMeta(id, std::move(meta));
    const auto* number = editor.input(id) != nullptr ? editor.input(id)->as<std::int64_t>() : nullptr;
    if (wasSymbolic && isNumber && number != nullptr) inlineNumber(editor.graph(), id, *number);
  }
  std::erase_if(editor.module().symbolRanges, [&](const SymbolRange& range) { return range.name == symbol; });
  return editor.finishWithShapes();
}

std::optional<Candidate> inlined(const ReductionInput& input, NodeId node, std::int64_t number) {
  CandidateEditor editor(input.candidate);
  if (!inlineNumber(editor.graph(), node, number)) return std::nullopt;
  return editor.finishWithShapes();
}

void addNumberInputs(const ReductionInput& input, std::vector<Edit>& list) {
  const std::vector<NodeId> placeholders = input.graph().placeholders();
  for (std::size_t i = 0; i < std::min(placeholders.size(), input.candidate.inputs.size()); ++i) {
    const auto* number = input.candidate.inputs[i].as<std::int64_t>();
    const SymMeta* sym = input.graph().node(placeholders[i]).meta().value.sym();
    if (number == nullptr || (sym != nullptr && hasSymbols(sym->expr))) continue;
    list.push_back({{}, [&input, id = placeholders[i], number = *number] { return inlined(input, id, number); }});
  }
}

std::vector<Edit> editsThatShrinkSymbols(const ReductionInput& input, ResumePoint) {
  std::vector<Edit> list;
  ShapeEnv env;
  addGraphSymbols(input.candidate.module, env);
  SymbolBindings present;
  for (const ShapeSymbol& symbol : env.symbols())
    if (symbol.hint && !symbol.isHintAssumed) present.emplace(symbol.name, *symbol.hint);
  for (const ShapeSymbol& symbol : env.symbols()) {
    const auto value = present.find(symbol.name);
    if (value == present.end()) continue;
    for (const std::int64_t smaller : smallerValues(std::max<std::int64_t>(symbol.range.lower, 0), value->second)) {
      SymbolBindings bindings = present;
      bindings[symbol.name] = smaller;
      list.push_back({{}, [&input, bindings] { return withValues(input, bindings); }});
    }
  }
  for (const auto& [name, value] : present)
    list.push_back({{}, [&input, name, value] { return fixed(input, name, value); }});
  addNumberInputs(input, list);
  return list;
}

}  // namespace

Reduction shrinkSymbols() {
  return {"shrink_symbols", "Makes a symbolic size smaller, or a number.", editsThatShrinkSymbols};
}

}  // namespace kerf::inline minifier::inline reductions
