// Binds positional and keyword values to a schema: names, defaults, and the conversions that PyTorch's parser does.
#include "engine/ops/core/op_call.h"
#include "engine/ops/core/op_row.h"
#include "engine/symbolic/shape_env.h"

namespace kerf::inline ops {
namespace {

std::string describe(const Value& value) {
  struct Namer {
    std::string operator()(std::monostate) const { return "None"; }
    std::string operator()(bool) const { return "a bool"; }
    std::string operator()(std::int64_t) const { return "an int"; }
    std::string operator()(double) const { return "a float"; }
    std::string operator()(const std::string&) const { return "a str"; }
    std::string operator()(DType) const { return "a dtype"; }
    std::string operator()(const Device&) const { return "a device"; }
    std::string operator()(Layout) const { return "a layout"; }
    std::string operator()(MemoryFormat) const { return "a memory format"; }
    std::string operator()(const Tensor&) const { return "a Tensor"; }
    std::string operator()(const std::shared_ptr<const ValueList>&) const { return "a list"; }
    std::string operator()(const SymNumber& number) const {
      constexpr std::string_view names[] = {"a SymInt", "a SymFloat", "a SymBool"};
      return std::string(names[std::size_t(number.kind)]);
    }
  };
  return std::visit(Namer{}, value.variant());
}

/// The only element of a 0-d tensor as a number; none where there is no data or more than one element.
Value itemOf(const Tensor& tensor) {
  if (!tensor.defined() || tensor.dim() != 0 || isComplex(tensor.dtype())) return {};
  if (tensor.dtype() == DType::Bool) return Value(tensor.itemAsInt() != 0);
  if (isIntegral(tensor.dtype())) return Value(tensor.itemAsInt());
  return Value(tensor.itemAsDouble());
}

std::optional<Value> toInt(const Value& value) {
  if (value.asSymInt()) return value;
  if (const auto* flag = value.as<bool>()) return Value(std::int64_t{*flag});
  if (value.isTensor() && isIntegral(value.tensor().dtype()))
    if (Value item = itemOf(value.tensor()); !item.isNone()) return toInt(item);
  return {};
}

std::optional<Value> toScalar(const Value& value) {
  if (isNumber(value)) return value;
  if (!value.isTensor()) return {};
  const Tensor& tensor = value.tensor();
  if (Value item = itemOf(tensor); !item.isNone()) return item;
  const bool shapeOnly = !tensor.defined() && tensor.dim() == 0;  // a number that only a shape rule will see
  if (shapeOnly) return isIntegral(tensor.dtype()) ? Value(std::int64_t{0}) : Value(0.0);
  return {};
}

std::optional<Value> toFloat(const Value& value) {
  const auto scalar = toScalar(value);
  if (!scalar) return {};
  if (const auto* integer = scalar->as<std::int64_t>()) return Value(double(*integer));
  if (const auto* flag = scalar->as<bool>()) return Value(*flag ? 1.0 : 0.0);
  return scalar;
}

std::optional<Value> toBool(const Value& value) {
  if (value.as<bool>()) return value;
  if (const auto* integer = value.as<std::int64_t>()) return Value(*integer != 0);
  if (const auto* symbolic = value.as<SymNumber>(); symbolic && ShapeEnv::current())
    return Value(ShapeEnv::current()->specialiseReal(symbolic->value) != 0);
  return {};
}

std::optional<Value> toText(const Value& value) {
  if (value.as<std::string>()) return value;
  return {};
}

std::optional<Value> toDtype(const Value& value) {
  if (value.as<DType>()) return value;
  return {};
}

std::optional<Value> toTensor(const Value& value) {
  if (value.isTensor()) return value;
  if (const auto* number = value.as<double>()) return Value(Tensor::scalar(*number, DType::Float64));
  if (const auto* integer = value.as<std::int64_t>()) return Value(Tensor::scalarInt(*integer, DType::Int64));
  if (const auto* flag = value.as<bool>()) return Value(Tensor::scalarInt(*flag, DType::Bool));
  if (const auto* symbolic = value.as<SymNumber>()) {
    constexpr DType types[] = {DType::Int64, DType::Float64, DType::Bool};
    return Value(Tensor(nullptr, types[std::size_t(symbolic->kind)], {}, {}));
  }
  return {};
}

std::optional<Value> anything(const Value& value) { return value; }

struct TypeRule {
  std::string_view type;
  std::optional<Value> (*convert)(const Value&);
};

constexpr TypeRule typeRules[] = {
    {"Tensor", toTensor},
    {"int", toInt},
    {"SymInt", toInt},
    {"float", toFloat},
    {"Scalar", toScalar},
    {"bool", toBool},
    {"str", toText},
    {"ScalarType", toDtype},
    {"Layout", anything},
    {"Device", anything},
    {"MemoryFormat", anything},
    {"Generator", anything},
    {"Any", anything},
    {"Stream", anything},
    {"Dimname", anything},
    {"SymFloat", toFloat},
    {"SymBool", toBool},
};

std::optional<Value> convertSingle(const Value& value, std::string_view type) {
  bool optional = false;
  if (type.ends_with('?')) {
    optional = true;
    type.remove_suffix(1);
  }
  if (value.isNone() && (optional || type == "Any" || type == "Generator")) return value;
  for (const TypeRule& rule : typeRules)
    if (rule.type == type) return rule.convert(value);
  return {};
}

/// Splits "int[2]" into "int" and 2; -1 where no length is given; empty element type where it is no list.
std::pair<std::string_view, std::int64_t> listType(std::string_view type) {
  const auto open = type.rfind('[');
  if (open == std::string_view::npos || !type.ends_with(']')) return {{}, -1};
  std::int64_t length = -1;
  for (char c : type.substr(open + 1, type.size() - open - 2)) length = (length < 0 ? 0 : length * 10) + (c - '0');
  return {type.substr(0, open), length};
}

std::optional<Value> convert(const Value& value, std::string_view type);

/// A single value where a fixed-length int list is wanted stands for all of its items.
std::optional<Value> convertList(const Value& value, std::string_view element, std::int64_t length) {
  ValueList items;
  if (!value.isList()) {
    const auto single = length > 0 && element != "Tensor" ? convertSingle(value, element) : std::nullopt;
    if (!single) return {};
    items.assign(std::size_t(length), *single);
    return Value(std::move(items));
  }
  for (const Value& item : value.list()) {
    const auto converted = element.ends_with(']') ? convert(item, element) : convertSingle(item, element);
    if (!converted) return {};
    items.push_back(*converted);
  }
  if (length > 1 && items.size() == 1 && element != "bool") items.assign(std::size_t(length), items[0]);
  return Value(std::move(items));
}

std::optional<Value> convert(const Value& value, std::string_view type) {
  std::string_view inner = type;
  const bool optional = inner.ends_with('?') && inner.find('[') != std::string_view::npos;
  if (optional) {
    if (value.isNone()) return value;
    inner.remove_suffix(1);
  }
  if (const auto [element, length] = listType(inner); !element.empty()) return convertList(value, element, length);
  return convertSingle(value, type);
}

Result<Value> bindOne(const OpInfo& op, const SchemaArgument& argument, const Value& value) {
  if (op.row && op.row->pointwise && isNumber(value) && argument.type.starts_with("Tensor")) return value;
  auto converted = convert(value, argument.type);
  if (converted) return std::move(*converted);
  return fail(ErrorCode::ShapeMismatch, "{}: argument '{}' must be {}, got {}", op.schema.qualifiedName(),
              argument.name, argument.type, describe(value));
}

Result<void> placeValues(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs,
                         std::vector<const Value*>& slots) {
  const auto& arguments = op.schema.arguments;
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (i >= arguments.size() || arguments[i].keywordOnly)
      return fail(ErrorCode::ShapeMismatch, "{}: takes at most {} positional arguments, got {}",
                  op.schema.qualifiedName(), i, args.size());
    slots[i] = &args[i];
  }
  for (const auto& [name, value] : kwargs) {
    std::size_t i = 0;
    while (i < arguments.size() && arguments[i].name != name) ++i;
    if (i == arguments.size())
      return fail(ErrorCode::ShapeMismatch, "{}: has no argument '{}'", op.schema.qualifiedName(), name);
    if (slots[i])
      return fail(ErrorCode::ShapeMismatch, "{}: argument '{}' given twice", op.schema.qualifiedName(), name);
    slots[i] = &value;
  }
  return {};
}

}  // namespace

Result<BoundArguments> bindArguments(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs) {
  const auto& arguments = op.schema.arguments;
  std::vector<const Value*> slots(arguments.size(), nullptr);
  KERF_CHECK(placeValues(op, args, kwargs, slots));
  BoundArguments bound{&op, {}};
  bound.values.reserve(arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!slots[i]) {
      if (!op.defaults[i])
        return fail(ErrorCode::ShapeMismatch, "{}: argument '{}' is missing", op.schema.qualifiedName(),
                    arguments[i].name);
      bound.values.push_back(*op.defaults[i]);
      continue;
    }
    KERF_TRY(Value value, bindOne(op, arguments[i], *slots[i]));
    bound.values.push_back(std::move(value));
  }
  return bound;
}

}  // namespace kerf::inline ops
