#include "engine/autograd/batch_rules.h"

#include <algorithm>

#include "engine/autograd/written_call.h"

namespace kerf::inline autograd {
namespace {

using MaybeValue = std::optional<Result<Value>>;

Result<Value> callBound(const OpInfo& op, ValueList values, const OpRunner& run) {
  const AutocastCall written = asWritten({&op, std::move(values)});
  return run.value(op.id, written.args, written.kwargs);
}

SymSizes sizesWith(SymInt first, const SymSizes& rest, std::int64_t rank) {
  SymSizes sizes{first};
  for (std::int64_t d = std::int64_t(rest.size()); d < rank; ++d) sizes.push_back(1);
  sizes.append(rest.begin(), rest.end());
  return sizes;
}

/// Examples as a tensor of `rank` dimensions behind the first, so that each broadcasts as it would alone.
Result<Value> aligned(const BatchedCall& call, const Tensor& one, std::int64_t rank, const OpRunner& run) {
  const Tensor* all = call.physical(one);
  if (all == nullptr) return Value(one);
  if (one.dim() == rank) return Value(*all);
  return run.value("aten.view.default"_op, {Value(*all), intList(sizesWith(call.size, one.symSizes(), rank))});
}

/// All examples of a tensor, also of one that they share.
Result<Value> wholeOf(const BatchedCall& call, const Tensor& one, const OpRunner& run) {
  if (const Tensor* all = call.physical(one)) return Value(*all);
  return run.value("aten.expand.default"_op, {Value(one), intList(sizesWith(call.size, one.symSizes(), 0))});
}

MaybeValue pointwise(const BatchedCall& call, const OpRunner& run) {
  std::int64_t rank = 0;
  for (const SchemaArgument& argument : call.bound.op->schema.arguments)
    if (argument.name == "reduction") return {};  // the mean is one of each example
  for (const Value& value : call.bound.values) {
    if (value.isList() && !value.list().empty() && value.list()[0].isTensor()) return {};
    if (value.isTensor()) rank = std::max(rank, value.tensor().dim());
  }
  ValueList values = call.bound.values;
  for (Value& value : values)
    if (value.isTensor()) {
      auto wide = aligned(call, value.tensor(), rank, run);
      if (!wide) return wide;
      value = std::move(*wide);
    }
  return callBound(*call.bound.op, std::move(values), run);
}

/// clone, _to_copy, zeros_like: whatever the sizes are.
MaybeValue sameOnAll(const BatchedCall& call, const OpRunner& run) {
  ValueList values = call.bound.values;
  values[0] = Value(*call.physical(values[0].tensor()));
  return callBound(*call.bound.op, std::move(values), run);
}

/// view, expand, new_zeros: sizes get the number of examples in front.
MaybeValue ofSizes(const BatchedCall& call, const OpRunner& run) {
  const Tensor& one = call.bound.tensor(0);
  SymSizes sizes{call.size};
  const SymSizes own = call.bound.symSizes(1);
  sizes.append(own.begin(), own.end());
  const bool expands = call.bound.op->id == "aten.expand.default"_op;
  auto whole =
      aligned(call, one, expands ? std::max<std::int64_t>(one.dim(), std::int64_t(own.size())) : one.dim(), run);
  if (!whole) return whole;
  const bool views = call.bound.op->id == "aten.view.default"_op || call.bound.op->id == "aten._unsafe_view.default"_op;
  if (views) return run.value("aten.reshape.default"_op, {*whole, intList(sizes)});
  ValueList values = call.bound.values;
  values[0] = *whole;
  values[1] = intList(sizes);
  return callBound(*call.bound.op, std::move(values), run);
}

/// A dimension of an example as one of all of them.
std::int64_t shifted(std::int64_t dim, std::int64_t rank) {
  return (dim < 0 ? dim + std::max<std::int64_t>(rank, 1) : dim) + 1;
}

Value shiftedDims(const Value& dims, std::int64_t rank) {
  if (const auto* dim = dims.as<std::int64_t>()) return Value(shifted(*dim, rank));
  ValueList items;
  if (dims.isList())
    for (const Value& item : dims.list())
      if (const auto* dim = item.as<std::int64_t>()) items.emplace_back(shifted(*dim, rank));
  if (items.empty())
    for (std::int64_t d = 0; d < rank; ++d) items.emplace_back(d + 1);
  return Value(std::move(items));
}

/// Ops that work along dimensions; None and an empty list stand for all.
MaybeValue alongDims(const BatchedCall& call, const OpRunner& run) {
  const Tensor& one = call.bound.tensor(0);
  const Tensor* all = call.physical(one);
  if (all == nullptr || one.dim() == 0) return {};
  const std::int64_t rank = one.dim() + (call.bound.op->id == "aten.unsqueeze.default"_op ? 1 : 0);
  ValueList values = call.bound.values;
  values[0] = Value(*all);
  const auto& arguments = call.bound.op->schema.arguments;
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (values[i].isTensor()) return {};
    if (!arguments[i].name.starts_with("dim")) continue;
    if (values[i].isNone() && arguments[i].type.find('[') == std::string::npos) return {};
    values[i] = shiftedDims(values[i], rank);
  }
  return callBound(*call.bound.op, std::move(values), run);
}

/// sum and mean of everything.
MaybeValue ofAllElements(const BatchedCall& call, const OpRunner& run) {
  const Tensor& one = call.bound.tensor(0);
  if (one.dim() == 0) return {};
  const bool isMean = call.bound.op->id == "aten.mean.default"_op;
  KeywordValues keywords;
  if (!call.bound.values[1].isNone()) keywords.emplace_back("dtype", call.bound.values[1]);
  return run.value(isMean ? "aten.mean.dim"_op : "aten.sum.dim_IntList"_op,
                   {Value(*call.physical(one)), shiftedDims({}, one.dim())}, keywords);
}

MaybeValue permuted(const BatchedCall& call, const OpRunner& run) {
  const Tensor& one = call.bound.tensor(0);
  ValueList order{Value(std::int64_t{0})};
  if (call.bound.op->id == "aten.t.default"_op) {
    for (std::int64_t d = one.dim(); d > 0; --d) order.emplace_back(d);
  } else {
    for (const std::int64_t dim : call.bound.sizes(1)) order.emplace_back(shifted(dim, one.dim()));
  }
  return run.value("aten.permute.default"_op, {Value(*call.physical(one)), Value(std::move(order))});
}

/// cat and stack
MaybeValue joined(const BatchedCall& call, const OpRunner& run) {
  ValueList tensors;
  std::int64_t rank = call.bound.op->id == "aten.stack.default"_op ? 1 : 0;
  for (const Tensor& one : call.bound.tensors(0)) {
    auto whole = wholeOf(call, one, run);
    if (!whole) return whole;
    tensors.push_back(std::move(*whole));
  }
  if (tensors.empty()) return {};
  rank += tensors[0].tensor().dim() - 1;
  const std::int64_t dim = shifted(call.bound.integer(1), rank);
  return run.value(call.bound.op->id, {Value(std::move(tensors)), Value(dim)});
}

/// mm, mv, dot, bmm: matmul has dimensions in front of its matrices.
MaybeValue products(const BatchedCall& call, const OpRunner& run) {
  const Tensor &left = call.bound.tensor(0), &right = call.bound.tensor(1);
  const auto plain = [&](const Tensor& one) { return Value(call.physical(one) ? *call.physical(one) : one); };
  const Value last(std::int64_t{-1});
  Value a = plain(left), b = plain(right);
  const bool column = right.dim() == 1, row = left.dim() == 1;
  const auto widened = [&](Value& value, std::int64_t dim) -> Result<void> {
    KERF_TRY(value, run.value("aten.unsqueeze.default"_op, {value, Value(dim)}));
    return {};
  };
  if (column)
    if (const auto done = widened(b, -1); !done) return fail(done.error());
  if (row)
    if (const auto done = widened(a, -2); !done) return fail(done.error());
  auto product = run.value("aten.matmul.default"_op, {a, b});
  if (product && column) product = run.value("aten.squeeze.dim"_op, {*product, last});
  if (product && row) product = run.value("aten.squeeze.dim"_op, {*product, last});
  return product;
}

/// index(self, indices): where examples share one of them.
MaybeValue indexed(const BatchedCall& call, const OpRunner& run) {
  const Tensor& self = call.bound.tensor(0);
  const Tensor* all = call.physical(self);
  const ValueList& given = call.bound.values[1].list();
  ValueList indices;
  if (all != nullptr) {
    for (const Value& index : given)
      if (index.isTensor() && call.physical(index.tensor()) != nullptr) return {};
    indices.emplace_back();
    indices.insert(indices.end(), given.begin(), given.end());
    return run.value("aten.index.Tensor"_op, {Value(*all), Value(std::move(indices))});
  }
  std::int64_t rank = 0;
  bool ended = false;
  for (const Value& index : given) {
    if (!index.isTensor()) {
      ended = true;
      continue;
    }
    if (ended || index.tensor().dtype() == DType::Bool) return {};  // the first dimensions alone, one after the other
    rank = std::max(rank, index.tensor().dim());
  }
  for (const Value& index : given) {
    if (!index.isTensor()) {
      indices.push_back(index);
      continue;
    }
    auto wide = aligned(call, index.tensor(), rank, run);
    if (!wide) return wide;
    indices.push_back(std::move(*wide));
  }
  return run.value("aten.index.Tensor"_op, {Value(self), Value(std::move(indices))});
}

struct BatchRule {
  std::string_view names;  ///< without "aten.", with spaces between
  MaybeValue (*run)(const BatchedCall&, const OpRunner&);
};
constexpr BatchRule batchRules[] = {
    {"clone.default _to_copy.default alias.default detach.default zeros_like.default ones_like.default "
     "full_like.default empty_like.default lift_fresh.default contiguous.default",
     sameOnAll},
    {"view.default _unsafe_view.default expand.default new_zeros.default new_ones.default new_full.default "
     "new_empty.default",
     ofSizes},
    {"sum.dim_IntList mean.dim amax.default amin.default var.correction std.correction logsumexp.default any.dim "
     "any.dims all.dim all.dims prod.dim_int argmax.default argmin.default max.dim min.dim cumsum.default "
     "cumprod.default _softmax.default _log_softmax.default softmax.int log_softmax.int select.int slice.Tensor "
     "transpose.int unsqueeze.default squeeze.dim squeeze.dims flip.default linalg_vector_norm.default sort.default",
     alongDims},
    {"sum.default mean.default", ofAllElements},
    {"permute.default t.default", permuted},
    {"cat.default stack.default", joined},
    {"mm.default mv.default dot.default bmm.default", products},
    {"index.Tensor", indexed},
};

bool holds(std::string_view names, std::string_view name) {
  for (std::size_t at = names.find(name); at != names.npos; at = names.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at == 0 || names[at - 1] == ' ') && (end == names.size() || names[end] == ' ')) return true;
  }
  return false;
}

}  // namespace

std::optional<Result<Value>> callOnExamples(const BatchedCall& call, const OpRunner& run) {
  const OpInfo& op = *call.bound.op;
  if (has(op.traits, OpTrait::Pointwise)) return pointwise(call, run);
  std::string name = op.schema.qualifiedName();
  if (!name.starts_with("aten.") || call.bound.values.empty()) return {};
  name.erase(0, 5);
  for (const BatchRule& rule : batchRules)
    if (holds(rule.names, name)) {
      const bool needsFirst = rule.run != joined && rule.run != products && rule.run != indexed;
      if (needsFirst && (!call.bound.values[0].isTensor() || call.physical(call.bound.tensor(0)) == nullptr)) return {};
      return rule.run(call, run);
    }
  return {};
}

}  // namespace kerf::inline autograd
