#include "engine/dynamo/symbols.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "engine/dynamo/unsupported.h"
#include "engine/torch_api/tensor_type.h"

namespace kerf::inline dynamo {
namespace {

Symbolic symbolicOf(PyObject* number) {
  if (PyFloat_Check(number)) return Symbolic::real(PyFloat_AS_DOUBLE(number));
  return Symbolic::integer(PyLong_AsLongLong(number));
}

/// An expression with numbers in the place of its symbols.
template <class ValueOf>
Result<SymbolicNumber> evaluated(const Symbolic& expression, const ValueOf& valueOf) {
  return expression
      .substitute([&](std::string_view name) -> std::optional<Symbolic> {
        const Ref value = valueOf(name);
        if (!value || (!PyLong_Check(value.get()) && !PyFloat_Check(value.get()))) return {};
        return symbolicOf(value.get());
      })
      .evaluate();
}

bool holdsTrue(const Result<SymbolicNumber>& number) {
  return number && std::visit([](auto held) { return held != 0; }, *number);
}

/// Strides as products of sizes where they are such products: those of dims in the order of their strides.
SymSizes symStridesOf(const Tensor& real, const SymSizes& sizes) {
  const Sizes numbers = real.sizes(), strides = real.strides();
  SymSizes made(strides);
  std::vector<std::size_t> order(strides.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return strides[a] != strides[b] ? strides[a] < strides[b] : a > b; });
  for (std::size_t at = 0; at < order.size(); ++at)
    for (std::size_t below = at; below-- > 0;) {
      const std::size_t a = order[at], b = order[below];
      if (numbers[b] == 1 || strides[a] != numbers[b] * strides[b]) continue;
      made[a] = sizes[b] * made[b];
      break;
    }
  return made;
}

/// "Ne(a, b)" as Python writes it, and a least value before what it bounds: "2 <= a".
std::string comparisonText(const std::string& text) {
  const bool isEq = text.starts_with("Eq("), isNe = text.starts_with("Ne(");
  int depth = 0;
  for (std::size_t k = 3; (isEq || isNe) && k + 1 < text.size(); ++k) {
    depth += text[k] == '(' || text[k] == '[' ? 1 : text[k] == ')' || text[k] == ']' ? -1 : 0;
    if (text[k] == ',' && depth == 0)
      return text.substr(3, k - 3) + (isEq ? " == " : " != ") + text.substr(k + 2, text.size() - k - 3);
  }
  const std::size_t least = text.rfind(" >= ");
  if (least == std::string::npos || text.find_first_not_of("0123456789", least + 4) != std::string::npos) return text;
  return text.substr(least + 4) + " <= " + text.substr(0, least);
}

}  // namespace

void dataDependent(const std::string& message) {
  unsupported("Consider annotating your code using torch._check*(). " + message,
              "A number that the graph computes decides what is traced.", message,
              {"Use `torch._check` to say what holds of the number, or `torch.cond` to branch on it."});
}

FrameSymbols::FrameSymbols() : m_env(std::make_shared<ShapeEnv>()), m_scope(*m_env) {}

const InputSymbol* FrameSymbols::find(std::string_view name) const {
  const auto found = std::ranges::find(m_symbols, name, &InputSymbol::name);
  return found == m_symbols.end() ? nullptr : &*found;
}

std::string FrameSymbols::freshName(const std::string&, const char* prefix) {
  return fmt::format("{}{}", prefix, m_nextName++);
}

SymInt FrameSymbols::sizeSymbol(std::int64_t size, const SourcePtr& source, bool shares, const ValueRange& asked) {
  if (size < 2) return size;
  for (const InputSymbol& known : m_symbols) {
    if (known.source->name() == source->name()) return m_env->addSymbol({known.name, size, {}, "", false});
    if (!shares || known.source->kind() != Source::Kind::Size || PyLong_AsLongLong(known.number.get()) != size)
      continue;
    m_sameSizes.emplace_back(known.source, source);
    return m_env->addSymbol({known.name, size, {}, "", false});
  }
  const std::string name = freshName(source->name(), "s");
  m_symbols.push_back({name, source, Ref::steal(PyLong_FromLongLong(size))});
  ShapeSymbol symbol{name, size, {std::max<std::int64_t>(2, asked.lower), asked.upper}, source->name(), false};
  const auto bound = [&](const char* relation, std::int64_t value) {
    m_conditions.push_back(*Symbolic::call(relation, {Symbolic::symbol(name), Symbolic::integer(value)}));
  };
  bound("Ge", symbol.range.lower);
  if (asked.hasUpper()) bound("Le", asked.upper);
  return m_env->addSymbol(symbol);
}

SymInt FrameSymbols::markedSize(PyObject* tensor, std::int64_t size, const SourcePtr& source, std::int64_t dim) {
  const MarkedSize marked{source, size, markedRange(tensor, dim)};
  if (size >= 2 && !marked.asked.contains(size)) raiseOutOfRange(marked);
  const auto isSame = [&](const MarkedSize& known) { return known.source->name() == source->name(); };
  if (std::ranges::none_of(m_marked, isSame)) m_marked.push_back(marked);
  return sizeSymbol(size, source, false, marked.asked);
}

