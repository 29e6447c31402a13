// auto_functionalized and auto_functionalized_v2: a mutating op run on copies, which come back as results.
#include "engine/ops/higher_order/higher_order.h"

namespace kerf::inline ops {
namespace {

const Value* keyword(const HigherOrderCall& call, const std::string& name) {
  for (const auto& [key, value] : call.kwargs)
    if (key == name) return &value;
  return nullptr;
}

Result<const OpInfo*> wrappedOp(const HigherOrderCall& call) {
  const std::string* name = call.args.empty() ? nullptr : call.args[0].as<std::string>();
  if (name == nullptr) return fail(ErrorCode::ShapeMismatch, "{}: argument 0 must be an op", call.name);
  const OpInfo* op = findOp(*name);
  if (op == nullptr) return fail(ErrorCode::UnsupportedOp, "no kernel for {}", *name);
  return op;
}

bool isMutated(const SchemaArgument& argument) { return argument.alias.find('!') != std::string::npos; }

Result<Value> copyOf(const HigherOrderCall& call, const Value& value) {
  if (value.isTensor()) {
    if (call.shapesOnly || !value.tensor().defined()) return value;
    KERF_TRY(Tensor copy, value.tensor().clonePreservingStrides());
    copy.setDevice(value.tensor().device());
    return Value(std::move(copy));
  }
  if (!value.isList()) return value;
  ValueList items;
  for (const Value& item : value.list()) {
    KERF_TRY(Value copy, copyOf(call, item));
    items.push_back(std::move(copy));
  }
  return Value(std::move(items));
}

/// The op's results as torch lists them: none, one, or several.
ValueList outputsOf(const OpInfo& op, const Value& result) {
  return op.schema.returns.size() > 1 ? partsOf(result) : ValueList{op.schema.returns.empty() ? Value() : result};
}

/// auto_functionalized(op, **arguments) → (results…, mutated arguments…)
Result<Value> runFunctionalized(const HigherOrderCall& call) {
  KERF_TRY(const OpInfo* op, wrappedOp(call));
  KeywordValues arguments;
  ValueList mutated;
  for (const auto& [key, value] : call.kwargs) {
    arguments.emplace_back(key, value);
    for (const SchemaArgument& argument : op->schema.arguments) {
      if (argument.name != key || !isMutated(argument)) continue;
      KERF_TRY(arguments.back().second, copyOf(call, value));
      mutated.push_back(arguments.back().second);
    }
  }
  KERF_TRY(const Value result, call.ops.call(op->schema.qualifiedName(), {}, arguments));
  ValueList out = outputsOf(*op, result);
  out.insert(out.end(), mutated.begin(), mutated.end());
  return Value(std::move(out));
}

/// Reads the view that the keywords under `prefix` describe of one of the copied bases.
Result<Value> viewOfBase(const HigherOrderCall& call, const std::string& prefix, const ValueList& bases) {
  const Value* index = keyword(call, prefix + "_base_index");
  if (index == nullptr || index->isNone()) return Value();
  const auto* at = index->as<std::int64_t>();
  if (at == nullptr || *at < 0 || std::size_t(*at) >= bases.size())
    return fail(ErrorCode::ShapeMismatch, "{}: '{}_base_index' names no base", call.name, prefix);
  const Value& base = bases[std::size_t(*at)];
  if (const Value* offset = keyword(call, prefix + "_storage_offset")) {
    const Value* size = keyword(call, prefix + "_size");
    const Value* stride = keyword(call, prefix + "_stride");
    if (size == nullptr || stride == nullptr)
      return fail(ErrorCode::ShapeMismatch, "{}: '{}_size' or '{}_stride' is missing", call.name, prefix, prefix);
    return call.aten("as_strided.default", {base, *size, *stride, *offset});
  }
  const Value* dim = keyword(call, prefix + "_slice_dim");
  if (dim == nullptr) return base;
  const Value* start = keyword(call, prefix + "_slice_start");
  const Value* end = keyword(call, prefix + "_slice_end");
  return call.aten("slice.Tensor", {base, *dim, start ? *start : Value(), end ? *end : Value()});
}

Result<Value> mutatedArgument(const HigherOrderCall& call, const std::string& name, const ValueList& bases) {
  const Value* length = keyword(call, "_" + name + "_length");
  const auto* count = length ? length->as<std::int64_t>() : nullptr;
  if (count == nullptr) return viewOfBase(call, "_" + name, bases);
  if (*count < 0 || *count > 10'000)
    return fail(ErrorCode::TooLarge, "{}: {} tensors in '{}'", call.name, *count, name);
  ValueList items;
  for (std::int64_t i = 0; i < *count; ++i) {
    KERF_TRY(Value item, viewOfBase(call, fmt::format("_{}_{}", name, i), bases));
    items.push_back(std::move(item));
  }
  return Value(std::move(items));
}

/// auto_functionalized_v2(op, **arguments, _x_base_index=…, _all_bases=[…]) → (results…, changed bases…)
Result<Value> runFunctionalizedV2(const HigherOrderCall& call) {
  KERF_TRY(const OpInfo* op, wrappedOp(call));
  const Value* given = keyword(call, "_all_bases");
  if (given == nullptr || !given->isList())
    return fail(ErrorCode::ShapeMismatch, "{}: '_all_bases' is missing", call.name);
  KERF_TRY(const Value copies, copyOf(call, *given));
  const ValueList& bases = copies.list();
  KeywordValues arguments;
  for (const SchemaArgument& argument : op->schema.arguments) {
    if (isMutated(argument)) {
      KERF_TRY(Value value, mutatedArgument(call, argument.name, bases));
      arguments.emplace_back(argument.name, std::move(value));
    } else if (const Value* value = keyword(call, argument.name)) {
      arguments.emplace_back(argument.name, *value);
    }
  }
  KERF_TRY(const Value result, call.ops.call(op->schema.qualifiedName(), {}, arguments));
  ValueList out = outputsOf(*op, result);
  out.insert(out.end(), bases.begin(), bases.end());
  return Value(std::move(out));
}

constexpr HigherOrderRow functionalRowsTable[] = {
    {"auto_functionalized", runFunctionalized},
    {"auto_functionalized_v2", runFunctionalizedV2},
};

}  // namespace

HigherOrderRows functionalRows() { return functionalRowsTable; }

}  // namespace kerf::inline ops
