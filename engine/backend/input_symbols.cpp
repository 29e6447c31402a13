#include "engine/backend/input_symbols.h"

#include <algorithm>

#include "engine/ops/core/op_registry.h"

namespace kerf::inline backend {
namespace {

bool isSymbolic(const SymExpr& number) {
  return !number.text.empty() && number.text.find_first_not_of("-0123456789") != std::string::npos;
}

const Tensor* tensorAt(const ValueList& inputs, std::size_t i) {
  return i < inputs.size() ? inputs[i].as<Tensor>() : nullptr;
}

/// In the place of what an input does not have.
constexpr std::int64_t missing = INT64_MIN;

std::int64_t at(const Sizes& sizes, std::size_t d) { return d < sizes.size() ? sizes[d] : missing; }

/// Every number of a meta that is written with symbols.
template <class Change>
Result<void> changeNumbers(ValueMeta& meta, Change&& change) {
  if (auto* sym = std::get_if<SymMeta>(&meta.value)) {
    if (isSymbolic(sym->expr)) KERF_CHECK(change(sym->expr));
  } else if (auto* tensor = std::get_if<TensorMeta>(&meta.value)) {
    for (auto* dims : {&tensor->sizes, &tensor->strides})
      for (Dim& dim : *dims)
        if (isSymbolic(dim)) KERF_CHECK(change(dim));
  } else if (auto* list = std::get_if<std::vector<ValueMeta>>(&meta.value)) {
    for (ValueMeta& item : *list) KERF_CHECK(changeNumbers(item, change));
  }
  return {};
}

template <class Change>
Result<GraphModule> withMetas(const GraphModule& module, Change&& change) {
  GraphModule copy = module;
  for (const NodeId id : std::vector<NodeId>(module.graph.order().begin(), module.graph.order().end())) {
    ValueMeta meta = module.graph.node(id).meta().value;
    auto changed = changeNumbers(meta, change);
    if (!changed) return fail(std::move(changed.error().atNode(module.graph.node(id).name())));
    if (!(meta == module.graph.node(id).meta().value)) copy.graph.setValueMeta(id, std::move(meta));
  }
  return copy;
}

bool mentionsSymbols(const Argument& argument) {
  if (const auto* sym = argument.as<SymExpr>()) return isSymbolic(*sym);
  if (const auto* list = argument.asList()) return std::ranges::any_of(list->items, mentionsSymbols);
  if (const auto* slice = argument.asSlice()) return std::ranges::any_of(slice->items, mentionsSymbols);
  const auto* dict = argument.asDict();
  return dict && std::ranges::any_of(dict->items, [](const auto& item) { return mentionsSymbols(item.second); });
}

bool mentionsSymbols(const Node& node) {
  const auto named = [](const auto& argument) { return mentionsSymbols(argument.second); };
  return std::ranges::any_of(node.args(), [](const Argument& a) { return mentionsSymbols(a); }) ||
         std::ranges::any_of(node.kwargs(), named);
}

/// Arguments with something else in the place of those that are written with symbols.
class Rewriter {
 public:
  using Change = std::function<Result<Argument>(const SymExpr&)>;
  explicit Rewriter(Change change) : m_change(std::move(change)) {}

  Result<Argument> of(const Argument& argument) const {
    if (!mentionsSymbols(argument)) return argument;
    if (const auto* sym = argument.as<SymExpr>()) return m_change(*sym);
    if (const auto* list = argument.asList()) {
      KERF_TRY(ArgumentList items, of(list->items));
      return Argument(ListArgument{std::move(items), list->isTuple});
    }
    if (const auto* slice = argument.asSlice()) {
      KERF_TRY(ArgumentList items, of(slice->items));
      return Argument(SliceArgument{std::move(items)});
    }
    DictArgument dict = *argument.asDict();
    for (auto& [key, item] : dict.items) {
      KERF_TRY(item, of(item));
    }
    return Argument(std::move(dict));
  }

  Result<ArgumentList> of(const ArgumentList& arguments) const {
    ArgumentList result;
    for (const Argument& argument : arguments) {
      KERF_TRY(Argument value, of(argument));
      result.push_back(std::move(value));
    }
    return result;
  }

  Result<void> change(Graph& graph) const {
    for (const NodeId id : std::vector<NodeId>(graph.order().begin(), graph.order().end())) {
      if (!mentionsSymbols(graph.node(id))) continue;
      KERF_TRY(ArgumentList args, of(graph.node(id).args()));
      KeywordArguments kwargs = graph.node(id).kwargs();
      for (auto& [key, argument] : kwargs) {
        KERF_TRY(argument, of(argument));
      }
      graph.setArgs(id, std::move(args));
      graph.setKwargs(id, std::move(kwargs));
    }
    return {};
  }

