#include "engine/loops/loop_ir.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace kerf::inline loops {
namespace {

using enum ExprOp;

constexpr ExprOpInfo opTable[] = {
    {Load, "load", 0, 1},
    {LoadWhere, "load_where", 1, 2},
    {LoadAt, "load_at", 1, 2},
    {Constant, "const", 0, 0},
    {Index, "index", 0, 1},
    {Carry, "carry", 1, 0},
    {Convert, "convert", 1, 1},
    {Neg, "neg", 1, 1},
    {Abs, "abs", 1, 1},
    {Exp, "exp", 1, 15},
    {Exp2, "exp2", 1, 15},
    {Expm1, "expm1", 1, 20},
    {Log, "log", 1, 15},
    {Log2, "log2", 1, 15},
    {Log10, "log10", 1, 15},
    {Log1p, "log1p", 1, 20},
    {Sqrt, "sqrt", 1, 6},
    {Sin, "sin", 1, 20},
    {Cos, "cos", 1, 20},
    {Tan, "tan", 1, 30},
    {Asin, "asin", 1, 20},
    {Acos, "acos", 1, 20},
    {Atan, "atan", 1, 20},
    {Sinh, "sinh", 1, 20},
    {Cosh, "cosh", 1, 20},
    {Tanh, "tanh", 1, 20},
    {Asinh, "asinh", 1, 20},
    {Acosh, "acosh", 1, 20},
    {Atanh, "atanh", 1, 20},
    {Erf, "erf", 1, 20},
    {Erfc, "erfc", 1, 20},
    {Floor, "floor", 1, 1},
    {Ceil, "ceil", 1, 1},
    {Trunc, "trunc", 1, 1},
    {RoundEven, "round", 1, 1},
    {Not, "not", 1, 1},
    {IsNan, "isnan", 1, 1},
    {Add, "add", 2, 1},
    {Sub, "sub", 2, 1},
    {Mul, "mul", 2, 1},
    {Div, "div", 2, 4},
    {Fmod, "fmod", 2, 30},
    {Pow, "pow", 2, 40},
    {Atan2, "atan2", 2, 30},
    {Hypot, "hypot", 2, 20},
    {Philox, "philox", 2, 60},
    {CopySign, "copysign", 2, 1},
    {Maximum, "max", 2, 2},
    {Minimum, "min", 2, 2},
    {And, "and", 2, 1},
    {Or, "or", 2, 1},
    {Xor, "xor", 2, 1},
    {Eq, "eq", 2, 1},
    {Ne, "ne", 2, 1},
    {Lt, "lt", 2, 1},
    {Le, "le", 2, 1},
    {Gt, "gt", 2, 1},
    {Ge, "ge", 2, 1},
    {Select, "select", 3, 1},
    {Fma, "fma", 3, 2},
    {ReduceSum, "reduce_sum", 1, 2},
    {ReduceProd, "reduce_prod", 1, 2},
    {ReduceMax, "reduce_max", 1, 2},
    {ReduceMin, "reduce_min", 1, 2},
    {ReduceAny, "reduce_any", 1, 2},
    {ReduceAll, "reduce_all", 1, 2},
};
static_assert(std::size(opTable) == std::size_t(ReduceAll) + 1);

std::string_view shortCode(DType dtype) { return dtypeInfo(dtype).shortCode; }

/// "load x[8*i0]", "load_where x[8*i0] if %3", "load_at x[8*i0 + %3]".
std::string loadText(const LoopKernel& kernel, const Expr& e) {
  const std::string& buffer = kernel.buffers[std::size_t(e.buffer)].name;
  const std::string offset = e.op == LoadAt ? fmt::format(" + %{}", e.args[0]) : "";
  const std::string condition = e.op == LoadWhere ? fmt::format(" if %{}", e.args[0]) : "";
  return fmt::format("{} {}[{}{}]{}", exprOpInfo(e.op).name, buffer, e.index.text(), offset, condition);
}

std::string exprText(const LoopKernel& kernel, const Expr& e) {
  const ExprOpInfo& info = exprOpInfo(e.op);
  if (isLoad(e.op)) return loadText(kernel, e);
  if (e.op == Index) return fmt::format("index {}", e.index.text());
  if (e.op == Carry) return fmt::format("carry %{} from %{}", e.integer, e.args[0]);
  if (e.op == Constant) return isFloating(e.dtype) ? fmt::format("{}", e.real) : fmt::format("{}", e.integer);
  std::string out{info.name};
  for (std::size_t a = 0; a < info.arity; ++a) out += fmt::format("{}%{}", a == 0 ? " " : ", ", e.args[a]);
  return out;
}

void appendRaw(std::string& key, const void* data, std::size_t bytes) {
  key.append(static_cast<const char*>(data), bytes);
}
void append(std::string& key, std::int64_t value) { appendRaw(key, &value, sizeof value); }
/// Parameters count by their place.
void append(std::string& key, const LoopKernel& kernel, SymInt size) {
  if (!size.isSymbolic()) return append(key, size.bits());
  const auto found = std::ranges::find_if(kernel.parameters, [&](SymInt p) { return p.isIdentical(size); });
  append(key, SymInt::ofExpression(std::uint32_t(found - kernel.parameters.begin())).bits());
}
void append(std::string& key, const LoopKernel& kernel, const Affine& index) {
  append(key, std::int64_t(index.coefficients.size()));
  for (const SymInt c : index.coefficients) append(key, kernel, c);
  append(key, kernel, index.constant);
}

bool touchesReduced(const LoopKernel& kernel, const Affine& index) {
  for (std::size_t v = 0; v < index.coefficients.size(); ++v)
    if (!isZero(index.coefficients[v]) && kernel.variables[v].reduced) return true;
  return false;
}

}  // namespace

