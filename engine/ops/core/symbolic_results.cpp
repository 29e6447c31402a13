#include "engine/ops/core/symbolic_results.h"

#include <algorithm>

#include "engine/ir/symbolic.h"

namespace kerf::inline ops {
namespace {

constexpr std::size_t maximumText = 1000;  ///< longer expressions are no help to anybody

struct SymbolicOperator {
  std::string_view target;
  std::string_view function;  ///< of Symbolic::call; arguments in the same order
};
constexpr SymbolicOperator operators[] = {
    {"operator.add", "Add"},         {"operator.mul", "Mul"},          {"operator.floordiv", "FloorDiv"},
    {"operator.mod", "PythonMod"},   {"operator.pow", "PowByNatural"}, {"torch.sym_max", "Max"},
    {"torch.sym_min", "Min"},        {"operator.lshift", "LShift"},    {"operator.rshift", "RShift"},
    {"torch.sym_int", "TruncToInt"}, {"math.floor", "floor"},          {"math.ceil", "ceiling"},
    {"math.trunc", "TruncToInt"},    {"torch.sym_ite", "Where"},       {"operator.truediv", "IntTrueDiv"},
};

std::optional<Symbolic> expressionOf(const SymExpr& value) {
  if (value.text.empty()) return value.hint ? std::optional(Symbolic::integer(*value.hint)) : std::nullopt;
  auto parsed = Symbolic::parse(value.text);
  return parsed ? std::optional(std::move(*parsed)) : std::nullopt;
}

std::optional<Symbolic> expressionOf(const Graph& graph, const Argument& argument) {
  if (const auto* number = argument.as<std::int64_t>()) return Symbolic::integer(*number);
  if (const auto* value = argument.as<SymExpr>()) return expressionOf(*value);
  const auto* id = argument.as<NodeId>();
  const SymMeta* meta = id ? graph.node(*id).meta().value.sym() : nullptr;
  return meta ? expressionOf(meta->expr) : std::nullopt;
}

/// The size that sym_size(x, dim) reads, the number of elements that sym_numel(x) reads.
std::optional<Symbolic> sizeExpression(const Graph& graph, const Node& node) {
  const auto* id = node.args().empty() ? nullptr : node.args()[0].as<NodeId>();
  const TensorMeta* meta = id ? graph.node(*id).meta().value.tensor() : nullptr;
  if (meta == nullptr) return {};
  if (node.target().starts_with("torch.ops.aten.sym_numel")) {
    Symbolic product = Symbolic::integer(1);
    for (const Dim& item : meta->sizes) {
      const auto size = expressionOf(item);
      if (!size) return {};
      product = product * *size;
    }
    return product;
  }
  const bool stride = node.target().starts_with("torch.ops.aten.sym_stride");
  if (!stride && !node.target().starts_with("torch.ops.aten.sym_size")) return {};
  const auto* dim = node.args().size() > 1 ? node.args()[1].as<std::int64_t>() : nullptr;
  if (dim == nullptr) return {};
  const std::vector<Dim>& dims = stride ? meta->strides : meta->sizes;
  const std::int64_t index = *dim < 0 ? *dim + std::int64_t(dims.size()) : *dim;
  if (index < 0 || index >= std::int64_t(dims.size())) return {};
  return expressionOf(dims[std::size_t(index)]);
}

std::optional<Symbolic> computed(const Graph& graph, const Node& node) {
  if (auto size = sizeExpression(graph, node)) return size;
  std::vector<Symbolic> arguments;
  for (const Argument& argument : node.args()) {
    auto expression = expressionOf(graph, argument);
    if (!expression) return {};
    arguments.push_back(std::move(*expression));
  }
  if (node.target() == "operator.sub" && arguments.size() == 2) return arguments[0] - arguments[1];
  if (node.target() == "operator.neg" && arguments.size() == 1) return Symbolic::integer(-1) * arguments[0];
  const auto entry = std::ranges::find(operators, node.target(), &SymbolicOperator::target);
  if (entry == std::end(operators)) return {};
  auto result = Symbolic::call(entry->function, std::move(arguments));
  return result ? std::optional(std::move(*result)) : std::nullopt;
}

SymbolBindings hintsOf(const GraphModule& module);

// Labelling shapes

/// Every number of a node's annotation: sizes and strides of tensors, also inside tuples.
void visitNumbers(ValueMeta& meta, const std::function<void(SymExpr&)>& visit) {
  if (auto* tensor = std::get_if<TensorMeta>(&meta.value)) {
    std::ranges::for_each(tensor->sizes, visit);
    std::ranges::for_each(tensor->strides, visit);
  }
  if (auto* list = std::get_if<std::vector<ValueMeta>>(&meta.value))
    for (ValueMeta& item : *list) visitNumbers(item, visit);
}

void visitNumbers(const ValueMeta& meta, const std::function<void(const SymExpr&)>& visit) {
  visitNumbers(const_cast<ValueMeta&>(meta), [&](SymExpr& number) { visit(std::as_const(number)); });
}

/// Values of the symbols that make all hints of the placeholders true.
SymbolBindings hintsOf(const GraphModule& module) {
  std::vector<SizeEquation> equations;
  const auto add = [&](const SymExpr& number) {
    if (!number.text.empty() && number.hint) equations.push_back({"input", number.text, *number.hint});
  };
  for (const NodeId id : module.graph.placeholders()) {
    const ValueMeta& meta = module.graph.node(id).meta().value;
    visitNumbers(meta, add);
    if (const SymMeta* sym = meta.sym()) add(sym->expr);
  }
  const auto solved = solveSizes(equations);
  return solved ? *solved : SymbolBindings();
}

/// Numbers of all nodes, in order, for one set of values; empty where the graph cannot take them.
std::vector<std::int64_t> numbersFor(const GraphModule& module, const SymbolBindings& values,
                                     const std::function<Result<void>(GraphModule&)>& propagate) {
  GraphModule probe = module;
  const std::vector<NodeId> order(probe.graph.order().begin(), probe.graph.order().end());
  for (const NodeId id : order) {
    ValueMeta meta = probe.graph.node(id).meta().value;
    if (!meta.known()) continue;
    if (probe.graph.node(id).op() != Opcode::Placeholder && probe.graph.node(id).op() != Opcode::GetAttr) {
      probe.graph.setValueMeta(id, {});
      continue;
    }
    const auto bind = [&](SymExpr& number) {
      if (number.text.empty()) return;
      const auto value = evaluateSize(number.text, values);
      number.hint = value ? std::optional(*value) : std::nullopt;
    };
    visitNumbers(meta, bind);
    if (auto* sym = std::get_if<SymMeta>(&meta.value)) bind(sym->expr);
    probe.graph.setValueMeta(id, std::move(meta));
  }
  if (!propagate(probe)) return {};
  std::vector<std::int64_t> numbers;
  for (const NodeId id : order)
    visitNumbers(probe.graph.node(id).meta().value,
                 [&](const SymExpr& number) { numbers.push_back(number.hint.value_or(-1)); });
  return numbers;
}

/// Numbers of the graph for the hints, for each symbol changed alone, and for all changed at once.
struct Probes {
  std::vector<std::string> names;
  SymbolBindings base, all;
  std::vector<std::int64_t> steps;
  std::vector<std::vector<std::int64_t>> alone;
  std::vector<std::int64_t> together;
};

/// base + Σ (change of symbol i / step i) * (symbol i - its hint), if whole and right for all symbols changed.
std::optional<Symbolic> affine(const Probes& probes, std::size_t at, std::int64_t value) {
  std::vector<Symbolic> terms;
  std::int64_t constant = value;
  for (std::size_t i = 0; i < probes.names.size(); ++i) {
    const std::int64_t change = probes.alone[i][at] - value;
    if (change % probes.steps[i] != 0) return {};
    const std::int64_t slope = change / probes.steps[i];
    terms.push_back(Symbolic::integer(slope) * Symbolic::symbol(probes.names[i]));
    std::int64_t part = 0;
    if (__builtin_mul_overflow(slope, probes.base.at(probes.names[i]), &part) ||
        __builtin_sub_overflow(constant, part, &constant))
      return {};
  }
  terms.push_back(Symbolic::integer(constant));
  return Symbolic::add(std::move(terms));
}

/// constant * s**a * t**b …: exponents from the ratios when one symbol changes.
std::optional<Symbolic> monomial(const Probes& probes, std::size_t at, std::int64_t value) {
  if (value <= 0) return {};
  std::vector<Symbolic> factors;
  Symbolic scale = Symbolic::integer(value);
  for (std::size_t i = 0; i < probes.names.size(); ++i) {
    const std::int64_t before = probes.base.at(probes.names[i]), after = before + probes.steps[i];
    std::int64_t exponent = 0;
    for (__int128 left = value, right = probes.alone[i][at]; left < right && exponent < 8; ++exponent) {
      if (left * after % before != 0) return {};
      left = left * after / before;
      if (left >= right && left != right) return {};
    }
    if (exponent == 0 && probes.alone[i][at] != value) return {};
    const Symbolic power = Symbolic::integer(exponent);
    factors.push_back(Symbolic::pow(Symbolic::symbol(probes.names[i]), power));
    scale = scale * Symbolic::pow(Symbolic::integer(before), Symbolic::integer(-exponent));
  }
  factors.push_back(scale);
  if (!scale.asInteger()) return {};
  return Symbolic::mul(std::move(factors));
}

bool isRight(const Symbolic& expression, const Probes& probes, std::size_t at) {
  const auto value = expression.evaluateInteger(probes.all);
  return value && *value == probes.together[at];
}

std::optional<Symbolic> fitted(const Probes& probes, std::size_t at, std::int64_t value) {
  for (const auto fit : {affine, monomial})
    if (const auto expression = fit(probes, at, value); expression && isRight(*expression, probes, at))
      return expression;
  return {};
}

std::optional<Probes> probe(const GraphModule& module, std::size_t count,
                            const std::function<Result<void>(GraphModule&)>& propagate) {
  Probes probes;
  probes.base = hintsOf(module);
  if (probes.base.empty() || probes.base.size() > 20) return {};
  probes.all = probes.base;
  for (const auto& [name, value] : probes.base) {
    if (value < 2 || value > (1 << 24)) return {};  // 0 and 1 are special to shape rules
    const auto index = std::int64_t(probes.names.size());
    probes.names.push_back(name);
    // Multiples of the hint keep what divides it dividing.
    probes.steps.push_back(value * (index + 1));
    probes.all[name] = value * (2 * index + 3);
    SymbolBindings changed = probes.base;
    changed[name] = value + probes.steps.back();
    probes.alone.push_back(numbersFor(module, changed, propagate));
    if (probes.alone.back().size() != count) return {};
  }
  probes.together = numbersFor(module, probes.all, propagate);
  if (probes.together.size() != count) return {};
  return probes;
}

}  // namespace

std::optional<SymExpr> symbolicResult(const Graph& graph, const Node& node, std::int64_t hint) {
  if (node.op() != Opcode::CallFunction) return {};
  const auto expression = computed(graph, node);
  if (!expression || expression->symbols().empty()) return {};
  std::string text = expression->text();
  if (text.size() > maximumText) return {};
  return SymExpr{std::move(text), hint};
}

void labelSymbolicShapes(GraphModule& module, const std::function<Result<void>(GraphModule&)>& propagate) {
  const std::vector<NodeId> order(module.graph.order().begin(), module.graph.order().end());
  std::size_t count = 0;
  bool wanted = false;
  for (const NodeId id : order)
    visitNumbers(module.graph.node(id).meta().value, [&](const SymExpr& number) {
      ++count;
      wanted = wanted || !number.text.empty();
    });
  if (!wanted) return;
  const auto probes = probe(module, count, propagate);
  if (!probes) return;
  std::size_t at = 0;
  for (const NodeId id : order) {
    ValueMeta meta = module.graph.node(id).meta().value;
    visitNumbers(meta, [&](SymExpr& number) {
      const std::size_t index = at++;
      if (!number.text.empty() || !number.hint) return;
      const auto expression = fitted(*probes, index, *number.hint);
      if (expression && !expression->symbols().empty()) number.text = expression->text();
    });
    if (!(meta == module.graph.node(id).meta().value)) module.graph.setValueMeta(id, std::move(meta));
  }
}

}  // namespace kerf::inline ops
