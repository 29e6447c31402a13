// Symbolic: values, symbols, substitution, and solving sizes for their symbols.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "engine/symbolic/symbolic_node.h"

namespace kerf::inline symbolic {
namespace {

using Kind = SymbolicNode::Kind;
constexpr int maximumRounds = 64;  // each settles at least one symbol; graphs need one or two

void collect(const Symbolic& expression, std::set<std::string>& names) {
  const SymbolicNode& node = expression.node();
  if (node.kind == Kind::Symbol) names.insert(node.name);
  for (const Symbolic& argument : node.arguments) collect(argument, names);
}

std::optional<SymbolicValue> combine(const SymbolicNode& node, const std::vector<SymbolicValue>& values) {
  if (node.kind == Kind::Function) return findSymbolicFunction(node.name)->evaluate(values);
  if (node.kind == Kind::Pow) {
    if (values[1].isInteger()) return powValues(values[0], values[1].numerator);
    const double result = std::pow(values[0].asDouble(), values[1].asDouble());
    return std::isnan(result) ? std::nullopt : std::optional(SymbolicValue::floating(result));
  }
  std::optional<SymbolicValue> result = values[0];
  for (std::size_t i = 1; i < values.size() && result; ++i)
    result = node.kind == Kind::Add ? addValues(*result, values[i]) : mulValues(*result, values[i]);
  return result;
}

Result<SymbolicValue> valueOf(const Symbolic& expression, const SymbolBindings& bindings) {
  const SymbolicNode& node = expression.node();
  if (isConstant(expression)) return node.value;
  if (node.kind == Kind::Symbol) return SymbolicValue::integer(bindings.find(node.name)->second);
  std::vector<SymbolicValue> values;
  for (const Symbolic& argument : node.arguments) {
    KERF_TRY(const SymbolicValue value, valueOf(argument, bindings));
    values.push_back(value);
  }
  const auto result = combine(node, values);
  if (!result)
    return fail(ErrorCode::BadInput, "'{}' has no value: division by zero, overflow or outside its domain",
                expression.text().substr(0, 200));
  return *result;
}

bool isTruth(const Symbolic& expression) {
  if (isKind(expression, Kind::Boolean)) return true;
  return isKind(expression, Kind::Function) && findSymbolicFunction(expression.node().name)->truth;
}

/// One equation that is not settled yet.
struct Open {
  const SizeEquation* equation;
  Symbolic difference;  ///< expression - value
};

std::unexpected<Error> contradiction(const SizeEquation& equation, const SymbolBindings& known) {
  std::string values;
  for (const auto& [name, value] : known) values += fmt::format("{}{} = {}", values.empty() ? "" : ", ", name, value);
  return fail(ErrorCode::BadInput, "{}: '{}' is {}, which contradicts {}", equation.where, equation.text,
              equation.value, values.empty() ? "the numbers in it" : values);
}

/// The value of the only symbol of a linear difference a*s + b, maybe a fraction; none if it is not linear.
std::optional<SymbolicValue> solveLinear(const Symbolic& difference, const std::string& name) {
  SymbolicValue slope = SymbolicValue::integer(0), constant = slope;
  const std::vector<Symbolic> terms =
      isKind(difference, Kind::Add) ? difference.node().arguments : std::vector<Symbolic>{difference};
  for (const Symbolic& term : terms) {
    const SymbolicTerm split = splitCoefficient(term);
    const bool isSymbol = isKind(split.rest, Kind::Symbol) && split.rest.node().name == name;
    if (!isSymbol && !isNumber(split.rest)) return {};
    SymbolicValue& into = isSymbol ? slope : constant;
    const auto sum = addValues(into, split.coefficient);
    if (!sum) return {};
    into = *sum;
  }
  const auto opposite = mulValues(constant, SymbolicValue::integer(-1));
  return opposite ? divideValues(*opposite, slope) : std::nullopt;
}

/// Whether `open` is settled: it had one unknown, which is known now. BadInput where no integer will do.
Result<bool> settle(const Open& open, SymbolBindings& known) {
  const std::set<std::string> names = open.difference.symbols();
  if (names.size() != 1) return false;
  const auto value = solveLinear(open.difference, *names.begin());
  if (!value) return false;
  if (!value->isInteger()) return contradiction(*open.equation, known);
  known.emplace(*names.begin(), value->numerator);
  return true;
}

}  // namespace

std::set<std::string> Symbolic::symbols() const {
  std::set<std::string> names;
  collect(*this, names);
  return names;
}

Symbolic Symbolic::substitute(const SymbolBindings& values) const {
  return substitute([&](std::string_view name) -> std::optional<Symbolic> {
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional(integer(found->second));
  });
}

Symbolic Symbolic::substitute(const std::function<std::optional<Symbolic>(std::string_view)>& replacement) const {
  const SymbolicNode& self = node();
  if (self.kind == Kind::Symbol) return replacement(self.name).value_or(*this);
  if (self.arguments.empty()) return *this;
  std::vector<Symbolic> arguments;
  bool changed = false;
  for (const Symbolic& argument : self.arguments) {
    arguments.push_back(argument.substitute(replacement));
    changed = changed || arguments.back().m_node != argument.m_node;
  }
  if (!changed) return *this;
  if (self.kind == Kind::Add) return add(std::move(arguments));
  if (self.kind == Kind::Mul) return mul(std::move(arguments));
  if (self.kind == Kind::Pow) return pow(arguments[0], arguments[1]);
  auto result = call(self.name, std::move(arguments));
  return result ? *result : *this;
}

Result<SymbolicNumber> Symbolic::evaluate(const SymbolBindings& values) const {
  std::string missing;
  for (const std::string& name : symbols())
    if (!values.contains(name)) missing += (missing.empty() ? "" : ", ") + name;
  if (!missing.empty()) return fail(ErrorCode::BadInput, "'{}' needs a value for {}", text().substr(0, 200), missing);
  KERF_TRY(const SymbolicValue value, valueOf(*this, values));
  if (isTruth(*this)) return SymbolicNumber(!value.isZero());
  if (value.isInteger()) return SymbolicNumber(value.numerator);
  return SymbolicNumber(value.asDouble());
}

Result<std::int64_t> Symbolic::evaluateInteger(const SymbolBindings& values) const {
  KERF_TRY(const SymbolicNumber number, evaluate(values));
  if (const auto* integer = std::get_if<std::int64_t>(&number)) return *integer;
  return fail(ErrorCode::BadInput, "'{}' is not an integer", text().substr(0, 200));
}

Result<bool> Symbolic::evaluateBool(const SymbolBindings& values) const {
  KERF_TRY(const SymbolicNumber number, evaluate(values));
  return std::visit([](auto value) { return value != 0; }, number);
}

Result<SymbolBindings> solveSizes(std::span<const SizeEquation> equations, const SymbolBindings& given) {
  SymbolBindings known = given;
  std::vector<Open> open;
  for (const SizeEquation& equation : equations) {
    auto expression = Symbolic::parse(equation.text);
    if (!expression) return fail(std::move(expression.error().while_(equation.where)));
    open.push_back({&equation, expression->expanded() - Symbolic::integer(equation.value)});
  }
  bool found = true;
  for (int round = 0; found && round < maximumRounds; ++round) {
    found = false;
    std::vector<Open> left;
    for (Open& item : open) {
      item.difference = item.difference.substitute(known).expanded();
      if (isNumber(item.difference)) {
        if (!item.difference.node().value.isZero()) return contradiction(*item.equation, known);
        continue;
      }
      KERF_TRY(const bool settled, settle(item, known));
      found = found || settled;
      if (!settled) left.push_back(std::move(item));
    }
    open = std::move(left);
  }
  return known;
}

Result<std::int64_t> evaluateSize(std::string_view text, const SymbolBindings& values) {
  std::int64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (!text.empty() && parsed.ec == std::errc() && parsed.ptr == text.data() + text.size()) return number;
  KERF_TRY(const Symbolic expression, Symbolic::parse(text));
  return expression.evaluateInteger(values);
}

void collectSymbols(std::string_view text, std::set<std::string>& names) {
  if (const auto expression = Symbolic::parse(text)) names.merge(expression->symbols());
}

}  // namespace kerf::inline symbolic
