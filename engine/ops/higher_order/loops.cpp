// cond, while_loop, scan, associative_scan and map: what torch._higher_order_ops run eagerly.
#include <algorithm>

#include "engine/ops/higher_order/higher_order.h"
#include "engine/ops/higher_order/loop_limit.h"
#include "engine/symbolic/shape_env.h"

namespace kerf::inline ops {
namespace {

Result<bool> truthOf(const HigherOrderCall& call, const Value& value) {
  if (const auto* flag = value.as<bool>()) return *flag;
  if (const auto* number = value.as<std::int64_t>()) return *number != 0;
  if (call.shapesOnly && value.as<SymNumber>()) return true;  // as below
  if (!value.isTensor() || !guardOrTrue(value.tensor().symNumel() == 1))
    return fail(ErrorCode::ShapeMismatch, "{}: the condition must be a bool or a tensor with one element", call.name);
  if (!value.tensor().defined()) return true;  // shapes only: one branch is as good as the other
  return value.tensor().itemAsDouble() != 0;
}

// What is known of a result that comes from either of two branches: sizes in which they differ are known at run time
// only.

SymInt mergedSize(SymInt a, SymInt b) {
  ShapeEnv& env = *ShapeEnv::current();
  a = env.resolved(a), b = env.resolved(b);
  if (a.isIdentical(b)) return a;
  const ValueRange first = env.range(a), second = env.range(b);
  return env.addUnbacked({std::min(first.lower, second.lower), std::max(first.upper, second.upper)});
}

/// Dense, in the order of dimensions that `like` has.
SymSizes denseStrides(const SymSizes& sizes, const SymSizes& like) {
  std::vector<std::size_t> order(sizes.size());
  for (std::size_t d = 0; d < order.size(); ++d) order[d] = order.size() - 1 - d;  // innermost first
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return guardOrFalse(like[a] < like[b]); });
  SymSizes strides(sizes.size());
  SymInt next = 1;
  for (const std::size_t d : order) {
    strides[d] = next;
    next *= symMax(sizes[d], 1);
  }
  return strides;
}

Tensor merged(const Tensor& a, const Tensor& b) {
  const bool same = a.symSizes().isIdentical(b.symSizes()) && a.symStrides().isIdentical(b.symStrides());
  if (same || a.dim() != b.dim()) return a;
  SymSizes sizes;
  for (std::int64_t d = 0; d < a.dim(); ++d) sizes.push_back(mergedSize(a.symSize(d), b.symSize(d)));
  SymSizes strides = denseStrides(sizes, a.symStrides());
  Tensor result(nullptr, a.dtype(), std::move(sizes), std::move(strides));
  result.setDevice(a.device());
  return result;
}

Value merged(const Value& a, const Value& b) {
  if (a.isTensor() && b.isTensor()) return merged(a.tensor(), b.tensor());
  if (a.asSymInt() && b.asSymInt()) return mergedSize(*a.asSymInt(), *b.asSymInt());
  if (!a.isList() || !b.isList() || a.list().size() != b.list().size()) return a;
  ValueList items;
  for (std::size_t i = 0; i < a.list().size(); ++i) items.push_back(merged(a.list()[i], b.list()[i]));
  return items;
}

Result<Value> runCond(const HigherOrderCall& call) {
  if (call.args.empty()) return fail(ErrorCode::ShapeMismatch, "cond: the condition is missing");
  KERF_TRY(const bool taken, truthOf(call, call.args[0]));
  KERF_TRY(const std::string path, call.graph(taken ? 1 : 2));
  KERF_TRY(Value result, call.run(path, call.list(3, "operands")));
  const bool isOpen = call.args[0].as<SymNumber>() || (call.args[0].isTensor() && !call.args[0].tensor().defined());
  if (!call.shapesOnly || !isOpen) return result;
  KERF_TRY(const std::string elsePath, call.graph(2));
  const auto other = call.run(elsePath, call.list(3, "operands"));
  return other && ShapeEnv::current() != nullptr ? merged(result, *other) : result;
}

