#include "engine/ops/core/autocast.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/ops/core/autocast_lists.h"

namespace kerf::inline ops {
namespace {

struct ThreadState {
  Autocast current;
  std::vector<Autocast> entered;  ///< what held before each _enter_autocast that is still open
};

ThreadState& state() {
  thread_local ThreadState instance;
  return instance;
}

/// A tensor that autocast may convert.
const Tensor* eligible(const Value& value) {
  const Tensor* tensor = value.as<Tensor>();
  if (tensor == nullptr || !isFloating(tensor->dtype()) || tensor->dtype() == DType::Float64) return nullptr;
  return tensor->device().type == currentAutocast().device ? tensor : nullptr;
}

template <class Visit>
void forEachEligible(const Value& value, const Visit& visit) {
  if (const Tensor* tensor = eligible(value)) visit(*tensor);
  if (value.isList())
    for (const Value& item : value.list()) forEachEligible(item, visit);
}

Result<Value> converted(const Value& value, DType dtype, const ConvertTensor& convert) {
  if (const Tensor* tensor = eligible(value))
    return tensor->dtype() == dtype ? Result<Value>(value) : convert(value, dtype);
  if (!value.isList()) return value;
  ValueList items;
  for (const Value& item : value.list()) {
    KERF_TRY(Value one, converted(item, dtype, convert));
    items.push_back(std::move(one));
  }
  return Value(std::move(items));
}

Result<AutocastCall> convertedCall(const ValueList& args, const KeywordValues& kwargs, DType dtype,
                                   const ConvertTensor& convert) {
  AutocastCall call;
  for (const Value& arg : args) {
    KERF_TRY(Value one, converted(arg, dtype, convert));
    call.args.push_back(std::move(one));
  }
  for (const auto& [name, value] : kwargs) {
    KERF_TRY(Value one, converted(value, dtype, convert));
    call.kwargs.emplace_back(name, std::move(one));
  }
  return call;
}

/// The widest type among the arguments: the region's own, or float32 where one is.
DType widest(const ValueList& args, const KeywordValues& kwargs) {
  DType type = currentAutocast().dtype;
  const auto look = [&](const Tensor& tensor) {
    if (tensor.dtype() == DType::Float32) type = DType::Float32;
  };
  for (const Value& arg : args) forEachEligible(arg, look);
  for (const auto& [name, value] : kwargs) forEachEligible(value, look);
  return type;
}

/// The call with `dtype=torch.float32`, where it names none and its first argument is one that counts.
std::optional<AutocastCall> withDType(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs) {
  const auto& arguments = op.schema.arguments;
  const auto place = std::size_t(std::ranges::find(arguments, "dtype", &SchemaArgument::name) - arguments.begin());
  if (args.empty() || place == arguments.size() || eligible(args[0]) == nullptr) return {};
  AutocastCall call{args, kwargs};
  if (place < args.size()) {
    if (!args[place].isNone()) return {};
    call.args[place] = Value(DType::Float32);
    return call;
  }
  const auto given = std::ranges::find(call.kwargs, "dtype", &std::pair<std::string, Value>::first);
  if (given == call.kwargs.end())
    call.kwargs.emplace_back("dtype", Value(DType::Float32));
  else if (given->second.isNone())
    given->second = Value(DType::Float32);
  else
    return {};
  return call;
}

bool anyEligible(const ValueList& args, const KeywordValues& kwargs) {
  bool any = false;
  const auto look = [&](const Tensor&) { any = true; };
  for (const Value& arg : args) forEachEligible(arg, look);
  for (const auto& [name, value] : kwargs) forEachEligible(value, look);
  return any;
}

}  // namespace

const Autocast& currentAutocast() { return state().current; }

AutocastScope::AutocastScope(Autocast setting)
    : m_before(std::exchange(state().current, std::move(setting))), m_depth(state().entered.size()) {}
AutocastScope::~AutocastScope() {
  state().current = std::move(m_before);
  if (state().entered.size() > m_depth) state().entered.resize(m_depth);
}

Result<Autocast> autocastOf(const ValueList& args, std::size_t first) {
  const auto at = [&](std::size_t i) { return first + i < args.size() ? args[first + i] : Value(); };
  const Value device = at(0), dtype = at(1), enabled = at(2);
  const auto* name = device.as<std::string>();
  if (name == nullptr) return fail(ErrorCode::BadInput, "autocast: the first argument must name a kind of device");
  Autocast setting{true, *name, *name == "cpu" ? DType::BFloat16 : DType::Float16};
  if (const auto* given = dtype.as<DType>()) setting.dtype = *given;
  if (const auto* flag = enabled.as<bool>()) setting.enabled = *flag;
  return setting;
}

Result<Value> enterAutocast(const ValueList& args) {
  KERF_TRY(Autocast setting, autocastOf(args));
  state().entered.push_back(std::exchange(state().current, std::move(setting)));
  return Value(std::string("autocast"));  // what _exit_autocast gets
}

void exitAutocast() {
  if (state().entered.empty()) return;
  state().current = std::move(state().entered.back());
  state().entered.pop_back();
}

std::optional<Result<Value>> callInAutocast(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs,
                                            const OpCaller& caller) {
  if (!currentAutocast().enabled) return {};
  const ConvertTensor convert = [&caller](const Value& tensor, DType dtype) {
    const AutocastScope off;
    return caller.call("torch.ops.prims.convert_element_type.default"_op, {tensor, Value(dtype)}, {});
  };
  const auto call = autocastCall(op, args, kwargs, convert);
  if (!call) return Result<Value>(fail(call.error()));
  if (!*call) return {};
  const AutocastScope off;
  return caller.call(op.id, (*call)->args, (*call)->kwargs);
}

Result<std::optional<AutocastCall>> autocastCall(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs,
                                                 const ConvertTensor& convert) {
  const Autocast& setting = currentAutocast();
  const AutocastPolicy policy = setting.enabled ? autocastPolicy(setting.device, op.schema) : AutocastPolicy::None;
  if (policy == AutocastPolicy::None || !anyEligible(args, kwargs)) return std::nullopt;
  if (policy == AutocastPolicy::SetDType) return withDType(op, args, kwargs);
  const DType dtype = policy == AutocastPolicy::Lower     ? setting.dtype
                      : policy == AutocastPolicy::Float32 ? DType::Float32
                                                          : widest(args, kwargs);
  KERF_TRY(AutocastCall call, convertedCall(args, kwargs, dtype, convert));
  return std::optional(std::move(call));
}

}  // namespace kerf::inline ops
