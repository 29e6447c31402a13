// Calls that tests/conformance/data/record_calls.py recorded: arguments and results out of JSON.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/ops/core/op_registry.h"
#include "engine/tensor/copy.h"

namespace kerf::testing {

using Json = nlohmann::json;

inline Json readRecording(const std::string& name) {
  std::ifstream file(std::string(KERF_SOURCE_DIR) + "/tests/conformance/data/" + name + ".json");
  return file ? Json::parse(file) : Json();
}

inline double numberOf(const Json& value) {
  if (value.is_number()) return value.get<double>();
  const std::string text = value.get<std::string>();
  return text == "nan" ? std::nan("") : text == "inf" ? INFINITY : -INFINITY;
}

/// The recorded elements (all, or every step-th) as a contiguous tensor; complex ones as their parts.
inline Tensor elementsOf(const Json& record) {
  const DType dtype = *dtypeFromTorchName(record.at("dtype").get<std::string>());
  const DType part = dtype == DType::Complex128  ? DType::Float64
                     : dtype == DType::Complex64 ? DType::Float32
                     : dtype == DType::Complex32 ? DType::Float16
                                                 : dtype;
  if (record.contains("bits")) {
    const Json& bits = record.at("bits");
    Tensor result = *Tensor::zeros(part, {std::int64_t(bits.size())});
    for (std::size_t i = 0; i < bits.size(); ++i) {
      const auto value = bits[i].get<std::int64_t>();
      std::memcpy(result.storage()->data() + i * std::size_t(itemSize(part)), &value, std::size_t(itemSize(part)));
    }
    return result;
  }
  if (record.contains("fill")) {
    std::int64_t count = 1;
    for (const Json& size : record.at("shape")) count *= size.get<std::int64_t>();
    const Tensor wide = *Tensor::scalar(record.at("fill").get<double>(), part).viewAs({count}, {0}, 0).contiguous();
    return wide;
  }
  const Json& values = record.at("values");
  if (isIntegral(part)) {
    Tensor wide = *Tensor::zeros(DType::Int64, {std::int64_t(values.size())});
    for (std::size_t i = 0; i < values.size(); ++i) wide.data<std::int64_t>()[i] = values[i].get<std::int64_t>();
    return *wide.to(part);
  }
  Tensor wide = *Tensor::zeros(DType::Float64, {std::int64_t(values.size())});
  for (std::size_t i = 0; i < values.size(); ++i) wide.data<double>()[i] = numberOf(values[i]);
  return *wide.to(part);
}

inline Tensor tensorFrom(const Json& record, const Device& device = {}) {
  const DType dtype = *dtypeFromTorchName(record.at("dtype").get<std::string>());
  const Sizes sizes = record.at("shape").get<Sizes>(), strides = record.at("stride").get<Sizes>();
  const Tensor flat = elementsOf(record);
  const Tensor source(flat.storage(), dtype, sizes, contiguousStrides(sizes));
  Tensor result = *Tensor::zerosStrided(dtype, sizes, strides);
  if (result.numel() > 0) {
    EXPECT_TRUE(copyElements(source, result));
  }
  result.setDevice(device);
  return result;
}

inline Value valueFrom(const Json& json, const Device& device = {}) {
  if (json.is_null()) return {};
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  if (json.is_array()) {
    ValueList items;
    for (const Json& item : json) items.push_back(valueFrom(item, device));
    return items;
  }
  if (json.contains("tensor")) return tensorFrom(json.at("tensor"), device);
  if (json.contains("torch_dtype")) return *dtypeFromTorchName(json.at("torch_dtype").get<std::string>());
  if (json.contains("device")) return device;
  return {};
}

struct RecordedStep {
  std::string op;
  ValueList args;
  KeywordValues kwargs;
  const Json* record = nullptr;
};

inline RecordedStep stepFrom(const Json& json, const Device& device = {}) {
  RecordedStep step{json.at("op").get<std::string>(), {}, {}, &json};
  for (const Json& arg : json.at("args")) step.args.push_back(valueFrom(arg, device));
  for (const auto& [name, value] : json.at("kwargs").items()) step.kwargs.emplace_back(name, valueFrom(value, device));
  return step;
}

/// The result as a flat list of tensors.
inline std::vector<Value> resultsOf(const Value& value) {
  if (!value.isList()) return {value};
  return value.list();
}

}  // namespace kerf::testing
