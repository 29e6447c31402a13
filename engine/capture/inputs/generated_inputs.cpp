#include "engine/capture/inputs/generated_inputs.h"

#include "engine/capture/plausible/input_filler.h"

namespace kerf::inline capture {
namespace {

bool isFloatSymbol(std::string_view text) { return text.starts_with("zf") || text.starts_with("zuf"); }

void addDims(const std::vector<Dim>& dims, std::vector<const SymExpr*>& into) {
  for (const Dim& item : dims)
    if (!item.text.empty()) into.push_back(&item);
}

/// Every symbolic number in a placeholder's annotation.
std::vector<const SymExpr*> expressionsOf(const Node& node) {
  std::vector<const SymExpr*> result;
  if (const SymMeta* sym = node.meta().value.sym()) result.push_back(&sym->expr);
  if (const TensorMeta* tensor = node.meta().value.tensor()) {
    addDims(tensor->sizes, result);
    addDims(tensor->strides, result);
  }
  return result;
}

/// Symbols of all placeholders, and what the hints say of them with `given` before them.
Result<SymbolBindings> bind(const GraphModule& module, const SymbolBindings& given, std::set<std::string>& names) {
  std::vector<SizeEquation> hints;
  for (const NodeId id : module.graph.placeholders())
    for (const SymExpr* expression : expressionsOf(module.graph.node(id))) {
      collectSymbols(expression->text, names);
      if (expression->hint && !expression->text.empty())
        hints.push_back({fmt::format("input '{}'", module.graph.node(id).name()), expression->text, *expression->hint});
    }
  KERF_TRY(SymbolBindings hinted, solveSizes(hints));
  SymbolBindings bindings = given;
  bindings.merge(hinted);
  return bindings;
}

Result<void> checkBindings(const SymbolBindings& given, const SymbolBindings& bindings,
                           const std::set<std::string>& names) {
  for (const auto& [name, value] : given)
    if (!names.contains(name))
      return fail(ErrorCode::BadUsage, "there is no symbol '{}'; the graph has {}", name,
                  names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
  std::vector<std::string> missing;
  for (const std::string& name : names)
    if (!bindings.contains(name)) missing.push_back(name);
  if (missing.empty()) return {};
  return fail(ErrorCode::BadInput, Hint{Advice::GiveSizes}, "give values for the symbols {}", fmt::join(missing, ", "));
}

/// Sizes or strides whose symbols are bound.
Result<Sizes> numbersOf(const std::vector<Dim>& dims) {
  Sizes result;
  for (const Dim& item : dims) {
    if (!item.hint) return fail(ErrorCode::BadInput, "the size '{}' cannot be computed", item.text.substr(0, 200));
    if (*item.hint < 0) return fail(ErrorCode::BadInput, "the size '{}' is {}", item.text, *item.hint);
    result.push_back(*item.hint);
  }
  return result;
}

Result<Value> makeTensor(InputFiller& filler, std::size_t place, const TensorMeta& meta) {
  KERF_TRY(const Sizes sizes, numbersOf(meta.sizes));
  KERF_TRY(Sizes strides, numbersOf(meta.strides));
  if (strides.size() != sizes.size()) strides = contiguousStrides(sizes);
  KERF_TRY(Tensor tensor, Tensor::zerosStrided(meta.dtype, sizes, strides));
  filler.fill(tensor.storage(), {{place, tensor}}, meta.dtype, place);
  tensor.setDevice(meta.device);
  tensor.requiresGrad = meta.requiresGrad;
  tensor.isLeaf = true;
  return Value(std::move(tensor));
}

Result<Value> makeValue(InputFiller& filler, std::size_t place, const Node& node) {
  if (const TensorMeta* meta = node.meta().value.tensor()) return makeTensor(filler, place, *meta);
  if (const SymMeta* meta = node.meta().value.sym()) {
    if (!meta->expr.hint) return fail(ErrorCode::BadInput, "'{}' needs a value", meta->expr.text);
    return isFloatSymbol(meta->expr.text) ? Value(double(*meta->expr.hint)) : Value(*meta->expr.hint);
  }
  if (node.users().empty()) return Value();
  return fail(ErrorCode::BadInput, "the input has no annotation: its dtype and shape are unknown");
}

void bindDims(std::vector<Dim>& dims, const SymbolBindings& symbols) {
  for (Dim& item : dims)
    if (!item.text.empty())
      if (const auto value = evaluateSize(item.text, symbols)) item.hint = *value;
}

void bindMeta(ValueMeta& meta, const SymbolBindings& symbols) {
  if (auto* tensor = std::get_if<TensorMeta>(&meta.value)) {
    bindDims(tensor->sizes, symbols);
    bindDims(tensor->strides, symbols);
  }
  if (auto* sym = std::get_if<SymMeta>(&meta.value))
    if (const auto value = evaluateSize(sym->expr.text, symbols)) sym->expr.hint = *value;
  if (auto* list = std::get_if<std::vector<ValueMeta>>(&meta.value))
    for (ValueMeta& item : *list) bindMeta(item, symbols);
}

}  // namespace

void bindAnnotations(GraphModule& module, const SymbolBindings& symbols) {
  const std::vector<NodeId> order(module.graph.order().begin(), module.graph.order().end());
  for (const NodeId id : order) {
    ValueMeta meta = module.graph.node(id).meta().value;
    bindMeta(meta, symbols);
    if (!(meta == module.graph.node(id).meta().value)) module.graph.setValueMeta(id, std::move(meta));
  }
  for (auto& [path, submodule] : module.submodules.edit()) {
    if (!submodule.graph) continue;
    auto bound = std::make_shared<GraphModule>(*submodule.graph);
    bindAnnotations(*bound, symbols);
    submodule.graph = std::move(bound);
  }
}

std::vector<SymExpr> placeholderSymbols(const GraphModule& module) {
  std::set<std::string> names;
  const auto bindings = bind(module, {}, names);
  std::vector<SymExpr> result;
  for (const std::string& name : names) {
    SymExpr symbol{name, {}};
    if (bindings && bindings->contains(name)) symbol.hint = bindings->at(name);
    result.push_back(std::move(symbol));
  }
  return result;
}

namespace {

/// The module with every symbolic size of its annotations bound.
Result<GraphModule> boundModule(const GraphModule& module, const SymbolBindings& symbols) {
  std::set<std::string> names;
  KERF_TRY(const SymbolBindings bindings, bind(module, symbols, names));
  KERF_CHECK(checkBindings(symbols, bindings, names));
  GraphModule bound = module;
  bindAnnotations(bound, bindings);
  return bound;
}

std::vector<InputOrigin> originsOf(const GraphModule& bound, InputFiller& filler) {
  std::vector<InputOrigin> origins;
  const std::vector<NodeId> placeholders = bound.graph.placeholders();
  for (std::size_t i = 0; i < placeholders.size(); ++i) {
    const Node& node = bound.graph.node(placeholders[i]);
    const TensorMeta* meta = node.meta().value.tensor();
    if (meta != nullptr)
      origins.push_back({node.target(), InputOrigin::Source::Generated, filler.why(i, meta->dtype)});
    else
      origins.push_back({node.target(), InputOrigin::Source::Absent, {}});
  }
  return origins;
}

}  // namespace

Result<std::vector<InputOrigin>> generatedOrigins(const GraphModule& module, const LoadOptions& options) {
  KERF_TRY(const GraphModule bound, boundModule(module, options.symbols));
  InputFiller filler(bound, options.fill, options.seed);
  return originsOf(bound, filler);
}

Result<ValueList> generateInputs(const GraphModule& module, const LoadOptions& options) {
  KERF_TRY(const GraphModule bound, boundModule(module, options.symbols));
  InputFiller filler(bound, options.fill, options.seed);
  ValueList values;
  for (const NodeId id : bound.graph.placeholders()) {
    auto value = makeValue(filler, values.size(), bound.graph.node(id));
    if (!value) {
      value.error().atNode(bound.graph.node(id).name());
      return fail(std::move(value.error().while_("generating inputs")));
    }
    values.push_back(std::move(*value));
  }
  if (options.origins != nullptr) *options.origins = originsOf(bound, filler);
  return values;
}

}  // namespace kerf::inline capture