 private:
  const Change m_change;
};

}  // namespace

std::string InputSymbols::Place::where() const {
  if (kind == Kind::Number) return fmt::format("input '{}'", node);
  return fmt::format("input '{}', {} {}", node, kind == Kind::Size ? "dimension" : "stride", dimension);
}

InputSymbols::InputSymbols(const GraphModule& module) {
  std::size_t input = 0;
  for (const NodeId id : module.graph.placeholders()) addPlaces(input++, module.graph.node(id));
}

void InputSymbols::addPlaces(std::size_t input, const Node& node) {
  const auto add = [&](Place::Kind kind, std::size_t dimension, const SymExpr& number) {
    if (isSymbolic(number) && !number.text.starts_with('z'))
      m_places.push_back({kind, input, dimension, node.name(), number.text, number.hint.value_or(missing)});
  };
  if (const SymMeta* sym = node.meta().value.sym()) add(Place::Kind::Number, 0, sym->expr);
  const TensorMeta* tensor = node.meta().value.tensor();
  if (tensor == nullptr) return;
  for (std::size_t d = 0; d < tensor->sizes.size(); ++d) add(Place::Kind::Size, d, tensor->sizes[d]);
  for (std::size_t d = 0; d < tensor->strides.size(); ++d) add(Place::Kind::Stride, d, tensor->strides[d]);
}

Sizes InputSymbols::numbers(const ValueList& inputs) const {
  Sizes result;
  result.reserve(m_places.size());
  for (const Place& place : m_places) {
    const Tensor* tensor = tensorAt(inputs, place.input);
    const auto* number = place.input < inputs.size() ? inputs[place.input].as<std::int64_t>() : nullptr;
    if (place.kind == Place::Kind::Number)
      result.push_back(number ? *number : missing);
    else if (tensor)
      result.push_back(at(place.kind == Place::Kind::Size ? tensor->sizes() : tensor->strides(), place.dimension));
    else
      result.push_back(missing);
  }
  return result;
}

Sizes InputSymbols::example() const {
  Sizes result;
  for (const Place& place : m_places) result.push_back(place.example);
  return result;
}

std::set<std::string> InputSymbols::names() const {
  std::set<std::string> names;
  for (const Place& place : m_places) collectSymbols(place.text, names);
  return names;
}

namespace {

Result<SymbolBindings> solved(const std::vector<SizeEquation>& equations, const SymbolBindings& known) {
  auto values = solveSizes(equations, known);
  if (!values) return fail(ErrorCode::ShapeMismatch, "{}", values.error().message);
  return values;
}

bool mentionsOther(const std::string& text, const SymbolBindings& known) {
  std::set<std::string> names;
  collectSymbols(text, names);
  return std::ranges::any_of(names, [&](const std::string& name) { return !known.contains(name); });
}

}  // namespace

/// Strides count only for symbols that sizes leave open: others may differ, and the tensor is copied then.
Result<SymbolBindings> InputSymbols::bind(const Sizes& numbers) const {
  std::vector<SizeEquation> sizes, strides;
  for (std::size_t i = 0; i < m_places.size(); ++i) {
    const Place& place = m_places[i];
    const bool isStride = place.kind == Place::Kind::Stride;
    if (numbers[i] != missing)
      (isStride ? strides : sizes).push_back({place.where(), place.text, numbers[i]});
    else if (!isStride)
      return fail(Error(ErrorCode::ShapeMismatch, fmt::format("{} ({}) has no value", place.where(), place.text), {}, 0,
                        place.node));
  }
  KERF_TRY(SymbolBindings values, solved(sizes, {}));
  std::erase_if(strides, [&](const SizeEquation& stride) { return !mentionsOther(stride.text, values); });
  if (!strides.empty()) {
    KERF_TRY(values, solved(strides, values));
  }
  for (const std::string& name : names())
    if (!values.contains(name))
      return fail(ErrorCode::ShapeMismatch, "no size of an input tells the value of the symbol {}", name);
  return values;
}

bool hasSymbolicArguments(const GraphModule& module) {
  return std::ranges::any_of(module.graph.order(), [&](NodeId id) { return mentionsSymbols(module.graph.node(id)); });
}

Result<GraphModule> withNumbers(const GraphModule& module, const SymbolBindings& values) {
  GraphModule copy = module;
  const Rewriter numbers([&](const SymExpr& number) -> Result<Argument> {
    KERF_TRY(const Symbolic expression, Symbolic::parse(number.text));
    KERF_TRY(const SymbolicNumber value, expression.evaluate(values));
    return std::visit([](auto result) { return Argument(result); }, value);
  });
  KERF_CHECK(numbers.change(copy.graph));
  return copy;
}

Result<GraphModule> withExample(const GraphModule& module, const SymbolBindings& values) {
  const auto change = [&](SymExpr& number) -> Result<void> {
    const auto value = evaluateSize(number.text, values);
    number.hint = value ? std::optional(*value) : std::nullopt;
    return {};
  };
  KERF_TRY(GraphModule copy, withMetas(module, change));
  const Rewriter arguments([&](SymExpr number) -> Result<Argument> {
    KERF_CHECK(change(number));
    return Argument(std::move(number));
  });
  KERF_CHECK(arguments.change(copy.graph));
  const GraphModule unshaped = copy;
  const auto shapes = propagateShapes(copy);
  const bool cannotTell =
      !shapes && (shapes.error().code == ErrorCode::TooLarge ||  // expressions: what texts gave stays
                  shapes.error().code == ErrorCode::UnsupportedOp);
  if (shapes || cannotTell) return copy;
  KERF_CHECK(checkNumbers(unshaped, values));
  return fail(shapes.error());
}

Result<GraphModule> atNumbers(const GraphModule& module, const SymbolBindings& values) {
  KERF_TRY(const GraphModule sized, withMetas(module, [&](SymExpr& number) -> Result<void> {
             const auto value = evaluateSize(number.text, values);
             if (value) number = {"", *value};
             return {};
           }));
  return withNumbers(sized, values);
}

Result<void> checkNumbers(const GraphModule& module, const SymbolBindings& values) {
  auto numbers = atNumbers(module, values);
  if (!numbers) return {};  // an argument that these symbols do not tell
  const auto shapes = propagateShapes(*numbers);
  if (!shapes && shapes.error().code != ErrorCode::UnsupportedOp) return fail(shapes.error());
  return {};
}

Result<GraphModule> withoutSymbols(const GraphModule& module) {
  return withMetas(module, [](SymExpr& number) -> Result<void> {
    if (!number.hint) return {};
    number.text.clear();
    return {};
  });
}

}  // namespace kerf::inline backend
