#include "engine/distributed/recorded/reading.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kerf::inline distributed::inline recorded {

Result<SavedTensors> SavedTensors::read(const std::filesystem::path& path) {
  SavedTensors saved;
  KERF_TRY(saved.m_file, readSafetensors(path));
  for (const auto& [name, tensor] : saved.m_file.tensors) saved.m_byName.emplace(name, &tensor);
  return saved;
}

const Tensor* SavedTensors::find(const std::string& name) const {
  const auto found = m_byName.find(name);
  return found == m_byName.end() ? nullptr : found->second;
}

std::vector<std::string> SavedTensors::namesAfter(const std::string& prefix) const {
  std::vector<std::string> names;
  for (auto at = m_byName.lower_bound(prefix); at != m_byName.end() && at->first.starts_with(prefix); ++at)
    names.push_back(at->first.substr(prefix.size()));
  return names;
}

namespace {

Result<Value> readText(const std::string& text, const ValueList& inputs) {
  if (text.size() > 1 && text[0] == '$') {
    const std::size_t index = std::size_t(std::atoi(text.c_str() + 1));
    if (index < inputs.size()) return inputs[index];
    return fail(ErrorCode::BadInput, "there is no input {}", text);
  }
  if (!text.starts_with("dtype:")) return Value(text);
  const auto dtype = dtypeFromTorchName(text.substr(6));
  if (!dtype) return fail(ErrorCode::BadInput, "{} is no dtype", text);
  return Value(*dtype);
}

}  // namespace

Result<Value> readValue(const Json& json, const ValueList& inputs) {
  if (json.is_null()) return Value();
  if (json.is_boolean()) return Value(json.get<bool>());
  if (json.is_number_integer()) return Value(json.get<std::int64_t>());
  if (json.is_number()) return Value(json.get<double>());
  if (json.is_string()) return readText(json.get<std::string>(), inputs);
  if (json.is_object() && json.contains("float")) {
    const std::string text = json["float"].get<std::string>();
    if (text == "nan") return Value(std::numeric_limits<double>::quiet_NaN());
    return Value(text == "inf" ? HUGE_VAL : -HUGE_VAL);
  }
  if (json.is_object() && json.contains("dtype")) return readText("dtype:" + json["dtype"].get<std::string>(), inputs);
  if (!json.is_array()) return fail(ErrorCode::BadInput, "unexpected value {}", json.dump().substr(0, 80));
  KERF_TRY(ValueList items, readValues(json, inputs));
  return Value(std::move(items));
}

Result<ValueList> readValues(const Json& json, const ValueList& inputs) {
  ValueList result;
  for (const Json& item : json) {
    KERF_TRY(Value value, readValue(item, inputs));
    result.push_back(std::move(value));
  }
  return result;
}

Result<KeywordValues> readKeywords(const Json& json, const ValueList& inputs) {
  KeywordValues result;
  for (auto entry = json.begin(); entry != json.end(); ++entry) {
    KERF_TRY(Value value, readValue(entry.value(), inputs));
    result.emplace_back(entry.key(), std::move(value));
  }
  return result;
}

Result<Sizes> readSizes(const Json& json) {
  Sizes result;
  for (const Json& item : json) {
    if (!item.is_number_integer()) return fail(ErrorCode::BadInput, "expected a size");
    result.push_back(item.get<std::int64_t>());
  }
  return result;
}

Result<sharding::Placements> readPlacements(const Json& json, std::int64_t dims) {
  sharding::Placements result;
  for (const Json& item : json) {
    KERF_TRY(sharding::Placement placement, parsePlacement(item.get<std::string>()));
    result.push_back(std::move(placement));
  }
  return normalized(std::move(result), dims);
}

Json nodesOf(const Json& own, const Json& first) {
  if (own.contains("nodes") && own["nodes"].is_array()) return own["nodes"];
  Json nodes = first.value("nodes", Json::array());
  for (const Json& change : own.value("nodes_changes", Json::array())) {
    const auto index = change[0].get<std::size_t>();
    if (index < nodes.size()) nodes[index] = change[1];
  }
  return nodes;
}

std::vector<std::string> placementTexts(const sharding::Placements& placements) {
  std::vector<std::string> texts;
  for (const auto& placement : placements) {
    // Python writes 2.0 where the order was a float, and 2 where it was an int.
    texts.push_back(placement.kind == sharding::Placement::Kind::NormPartial ? "_NormPartial" : placement.text());
  }
  return texts;
}

namespace {

struct Tolerance {
  double relative = 0, absolute = 0;
};

Tolerance toleranceOf(DType dtype) {
  switch (dtype) {
    case DType::Float64:
      return {1e-9, 1e-9};
    case DType::Float32:
      return {1e-4, 2e-5};
    case DType::Float16:
      return {4e-3, 4e-3};
    case DType::BFloat16:
      return {3e-2, 3e-2};
    default:
      return {};
  }
}

}  // namespace

std::string difference(const Tensor& own, const Tensor& recorded) {
  if (own.dtype() != recorded.dtype())
    return fmt::format("dtype {} instead of {}", dtypeInfo(own.dtype()).torchName,
                       dtypeInfo(recorded.dtype()).torchName);
  if (own.sizes() != recorded.sizes())
    return fmt::format("sizes [{}] instead of [{}]", fmt::join(own.sizes(), ", "), fmt::join(recorded.sizes(), ", "));
  const Tolerance tolerance = toleranceOf(recorded.dtype());
  for (std::int64_t i = 0; i < recorded.numel(); ++i) {
    const double a = own.itemAsDouble(i), b = recorded.itemAsDouble(i);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    if (!(std::abs(a - b) <= tolerance.absolute + tolerance.relative * std::abs(b)))
      return fmt::format("element {}: {} instead of {}", i, a, b);
  }
  return {};
}

std::string difference(const Value& own, const Value& recorded) {
  if (own.isTensor() != recorded.isTensor()) return "a tensor and something else";
  if (own.isTensor()) return difference(own.tensor(), recorded.tensor());
  const auto number = [](const Value& value) {
    if (const auto* flag = value.as<bool>()) return double(*flag);
    if (const auto* integer = value.as<std::int64_t>()) return double(*integer);
    return value.as<double>() != nullptr ? *value.as<double>() : std::numeric_limits<double>::quiet_NaN();
  };
  const double a = number(own), b = number(recorded);
  if (a == b || (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= 1e-5 + 1e-4 * std::abs(b)) return {};
  return fmt::format("{} instead of {}", a, b);
}

std::string commsDifference(const std::map<std::string, int>& issued, const Json& recorded) {
  std::string result;
  for (const auto& [name, count] : issued) {
    const int known = recorded.is_object() ? recorded.value(name, 0) : 0;
    if (count > known) result += fmt::format("{}{} {} instead of {}", result.empty() ? "" : ", ", name, count, known);
  }
  return result;
}

}  // namespace kerf::inline distributed::inline recorded