const ExprOpInfo& exprOpInfo(ExprOp op) { return opTable[std::size_t(op)]; }

SymSizes LoopKernel::variableSizes() const {
  SymSizes sizes;
  for (const auto& variable : variables) sizes.push_back(variable.size);
  return sizes;
}

bool LoopKernel::hasReduction() const {
  return std::ranges::any_of(variables, [](const LoopVariable& v) { return v.reduced; });
}

bool LoopKernel::writesAtPlaces() const {
  return std::ranges::any_of(stores, [](const LoopStore& store) { return store.place >= 0; });
}

std::size_t firstDividedLoop(const LoopKernel& kernel) {
  if (!kernel.writesAtPlaces()) return 0;
  return std::size_t(std::ranges::find(kernel.variables, false, &LoopVariable::serial) - kernel.variables.begin());
}

std::size_t dividedLoops(const LoopKernel& kernel) {
  if (kernel.writesAtPlaces()) return firstDividedLoop(kernel) < kernel.variables.size() ? 1 : 0;
  constexpr std::int64_t enough = 64;  // pieces for the threads of one machine
  const auto& variables = kernel.variables;
  if (variables.empty() || variables[0].reduced) return 0;
  if (variables.size() < 3 || variables[1].reduced) return 1;
  if (!variables[0].size.isSymbolic() && variables[0].size.bits() >= enough) return 1;
  const auto anyWalks = [&](std::size_t variable) {
    const auto walks = [&](const Affine& index) { return index.coefficient(variable).isIdentical(1); };
    return std::ranges::any_of(kernel.exprs, [&](const Expr& e) { return isLoad(e.op) && walks(e.index); }) ||
           std::ranges::any_of(kernel.stores, walks, &LoopStore::index);
  };
  if (anyWalks(0)) return 1;
  const bool isColumn = variables[2].reduced;  // whose elements lie apart: any of the columns may be a piece's first
  return anyWalks(1) && !isColumn ? 1 : 2;
}