std::string FrameSymbols::constraintViolations() const {
  std::vector<std::pair<std::string, std::string>> violations;
  for (const MarkedSize& size : m_marked) {
    const auto symbol = std::ranges::find(m_symbols, size.source->name(),
                                          [](const InputSymbol& known) { return known.source->name(); });
    if (symbol == m_symbols.end()) continue;  // 0 and 1 are compiled for in any case
    const SymInt value = m_env->intern(Symbolic::symbol(symbol->name));
    const ValueRange left = m_env->range(value);
    if (resolvedSymbols(symbol->name).empty())
      violations.emplace_back(size.source->name(), specialisedText(size));
    else if (left.lower > std::max<std::int64_t>(2, size.asked.lower) && size.asked.hasLower())
      violations.emplace_back(size.source->name(), narrowedText(size, left));
    else if (left.upper < size.asked.upper && size.asked.hasUpper())
      violations.emplace_back(size.source->name(), narrowedText(size, left));
  }
  return violations.empty() ? std::string() : constraintsText(violations);
}

Tensor FrameSymbols::fakeOf(PyObject* tensor, const SourcePtr& source, bool isStatic) {
  const Tensor real = tensorOf(tensor);
  const Sizes numbers = real.sizes();
  SymSizes sizes(numbers);
  std::vector<bool> differing(numbers.size(), false);
  if (state != nullptr && source && !isStatic) differing = state->meetSizes(source->name(), numbers);
  bool anySymbol = false;
  for (std::size_t k = 0; source && !isStatic && k < numbers.size(); ++k) {
    const auto dim = static_cast<std::int64_t>(k);
    const bool marked = isMarkedDim(tensor, "_dynamo_dynamic_indices", dim);
    if (isMarkedDim(tensor, "_dynamo_static_indices", dim) || (mode == DynamicMode::Never && !marked)) continue;
    const bool weak = isMarkedDim(tensor, "_dynamo_weak_dynamic_indices", dim);
    const bool alone = marked || weak || (differing[k] && mode == DynamicMode::Automatic);
    if (!alone && mode != DynamicMode::Always) continue;
    const SourcePtr place = Source::size(source, dim);
    sizes[k] = marked ? markedSize(tensor, numbers[k], place, dim) : sizeSymbol(numbers[k], place, !alone);
    anySymbol = anySymbol || sizes[k].isSymbolic();
  }
  const SymSizes strides = anySymbol ? symStridesOf(real, sizes) : SymSizes(real.strides());
  Tensor fake(nullptr, real.dtype(), sizes, strides, real.symOffset());
  fake.setDevice(real.device());
  fake.requiresGrad = real.requiresGrad;
  fake.isLeaf = real.isLeaf;
  return fake;
}

std::optional<SymNumber> FrameSymbols::numberOf(PyObject* number, const SourcePtr& source, bool isStatic) {
  const bool isFloat = PyFloat_CheckExact(number);
  if (state == nullptr || mode == DynamicMode::Never || isStatic || (!isFloat && !PyLong_CheckExact(number))) return {};
  int overflow = 0;
  if (!isFloat) PyLong_AsLongLongAndOverflow(number, &overflow);
  if (overflow != 0 || (isFloat && !std::isfinite(PyFloat_AS_DOUBLE(number)))) return {};
  const bool differs = state->meetNumber(source->name(), number);
  if (!differs && (isFloat || mode != DynamicMode::Always)) return {};
  for (const InputSymbol& known : m_symbols)
    if (known.source->name() == source->name())
      return SymNumber{m_env->intern(Symbolic::symbol(known.name)), isFloat ? SymKind::Float : SymKind::Int};
  const std::string name = freshName(source->name(), isFloat ? "zf" : "s");
  m_symbols.push_back({name, source, Ref::borrow(number)});
  if (isFloat) return SymNumber{m_env->intern(Symbolic::symbol(name)), SymKind::Float};
  return SymNumber{m_env->addSymbol({name, PyLong_AsLongLong(number), {}, source->name(), false}), SymKind::Int};
}

bool FrameSymbols::isUnbacked(const Symbolic& expression) const {
  const auto names = expression.symbols();
  return std::ranges::any_of(names, [this](const std::string& name) { return find(name) == nullptr; });
}

void FrameSymbols::assume(const Symbolic& condition) {
  if (!m_env->assume(condition))
    unsupported("Data dependent operator", "`torch._check` says what is known to be false.", condition.text());
}

