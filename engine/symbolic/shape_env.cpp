#include "engine/symbolic/shape_env.h"

#include <algorithm>
#include <charconv>

#include "engine/symbolic/relations.h"
#include "engine/symbolic/symbolic_node.h"

namespace kerf::inline symbolic {
namespace {

thread_local ShapeEnv* currentEnv = nullptr;

constexpr std::string_view opNames[] = {"Add", "Sub", "Mul", "FloorDiv", "PythonMod", "Max", "Min", "CeilDiv"};

Result<Symbolic> combined(SymOp op, const Symbolic& a, const Symbolic& b) {
  switch (op) {
    case SymOp::Add:
      return a + b;
    case SymOp::Sub:
      return a - b;
    case SymOp::Mul:
      return a * b;
    default:
      return Symbolic::call(opNames[std::size_t(op)], {a, b});
  }
}

std::optional<std::int64_t> combinedHint(SymOp op, std::int64_t a, std::int64_t b) {
  std::int64_t value = 0;
  switch (op) {
    case SymOp::Add:
      return __builtin_add_overflow(a, b, &value) ? std::nullopt : std::optional(value);
    case SymOp::Sub:
      return __builtin_sub_overflow(a, b, &value) ? std::nullopt : std::optional(value);
    case SymOp::Mul:
      return __builtin_mul_overflow(a, b, &value) ? std::nullopt : std::optional(value);
    case SymOp::Max:
      return std::max(a, b);
    case SymOp::Min:
      return std::min(a, b);
    default:
      break;
  }
  if (b == 0 || (a == INT64_MIN && b == -1)) return {};
  const std::int64_t quotient = floorDiv(a, b);
  if (op == SymOp::FloorDiv) return quotient;
  if (op == SymOp::CeilDiv) return quotient + (a % b != 0 ? 1 : 0);
  return floorMod(a, b);
}

/// Whether `has` is true of the name of every symbol.
template <class Has>
bool allSymbols(const Symbolic& expression, const Has& has) {
  const SymbolicNode& node = expression.node();
  if (node.kind == SymbolicNode::Kind::Symbol) return has(node.name);
  return std::ranges::all_of(node.arguments, [&](const Symbolic& argument) { return allSymbols(argument, has); });
}

[[noreturn]] void raise(ErrorCode code, std::string message) { throw SymbolicFailure{Error{code, std::move(message)}}; }

}  // namespace

SymKind kindOf(const Symbolic& expression) {
  constexpr std::string_view floats[] = {"IntTrueDiv", "FloatTrueDiv", "TrueDiv",      "FloatPow",
                                         "ToFloat",    "RoundDecimal", "TruncToFloat", "sqrt"};
  constexpr std::string_view wholes[] = {"FloorToInt", "CeilToInt", "TruncToInt", "RoundToInt",
                                         "FloorDiv",   "floor",     "ceiling",    "CeilDiv"};
  const SymbolicNode& node = expression.node();
  if (node.kind == SymbolicNode::Kind::Boolean) return SymKind::Bool;
  if (isNumber(expression)) return node.value.isInteger() ? SymKind::Int : SymKind::Float;
  if (node.kind == SymbolicNode::Kind::Symbol) return node.name.starts_with('z') ? SymKind::Float : SymKind::Int;
  if (node.kind == SymbolicNode::Kind::Function) {
    if (findSymbolicFunction(node.name)->truth) return SymKind::Bool;
    if (std::ranges::find(floats, node.name) != std::end(floats) || node.name.starts_with("OpaqueUnaryFn"))
      return SymKind::Float;
    if (std::ranges::find(wholes, node.name) != std::end(wholes)) return SymKind::Int;
  }
  if (node.name == "Where") return kindOf(node.arguments[1]);
  const bool real = std::ranges::any_of(node.arguments, [](const Symbolic& a) { return kindOf(a) == SymKind::Float; });
  return real ? SymKind::Float : SymKind::Int;
}

std::size_t ShapeEnv::KeyHash::operator()(const Key& key) const {
  auto mixed = static_cast<std::uint64_t>(key.a) * 0x9e3779b97f4a7c15ULL;
  mixed = (mixed ^ (mixed >> 32) ^ static_cast<std::uint64_t>(key.b)) * 0xff51afd7ed558ccdULL;
  return mixed ^ (mixed >> 29) ^ key.op;
}

ShapeEnv::ShapeEnv() = default;
ShapeEnv::~ShapeEnv() = default;

ShapeEnv::Scope::Scope(ShapeEnv& env) : m_before(currentEnv) { currentEnv = &env; }
ShapeEnv::Scope::~Scope() { currentEnv = m_before; }
ShapeEnv* ShapeEnv::current() { return currentEnv; }

// Symbols

SymInt ShapeEnv::addSymbol(const ShapeSymbol& symbol) {
  reserveUnbacked(symbol.name);
  m_hasAssumedHints = m_hasAssumedHints || symbol.isHintAssumed;
  const auto [found, fresh] = m_symbolIndex.try_emplace(symbol.name, m_symbols.size());
  if (fresh) {
    m_symbols.push_back(symbol);
  } else {
    ShapeSymbol& known = m_symbols[found->second];
    if (known.source.empty()) known.source = symbol.source;
    if (!known.hint) known.hint = symbol.hint;
    narrow(symbol.name, symbol.range);
  }
  return intern(Symbolic::symbol(symbol.name));
}

SymInt ShapeEnv::addUnbacked(const ValueRange& range, std::string source) {
  if (source.empty()) source = m_node;
  return addSymbol({fmt::format("u{}", m_nextUnbacked), std::nullopt, range, std::move(source)});
}

void ShapeEnv::reserveUnbacked(std::string_view name) {
  int number = 0;
  if (!name.starts_with('u')) return;
  const auto read = std::from_chars(name.data() + 1, name.data() + name.size(), number);
  if (read.ec == std::errc() && read.ptr == name.data() + name.size() && number < INT32_MAX)
    m_nextUnbacked = std::max(m_nextUnbacked, number + 1);
}

const ShapeSymbol* ShapeEnv::findSymbol(std::string_view name) const {
  const auto found = m_symbolIndex.find(std::string(name));
  return found == m_symbolIndex.end() ? nullptr : &m_symbols[found->second];
}

SymbolBindings ShapeEnv::hints() const {
  SymbolBindings values;
  for (const ShapeSymbol& symbol : m_symbols)
    if (symbol.hint) values.emplace(symbol.name, *symbol.hint);
  return values;
}

ValueRange ShapeEnv::symbolRange(std::string_view name) const {
  const ShapeSymbol* symbol = findSymbol(name);
  return symbol ? symbol->range : ValueRange{};
}

void ShapeEnv::narrow(std::string_view symbol, const ValueRange& range) {
  const auto found = m_symbolIndex.find(std::string(symbol));
  if (found == m_symbolIndex.end()) return;
  ShapeSymbol& known = m_symbols[found->second];
  const ValueRange both = known.range.intersected(range);
  if (both.isEmpty() || both == known.range) return;
  known.range = both;
  ++m_generation;
}

// Expressions

SymInt ShapeEnv::intern(const Symbolic& expression) {
  if (const auto number = expression.asInteger()) return *number;
  if (expression.weight() > maximumWeight || m_entries.size() >= maximumExpressions)
    raise(ErrorCode::TooLarge, fmt::format("a symbolic size grew to {} parts: {}…", expression.weight(),
                                           expression.weight() > 100000 ? "" : expression.text().substr(0, 120)));
  const auto [first, last] = m_byHash.equal_range(expression.hash());
  for (auto it = first; it != last; ++it)
    if (m_entries[it->second].expression == expression) return SymInt::ofExpression(it->second);
  const auto index = static_cast<std::uint32_t>(m_entries.size());
  Entry entry;
  entry.hint = hintOf(expression);
  entry.expression = expression;
  m_entries.push_back(std::move(entry));
  m_byHash.emplace(expression.hash(), index);
  return SymInt::ofExpression(index);
}

std::optional<std::int64_t> ShapeEnv::hintOf(const Symbolic& expression) const {
  const auto hasHint = [this](const std::string& name) {
    const ShapeSymbol* symbol = findSymbol(name);
    return symbol != nullptr && symbol->hint.has_value();
  };
  if (!allSymbols(expression, hasHint)) return {};
  SymbolBindings values;
  for (const std::string& name : expression.symbols()) {
    const ShapeSymbol* symbol = findSymbol(name);
    if (symbol == nullptr || !symbol->hint) return {};
    values.emplace(name, *symbol->hint);
  }
  const auto value = expression.evaluate(values);
  if (!value) return {};
  if (const auto* flag = std::get_if<bool>(&*value)) return *flag ? 1 : 0;
  const auto* number = std::get_if<std::int64_t>(&*value);
  return number ? std::optional(*number) : std::nullopt;
}

Result<SymInt> ShapeEnv::parse(std::string_view text) {
  if (const auto found = m_byText.find(std::string(text)); found != m_byText.end()) return found->second;
  KERF_TRY(const Symbolic expression, Symbolic::parse(text));
  for (const std::string& name : expression.symbols())
    if (!findSymbol(name)) addSymbol({.name = name});
  if (expression.weight() > maximumWeight)
    return fail(ErrorCode::TooLarge, "a symbolic size has {} parts", expression.weight());
  const SymInt value = intern(expression);
  m_byText.emplace(text, value);
  return value;
}

const ShapeEnv::Entry& ShapeEnv::entry(SymInt value) const {
  if (value.index() >= m_entries.size()) raise(ErrorCode::Internal, "a symbolic size of another graph");
  return m_entries[value.index()];
}

Symbolic ShapeEnv::expression(SymInt value) const {
  return value.isSymbolic() ? entry(value).expression : Symbolic::integer(value.bits());
}

const std::string& ShapeEnv::text(SymInt value) {
  value = resolved(value);
  static thread_local std::string number;
  if (!value.isSymbolic()) return number = std::to_string(value.bits());
  Entry& known = m_entries[value.index()];
  if (known.text.empty()) known.text = known.expression.text();
  return known.text;
}

std::optional<std::int64_t> ShapeEnv::hint(SymInt value) const {
  return value.isSymbolic() ? entry(value).hint : value.bits();
}

std::optional<std::int64_t> ShapeEnv::recordedHint(SymInt value) const {
  if (!value.isSymbolic() || !m_hasAssumedHints) return hint(value);
  for (const std::string& name : entry(value).expression.symbols())
    if (const ShapeSymbol* symbol = findSymbol(name); symbol && symbol->isHintAssumed) return {};
  return hint(value);
}

ValueRange ShapeEnv::range(SymInt value) {
  if (!value.isSymbolic()) return ValueRange::single(value.bits());
  entry(value);
  Entry& known = m_entries[value.index()];
  if (!known.range || known.rangeGeneration != m_generation) {
    known.range = rangeOf(known.expression, [this](std::string_view name) { return symbolRange(name); });
    known.rangeGeneration = m_generation;
  }
  return *known.range;
}

SymKind ShapeEnv::kind(SymInt value) const {
  return value.isSymbolic() ? kindOf(entry(value).expression) : SymKind::Int;
}

/// Until nothing is left to replace: what replaces a symbol may have been replaced since (and rollBack() may take that
/// back, so it is not written into the older replacement).
SymInt ShapeEnv::resolved(SymInt value) {
  if (!m_hasReplacements || !value.isSymbolic()) return value;
  entry(value);
  if (m_entries[value.index()].resolvedGeneration == m_generation) return m_entries[value.index()].resolved;
  const auto replacementOf = [this](std::string_view name) -> std::optional<Symbolic> {
    const auto found = std::ranges::find(m_replacements, name, &Replacement::symbol);
    return found == m_replacements.end() ? std::nullopt : std::optional(found->value);
  };
  SymInt result = value;
  for (std::size_t i = 0; i < m_replacements.size() && result.isSymbolic(); ++i) {
    const SymInt next = intern(m_entries[result.index()].expression.substitute(replacementOf));
    if (next.isIdentical(result)) break;  // == would ask for a guard
    result = next;
  }
  m_entries[value.index()].resolved = result;
  m_entries[value.index()].resolvedGeneration = m_generation;
  return result;
}

SymInt ShapeEnv::result(SymOp op, SymInt a, SymInt b) {
  a = resolved(a);
  b = resolved(b);
  const Key key{std::uint8_t(op), a.bits(), b.bits()};
  if (const auto found = m_results.find(key); found != m_results.end()) return found->second;
  const SymInt value = computed(op, a, b);
  m_results.emplace(key, value);
  return value;
}

SymInt ShapeEnv::computed(SymOp op, SymInt a, SymInt b) {
  const bool divides = op == SymOp::FloorDiv || op == SymOp::Mod || op == SymOp::CeilDiv;
  if (divides && !b.isSymbolic() && b.bits() == 0)
    raise(ErrorCode::ShapeMismatch, fmt::format("'{}' is divided by zero", symText(a)));
  if (op == SymOp::Max || op == SymOp::Min) {
    const bool most = op == SymOp::Max;
    if (const auto first = known(SymRelation::Ge, a, b); first) return *first == most ? a : b;
    if (const auto second = known(SymRelation::Le, a, b); second && *second) return most ? b : a;
  }
  if (op == SymOp::Mod) {  // the plain form where no sign matters, as PyTorch prints it
    if (range(a).lower >= 0 && range(b).lower > 0) {
      if (*known(SymRelation::Lt, a, b).or_else([] { return std::optional(false); })) return a;
      if (const auto plain = Symbolic::call("Mod", {expression(a), expression(b)})) return intern(*plain);
    }
  }
  auto value = combined(op, expression(a), expression(b));
  if (!value) throw SymbolicFailure{std::move(value).error()};
  const SymInt index = intern(*value);
  if (index.isSymbolic() && !m_entries[index.index()].hint) {
    const auto left = hint(a), right = hint(b);
    if (left && right) m_entries[index.index()].hint = combinedHint(op, *left, *right);
  }
  return index;
}

// What SymInt's operators call

namespace {
ShapeEnv& env() {
  if (currentEnv == nullptr) raise(ErrorCode::Internal, "a symbolic size outside of its ShapeEnv");
  return *currentEnv;
}
}  // namespace

SymInt symbolicResult(SymOp op, SymInt a, SymInt b) { return env().result(op, a, b); }
bool guardRelation(SymRelation relation, SymInt a, SymInt b) { return env().decide(relation, a, b); }
bool relationOr(SymRelation relation, SymInt a, SymInt b, bool fallback) {
  return env().decideOr(relation, a, b, fallback);
}
bool relationKnown(SymRelation relation, SymInt a, SymInt b) { return env().known(relation, a, b).value_or(false); }
std::int64_t SymInt::specialised() const { return env().specialise(*this); }
std::string symText(SymInt value) {
  if (!value.isSymbolic()) return std::to_string(value.bits());
  return currentEnv ? currentEnv->text(value) : "?";
}

}  // namespace kerf::inline symbolic
