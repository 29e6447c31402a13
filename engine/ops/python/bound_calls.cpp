// Calls of ATen overloads whose parameters are known by name.
#include <algorithm>
#include <charconv>

#include "engine/ops/core/op_call.h"
#include "engine/ops/python/bind_python_call.h"
#include "engine/ops/python/call_values.h"
#include "engine/ops/python/out_argument.h"
#include "engine/ops/python/python_level.h"

namespace kerf::inline ops {
namespace {

/// Whether an argument is what the schema gives it anyway.
bool isDefault(const Value& value, const std::optional<Value>& byDefault) {
  if (!byDefault) return false;
  const auto equal = [&]<class T>() {
    return value.as<T>() && byDefault->as<T>() && *value.as<T>() == *byDefault->as<T>();
  };
  if (value.isList() && byDefault->isList())
    return value.list().size() == byDefault->list().size() &&
           std::ranges::equal(value.list(), byDefault->list(),
                              [](const Value& a, const Value& b) { return isDefault(a, std::optional(b)); });
  return (value.isNone() && byDefault->isNone()) || equal.template operator()<bool>() ||
         equal.template operator()<std::int64_t>() || equal.template operator()<double>() ||
         equal.template operator()<std::string>();
}

/// The values of a form's parameters, by position in it; none for what was not given.
class Given {
 public:
  Given(const BoundForm& bound, const ValueList& args, const KeywordValues& kwargs)
      : m_bound(bound), m_args(args), m_kwargs(kwargs), m_first(bound.callable->isMethod ? 1 : 0) {}

  std::optional<Value> at(int parameter) const {
    if (parameter == -2) return m_args[0];
    if (parameter < 0) return {};
    const ParameterSlot& slot = m_bound.slots[std::size_t(parameter)];
    if (slot.source == SlotSource::Absent) return {};
    if (slot.source == SlotSource::Keyword) return m_kwargs[slot.index].second;
    if (slot.source == SlotSource::Positional) return m_args[m_first + slot.index];
    return Value(ValueList(m_args.begin() + std::ptrdiff_t(m_first + slot.index), m_args.end()));
  }
  std::optional<Value> named(std::string_view name) const {
    const auto& parameters = m_bound.form->parameters;
    const auto found = std::ranges::find(parameters, name, &FormParameter::name);
    return found == parameters.end() ? std::nullopt : at(int(found - parameters.begin()));
  }