ValueList joined(ValueList first, const ValueList& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

Result<Value> endless(const HigherOrderCall& call) {
  return fail(ErrorCode::TooLarge, "{}: more than {} iterations", call.name, loopLimit());
}

/// What one iteration gave as what all of them give: the numbers differ.
ValueList afterLoop(ValueList carried) {
  ShapeEnv* env = ShapeEnv::current();
  for (Value& value : carried)
    if (env != nullptr && value.asSymInt()) value = env->addUnbacked({});
  return carried;
}

/// Carried values after each iteration; `visit` sees them.
template <class Visit>
Result<ValueList> loop(const HigherOrderCall& call, Visit visit) {
  KERF_TRY(const std::string condition, call.graph(0));
  KERF_TRY(const std::string body, call.graph(1));
  ValueList carried = call.list(2, "carried_inputs");
  const ValueList additional = call.list(3, "additional_inputs");
  for (std::int64_t i = 0; i <= loopLimit(); ++i) {
    if (!call.shapesOnly) {
      KERF_TRY(const Value goesOn, call.run(condition, joined(carried, additional)));
      KERF_TRY(const bool again,
               truthOf(call, goesOn.isList() && goesOn.list().size() == 1 ? goesOn.list()[0] : goesOn));
      if (!again) return carried;
    } else {
      (void)call.run(condition, joined(carried, additional));  // both graphs are shown their operands
    }
    KERF_TRY(const Value next, call.run(body, joined(carried, additional)));
    ValueList parts = partsOf(next);
    if (parts.size() != carried.size())
      return fail(ErrorCode::ShapeMismatch, "{}: the body gives {} values for {} carried ones", call.name, parts.size(),
                  carried.size());
    carried = std::move(parts);
    visit(carried);
    if (call.shapesOnly) return afterLoop(std::move(carried));
  }
  return std::unexpected(endless(call).error());
}

Result<Value> runWhileLoop(const HigherOrderCall& call) {
  KERF_TRY(ValueList carried, loop(call, [](const ValueList&) {}));
  return Value(std::move(carried));
}

/// One value of every iteration → one tensor, stacked along a new first dimension.
Result<Value> stacked(const HigherOrderCall& call, ValueList items) {
  for (Value& item : items)
    if (!item.isTensor()) return Value();
  return call.aten("stack.default", {Value(std::move(items)), Value(std::int64_t{0})});
}

/// As many values as there are iterations, all like `item`, stacked.
Result<Value> stackedLike(const HigherOrderCall& call, const Value& item, SymInt length) {
  if (!item.isTensor()) return Value();
  ValueList sizes{Value(length)};
  for (const SymInt size : item.tensor().symSizes()) sizes.emplace_back(size);
  return call.aten("new_empty.default", {item, Value(std::move(sizes))});
}

/// Rows of iterations → one stacked value per column. Where only shapes matter there is one row, which counts for
/// `length`.
Result<ValueList> stackedColumns(const HigherOrderCall& call, const std::vector<ValueList>& rows, SymInt length) {
  ValueList result;
  if (call.shapesOnly && !rows.empty()) {
    for (const Value& item : rows[0]) {
      KERF_TRY(Value value, stackedLike(call, item, length));
      result.push_back(std::move(value));
    }
    return result;
  }
  for (std::size_t column = 0; !rows.empty() && column < rows[0].size(); ++column) {
    ValueList items;
    for (const ValueList& row : rows) {
      if (row.size() != rows[0].size())
        return fail(ErrorCode::ShapeMismatch, "{}: the body gives {} values, then {}", call.name, rows[0].size(),
                    row.size());
      items.push_back(row[column]);
    }
    KERF_TRY(Value value, stacked(call, std::move(items)));
    result.push_back(std::move(value));
  }
  return result;
}

Result<Value> runWhileLoopStacked(const HigherOrderCall& call) {
  std::vector<ValueList> rows;
  KERF_CHECK(loop(call, [&](const ValueList& carried) { rows.push_back(carried); }));
  const bool isOpen = call.shapesOnly && ShapeEnv::current() != nullptr;
  const SymInt length = isOpen ? ShapeEnv::current()->addUnbacked({0, ValueRange::greatest}) : SymInt(rows.size());
  KERF_TRY(ValueList result, stackedColumns(call, rows, length));
  return Value(std::move(result));
}

/// Common length of the first dimension of all tensors in `xs`.
Result<SymInt> lengthOf(const HigherOrderCall& call, const ValueList& xs) {
  std::optional<SymInt> length;
  for (const Value& x : xs) {
    if (!x.isTensor()) continue;
    if (x.tensor().dim() == 0)
      return fail(ErrorCode::ShapeMismatch, "{}: a scanned tensor has no dimensions", call.name);
    const SymInt rows = x.tensor().symSize(0);
    if (length && !guardOrTrue(rows == *length))
      return fail(ErrorCode::ShapeMismatch, "{}: scanned tensors of {} and {} rows", call.name, *length, rows);
    length = rows;
  }
  if (!length || !guardOrTrue(*length > 0))
    return fail(ErrorCode::ShapeMismatch, "{}: there is nothing to scan", call.name);
  if (!length->isSymbolic() && *length > maximumIterations) return std::unexpected(endless(call).error());
  return *length;
}

Result<ValueList> rowOf(const HigherOrderCall& call, const ValueList& xs, std::int64_t index) {
  ValueList result;
  for (const Value& x : xs) {
    if (!x.isTensor()) {
      result.push_back(x);
      continue;
    }
    KERF_TRY(Value row, call.aten("select.int", {x, Value(std::int64_t{0}), Value(index)}));
    result.push_back(std::move(row));
  }
  return result;
}

/// Iterations that need running: all, or one where only shapes matter.
std::int64_t iterations(const HigherOrderCall& call, SymInt length) {
  return call.shapesOnly ? 1 : std::int64_t{length};
}

/// scan(combine, init, xs, additional) → carry… and stacked outputs… Before 2.6: (combine, init, xs, dim, reverse,
/// additional).
Result<Value> runScan(const HigherOrderCall& call) {
  KERF_TRY(const std::string combine, call.graph(0));
  ValueList carry = call.list(1, "init");
  const ValueList xs = call.list(2, "xs");
  const bool old = call.args.size() > 3 && call.args[3].as<std::int64_t>();
  if (old && *call.args[3].as<std::int64_t>() != 0)
    return fail(ErrorCode::UnsupportedOp, "scan: only dimension 0 can be scanned");
  const bool backwards = old && call.args.size() > 4 && call.args[4].as<bool>() && *call.args[4].as<bool>();
  const ValueList additional = old ? call.list(5, "additional_inputs") : call.list(3, "additional_inputs");
  KERF_TRY(const SymInt length, lengthOf(call, xs));
  const std::size_t carried = carry.size();
  std::vector<ValueList> rows;
  const std::int64_t count = iterations(call, length);
  for (std::int64_t i = 0; i < count; ++i) {
    KERF_TRY(const ValueList row, rowOf(call, xs, backwards ? count - 1 - i : i));
    KERF_TRY(const Value step, call.run(combine, joined(joined(carry, row), additional)));
    const ValueList parts = partsOf(step);
    if (parts.size() < carried) return fail(ErrorCode::ShapeMismatch, "scan: the body gives too few values");
    const auto split = parts.begin() + std::ptrdiff_t(carried);
    carry.assign(parts.begin(), split);
    rows.emplace_back(split, parts.end());
  }
  if (backwards) std::ranges::reverse(rows);
  KERF_TRY(const ValueList outputs, stackedColumns(call, rows, length));
  return Value(joined(std::move(carry), outputs));
}

/// associative_scan(combine, xs, additional): running combination of rows, from the left.
Result<Value> runAssociativeScan(const HigherOrderCall& call) {
  KERF_TRY(const std::string combine, call.graph(0));
  const ValueList xs = call.list(1, "xs");
  const ValueList additional = call.list(2, "additional_inputs");
  KERF_TRY(const SymInt length, lengthOf(call, xs));
  KERF_TRY(ValueList total, rowOf(call, xs, 0));
  if (call.shapesOnly) (void)call.run(combine, joined(joined(total, total), additional));  // it is shown its operands
  std::vector<ValueList> rows{total};
  for (std::int64_t i = 1; i < iterations(call, length); ++i) {
    KERF_TRY(const ValueList row, rowOf(call, xs, i));
    KERF_TRY(const Value next, call.run(combine, joined(joined(total, row), additional)));
    total = partsOf(next);
    rows.push_back(total);
  }
  KERF_TRY(ValueList outputs, stackedColumns(call, rows, length));
  return Value(std::move(outputs));
}

Result<Value> runMap(const HigherOrderCall& call) {
  KERF_TRY(const std::string body, call.graph(0));
  const ValueList xs = call.list(1, "xs");
  const ValueList additional = call.list(2, "pos_args");
  KERF_TRY(const SymInt length, lengthOf(call, xs));
  std::vector<ValueList> rows;
  for (std::int64_t i = 0; i < iterations(call, length); ++i) {
    KERF_TRY(const ValueList row, rowOf(call, xs, i));
    KERF_TRY(const Value step, call.run(body, joined(row, additional)));
    rows.push_back(partsOf(step));
  }
  KERF_TRY(ValueList outputs, stackedColumns(call, rows, length));
  return Value(std::move(outputs));
}

constexpr HigherOrderRow loopRowsTable[] = {
    {"cond", runCond},
    {"while_loop", runWhileLoop},
    {"while_loop_stack_output", runWhileLoopStacked},
    {"scan", runScan},
    {"associative_scan", runAssociativeScan},
    {"map_impl", runMap},
    {"map", runMap},
};

}  // namespace

HigherOrderRows loopRows() { return loopRowsTable; }

}  // namespace kerf::inline ops