Ref FrameSymbols::hintOf(SymNumber number) const {
  const Symbolic asked = m_env->expression(m_env->resolved(number.value));
  if (isUnbacked(asked))
    dataDependent(fmt::format("Could not extract specialized {} from data-dependent expression {} (unhinted: {})",
                              number.kind == SymKind::Float  ? "float"
                              : number.kind == SymKind::Bool ? "bool"
                                                             : "integer",
                              asked.text(), asked.text()));
  const auto value = evaluated(m_env->expression(number.value), [&](std::string_view name) {
    const InputSymbol* symbol = find(name);
    return symbol ? symbol->number : Ref();
  });
  if (!value) unsupported("Unsupported symbolic number", "Its value is not known: " + value.error().message);
  if (const bool* flag = std::get_if<bool>(&*value)) return Ref::borrow(*flag ? Py_True : Py_False);
  const auto* whole = std::get_if<std::int64_t>(&*value);
  const double real = whole ? double(*whole) : std::get<double>(*value);
  if (number.kind == SymKind::Float) return Ref::steal(PyFloat_FromDouble(real));
  return Ref::steal(PyLong_FromLongLong(whole ? *whole : std::int64_t(real)));
}

bool FrameSymbols::decide(const Symbolic& condition) {
  const auto names = condition.symbols();
  if (isUnbacked(condition)) {
    if (const auto known = m_env->known(condition)) return *known;
    dataDependent(fmt::format("Could not guard on data-dependent expression {} (unhinted: {}).", condition.text(),
                              condition.text()));
  }
  const bool isReal = std::ranges::any_of(names, [](const std::string& name) { return name.starts_with("zf"); });
  if (!isReal) try {
      const bool holds = m_env->decide(condition);
      // A range of one number: that is it.
      for (const std::string& name : names)
        if (const InputSymbol* symbol = find(name); symbol && PyLong_CheckExact(symbol->number.get())) {
          const SymInt value = m_env->intern(Symbolic::symbol(name));
          if (!m_env->resolved(value).isSymbolic()) continue;
          const SymInt hint = PyLong_AsLongLong(symbol->number.get());
          const auto above = m_env->known(SymRelation::Gt, value, hint),
                     below = m_env->known(SymRelation::Lt, value, hint);
          if (above == false && below == false) static_cast<void>(m_env->specialise(value));
        }
      return holds;
    } catch (const SymbolicFailure& failure) {
      unsupported("Data dependent operator", failure.error.message);
    }
  const bool holds = holdsTrue(evaluated(condition, [&](std::string_view name) {
    const InputSymbol* symbol = find(name);
    return symbol ? symbol->number : Ref();
  }));
  m_conditions.push_back(holds ? condition : *Symbolic::call("Not", {condition}));
  return holds;
}

Ref FrameSymbols::specialise(SymNumber number) {
  Ref hint = hintOf(number);
  if (number.kind == SymKind::Int) {
    static_cast<void>(m_env->specialise(number.value));
    // What cannot be solved for its symbols (an absolute value) stays an expression: its value is guarded.
    const Symbolic left = m_env->expression(number.value);
    if (!left.symbols().empty()) m_conditions.push_back(*Symbolic::call("Eq", {left, symbolicOf(hint.get())}));
  } else if (number.kind == SymKind::Float) {
    m_conditions.push_back(*Symbolic::call("Eq", {m_env->expression(number.value), symbolicOf(hint.get())}));
  } else {
    decide(m_env->expression(number.value));
  }
  return hint;
}

/// Of the values that the symbols have when it is checked.
Guard FrameSymbols::guardOf(const Symbolic& condition) const {
  Guard guard;
  guard.kind = "SHAPE_ENV";
  std::vector<InputSymbol> used;
  for (const std::string& name : condition.symbols())
    if (const InputSymbol* symbol = find(name)) used.push_back(*symbol);
  const Symbolic named = condition.substitute([&](std::string_view name) -> std::optional<Symbolic> {
    const InputSymbol* symbol = find(name);
    return symbol ? std::optional(Symbolic::symbol(symbol->source->name())) : std::nullopt;
  });
  guard.leaf = "LAMBDA_GUARD: " + comparisonText(named.text());
  guard.check = [condition, used](PyObject*, const FrameScope& scope) {
    return holdsTrue(evaluated(condition, [&](std::string_view name) {
      const auto found = std::ranges::find(used, name, &InputSymbol::name);
      return found == used.end() ? Ref() : found->source->evaluate(scope);
    }));
  };
  return guard;
}

std::vector<Guard> FrameSymbols::guards() const {
  std::vector<Guard> all;
  for (const ShapeGuard& guard : m_env->guards())
    if (!isUnbacked(guard.expression)) all.push_back(guardOf(guard.expression));
  for (const Symbolic& condition : m_conditions) all.push_back(guardOf(condition));
  for (const auto& [a, b] : m_sameSizes) {
    Guard guard;
    guard.kind = "SHAPE_ENV";
    guard.leaf = "LAMBDA_GUARD: " + b->name() + " == " + a->name();
    guard.check = [a, b](PyObject*, const FrameScope& scope) {
      const Ref left = a->evaluate(scope), right = b->evaluate(scope);
      return left && right && PyObject_RichCompareBool(left.get(), right.get(), Py_EQ) == 1;
    };
    all.push_back(std::move(guard));
  }
  return all;
}

}  // namespace kerf::inline dynamo