 private:
  const BoundForm& m_bound;
  const ValueList& m_args;
  const KeywordValues& m_kwargs;
  std::size_t m_first;
};

}  // namespace

Result<Value> callNamed(const OpInfo& op, const KeywordValues& named, const OpCaller& ops) {
  ValueList positions;
  KeywordValues keywords;
  std::size_t used = 0;
  bool missing = false;
  for (std::size_t i = 0; i < op.schema.arguments.size(); ++i) {
    const SchemaArgument& argument = op.schema.arguments[i];
    const auto found = std::ranges::find(named, argument.name, &std::pair<std::string, Value>::first);
    const bool given = found != named.end();
    const bool differs = given && !isDefault(found->second, op.defaults[i]);
    if (argument.keywordOnly) {
      if (differs) keywords.emplace_back(argument.name, found->second);
      continue;
    }
    if (!given && !op.defaults[i]) missing = true;
    if (missing) {
      if (differs) keywords.emplace_back(argument.name, found->second);
      continue;
    }
    positions.push_back(given ? found->second : *op.defaults[i]);
    if (differs) used = positions.size();
  }
  positions.resize(used);
  return ops.call("torch.ops." + op.schema.qualifiedName(), positions, keywords);
}

Value withNumbers(const Value& value) {
  if (value.isList()) {
    ValueList items;
    for (const Value& item : value.list()) items.push_back(withNumbers(item));
    return Value(std::move(items));
  }
  if (!value.isTensor()) return value;
  const Tensor& tensor = value.tensor();
  const bool isKnown = tensor.defined() && !tensor.isSymbolic() && tensor.numel() == 1 && isIntegral(tensor.dtype()) &&
                       tensor.storage() != nullptr && tensor.storage()->data() != nullptr;
  return isKnown ? Value(tensor.itemAsInt()) : value;
}

namespace {

/// The parser takes None for some lists that ATen's schema has no None for: amax(x, None).
bool takesNone(const SchemaArgument& argument) {
  return !argument.defaultValue || !argument.type.contains('[') || argument.type.ends_with('?');
}

/// mean(integers) has no dtype, whatever out= has.
bool infersDtype(const OutCall& call) {
  if (!call.name.ends_with("mean") || call.inputs.empty() || !call.inputs[0].isTensor()) return true;
  return !isIntegral(call.inputs[0].tensor().dtype());
}

/// A function that makes its result in the dtype of out=.
void setDtypeOfOut(const OutCall& call, const Value& out, KeywordValues& named) {
  const auto& arguments = call.op->schema.arguments;
  const bool isTaken = out.isTensor() && takesDtypeOfOut(call.name) &&
                       std::ranges::find(arguments, "dtype", &SchemaArgument::name) != arguments.end();
  if (!isTaken || !infersDtype(call)) return;
  std::erase_if(named, [](const auto& entry) { return entry.first == "dtype"; });
  named.emplace_back("dtype", Value(out.tensor().dtype()));
}

}  // namespace

Result<void> checkGradientWish(std::string_view name, const std::optional<Value>& wish, const Value& result) {
  const bool* isWished = wish ? wish->as<bool>() : nullptr;
  if (isWished == nullptr || !*isWished || !result.isTensor()) return {};
  const DType dtype = result.tensor().dtype();
  if (isFloating(dtype) || isComplex(dtype)) return {};
  return fail(ErrorCode::BadInput, "{}: only floating point and complex tensors can require gradients, this is {}",
              name, dtypeInfo(dtype).torchName);
}

Result<Value> callBoundForm(const BoundForm& bound, const ValueList& args, const KeywordValues& kwargs,
                            const OpCaller& ops) {
  const CallForm& form = *bound.form;
  if (form.op == nullptr)
    return fail(ErrorCode::UnsupportedOp, "no op is called '{}' with {}", bound.callable->atenName, form.text);
  const Given given(bound, args, kwargs);
  const std::optional<Value> into = given.named("out");
  const bool writes = into && !into->isNone();
  const std::optional<Value> dtype = given.named("dtype");
  OutCall outCall{bound.callable->name, form.op, {}, dtype && !dtype->isNone()};
  KeywordValues named;
  for (std::size_t i = 0; i < form.fromSchema.size(); ++i) {
    const int from = form.fromSchema[i];
    auto value = given.at(from);
    if (!value && from >= 0)
      if (const Value* own = ownDefault(form.parameters[std::size_t(from)], form.op->defaults[i])) value = *own;
    if (value && value->isNone() && from >= 0 && !takesNone(form.op->schema.arguments[i])) value.reset();
    if (value) {
      const bool isInts = from >= 0 && form.parameters[std::size_t(from)].kind == ParameterKind::Int;
      if (writes) outCall.inputs.push_back(*value);
      named.emplace_back(form.op->schema.arguments[i].name, isInts ? withNumbers(*value) : std::move(*value));
    }
  }
  if (writes && !outCall.choosesDtype) setDtypeOfOut(outCall, *into, named);
  KERF_TRY(const Value result, callNamed(*form.op, named, ops));
  KERF_CHECK(checkGradientWish(outCall.name, given.named("requires_grad"), result));
  if (!writes) return result;
  KERF_CHECK(checkOut(outCall, result, *into, ops));
  return writeInto(outCall.name, result, *into, ops);
}

namespace {

/// What the parser wants instead of a value that ATen's table would take; empty where it takes the value.
std::string_view wantedKind(std::string_view type, const Value& value) {
  if (type == "bool" && value.as<std::int64_t>() != nullptr) return "bool";
  if ((type == "int" || type == "SymInt") && value.as<bool>() != nullptr) return "int";
  if (type == "float" && value.isNone()) return "float";
  return {};
}

}  // namespace

Result<Value> callSameNamed(const PythonCall& call, std::string_view atenName) {
  const bool writes = call.truth(SIZE_MAX, "inplace", false);
  const OpInfo* op = writes ? findOp(OpTarget(fmt::format("aten.{}_.default", atenName))) : nullptr;
  const OpInfo* plain = findOp(OpTarget(fmt::format("aten.{}.default", atenName)));
  if (op == nullptr) op = plain;
  if (op == nullptr) return fail(ErrorCode::UnsupportedOp, "no op is called '{}'", atenName);
  KeywordValues named;
  for (const auto& [key, value] : call.kwargs) {
    if (key == "inplace" || key == "_stacklevel") continue;
    const bool isFirst = key == "input" || key == "self";
    const std::string name = isFirst ? op->schema.arguments[0].name : key;
    const auto known = std::ranges::find(op->schema.arguments, name, &SchemaArgument::name);
    if (known == op->schema.arguments.end() && value.isNone()) continue;
    if (known == op->schema.arguments.end())
      return fail(ErrorCode::UnsupportedOp, "{}: the argument '{}' is not supported", call.name, key);
    if (known->type.starts_with("Tensor") && isNumber(value))
      return fail(ErrorCode::BadInput, "{}: argument '{}' must be Tensor, got a number", call.name, key);
    if (const std::string_view kind = wantedKind(known->type, value); !kind.empty())
      return fail(ErrorCode::BadInput, "{}: argument '{}' must be {}", call.name, key, kind);
    named.emplace_back(name, value);
  }
  KERF_TRY(const Value result, callNamed(*op, named, call.ops));
  if (!writes || op != plain) return result;
  return call.aten("copy_.default", {call.get(0, "input"), result});
}

namespace {

struct NamedDefault {
  std::string_view text;
  MemoryFormat format;
};
constexpr NamedDefault namedDefaults[] = {
    {"torch.preserve_format", MemoryFormat::Preserve},
    {"torch.contiguous_format", MemoryFormat::Contiguous},
};

}  // namespace

Value defaultValue(std::string_view text) {
  if (text == "True" || text == "False") return Value(text == "True");
  if (text.size() >= 2 && (text[0] == '\'' || text[0] == '"'))
    return Value(std::string(text.substr(1, text.size() - 2)));
  if (text == "()" || text == "[]") return Value(ValueList{});
  if (text.size() > 2 && (text[0] == '{' || text[0] == '(' || text[0] == '[')) {
    ValueList items;
    for (std::string_view rest = text.substr(1, text.size() - 2); !rest.empty();) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      std::string_view item = rest.substr(0, comma);
      while (item.starts_with(' ')) item.remove_prefix(1);
      if (!item.empty()) items.push_back(defaultValue(item));
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
    return Value(std::move(items));
  }
  for (const auto& [name, format] : namedDefaults)
    if (text == name) return Value(format);
  const char* end = text.data() + text.size();
  std::int64_t whole = 0;
  if (const auto [at, error] = std::from_chars(text.data(), end, whole); error == std::errc() && at == end)
    return Value(whole);
  double number = 0;
  if (const auto [at, error] = std::from_chars(text.data(), end, number); error == std::errc() && at == end)
    return Value(number);
  return {};
}

}  // namespace kerf::inline ops