void collectParameters(LoopKernel& kernel) {
  ShapeEnv* env = ShapeEnv::current();
  if (env == nullptr) return;
  const auto settle = [&](SymInt& size) {
    size = env->resolved(size);
    const auto isIt = [&](SymInt known) { return known.isIdentical(size); };
    if (size.isSymbolic() && std::ranges::none_of(kernel.parameters, isIt)) kernel.parameters.push_back(size);
  };
  const auto settleIndex = [&](Affine& index) {
    std::ranges::for_each(index.coefficients, settle);
    settle(index.constant);
  };
  kernel.parameters.clear();
  for (LoopVariable& variable : kernel.variables) settle(variable.size);
  for (Expr& e : kernel.exprs) settleIndex(e.index);
  for (LoopStore& store : kernel.stores) settleIndex(store.index);
}

std::string printLoopIr(const LoopKernel& kernel) {
  std::string out = fmt::format("kernel {}\n", kernel.name);
  for (std::size_t b = 0; b < kernel.buffers.size(); ++b)
    out += fmt::format("  buffer {}: {}\n", kernel.buffers[b].name, shortCode(kernel.buffers[b].dtype));
  for (std::size_t v = 0; v < kernel.variables.size(); ++v)
    out += fmt::format("  for i{} < {}{}{}\n", v, kernel.variables[v].size,
                       kernel.variables[v].reduced ? " (reduced)" : "", kernel.variables[v].serial ? " (serial)" : "");
  for (std::size_t e = 0; e < kernel.exprs.size(); ++e)
    out += fmt::format("    %{}: {} = {}\n", e, shortCode(kernel.exprs[e].dtype), exprText(kernel, kernel.exprs[e]));
  for (const auto& store : kernel.stores)
    out += fmt::format("    store {}[{}{}] = %{}{}\n", kernel.buffers[std::size_t(store.buffer)].name,
                       store.index.text(), store.place < 0 ? "" : fmt::format(" + %{}", store.place), store.value,
                       store.inner || !kernel.hasReduction() ? "" : " (after the reduced loops)");
  return out;
}

std::string structuralKey(const LoopKernel& kernel) {
  std::string key;
  append(key, std::int64_t(kernel.variables.size()));
  for (const auto& variable : kernel.variables) {
    append(key, kernel, variable.size);
    append(key, (variable.reduced ? 1 : 0) + (variable.serial ? 2 : 0));
  }
  append(key, std::int64_t(kernel.buffers.size()));
  for (const auto& buffer : kernel.buffers) append(key, std::int64_t(buffer.dtype));
  append(key, std::int64_t(kernel.exprs.size()));
  for (const auto& e : kernel.exprs) {
    append(key, std::int64_t(e.op) * 256 + std::int64_t(e.dtype));
    for (const int arg : e.args) append(key, arg);
    appendRaw(key, &e.real, sizeof e.real);
    append(key, e.integer);
    append(key, e.buffer);
    append(key, kernel, e.index);
  }
  for (const auto& store : kernel.stores) {
    append(key, store.buffer * 2 + (store.inner ? 1 : 0));
    append(key, kernel, store.index);
    append(key, store.value);
    append(key, store.place);
  }
  return key;
}

ExprPlacement placeExpressions(const LoopKernel& kernel) {
  ExprPlacement place;
  for (const auto& e : kernel.exprs) {
    std::uint8_t level = 0;
    int phase = 0;
    if (isLoad(e.op) || e.op == Index)
      level = touchesReduced(kernel, e.index) ? 2 : (e.index.coefficients.empty() && e.op == Index ? 0 : 1);
    for (std::size_t a = 0; a < exprOpInfo(e.op).arity; ++a) {
      level = std::max(level, place.level[std::size_t(e.args[a])]);
      phase = std::max(phase, place.phase[std::size_t(e.args[a])]);
    }
    if (e.op == Carry) level = 2;
    if (isReduction(e.op)) {
      level = 1;
      ++phase;
    }
    place.level.push_back(level);
    place.phase.push_back(phase);
  }
  return place;
}

}  // namespace kerf::inline loops
