#include "tests/differential/callforms/recorded_form.h"

#include <cmath>
#include <complex>

#include <fmt/ranges.h>

#include "engine/ir/parser.h"
#include "engine/tensor/dtype.h"

namespace kerf::callforms {
namespace {

/// "nan", "inf" and "-inf" are texts in the recording.
double numberOf(const Json& value) {
  if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
  return value.is_string() ? std::strtod(value.get<std::string>().c_str(), nullptr) : value.get<double>();
}

DType dtypeOf(const Json& row) { return *dtypeFromTorchName("torch." + row["t"].get<std::string>()); }

bool isClose(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b || std::abs(a - b) <= 2e-4 * std::max({std::abs(a), std::abs(b), 0.05});
}

std::size_t leafCount(const Value& value) {
  if (!value.isList()) return 1;
  std::size_t count = 0;
  for (const Value& item : value.list()) count += leafCount(item);
  return count;
}

void collectLeaves(const Json& value, std::vector<Json>& into) {
  if (!value.is_array()) return into.push_back(value);
  for (const Json& item : value) collectLeaves(item, into);
}

void collectLeaves(const Value& value, ValueList& into) {
  if (!value.isList()) return into.push_back(value);
  into.reserve(into.size() + leafCount(value));
  for (const Value& item : value.list()) collectLeaves(item, into);
}

std::string textOfKind(const Json& expected) {
  return expected.is_object() ? "a tensor" : expected.is_null() ? "None" : expected.dump();
}

/// A leaf that is no tensor.
std::string differenceOfPlain(const Json& expected, const Value& given) {
  const std::string wanted = textOfKind(expected);
  if (given.isTensor()) return "a tensor for " + wanted;
  if (expected.is_null()) return given.isNone() ? "" : "something for None";
  if (expected.is_string() && given.as<std::string>())
    return *given.as<std::string>() == expected.get<std::string>() ? "" : "another text for " + wanted;
  std::optional<double> number;
  if (const auto* flag = given.as<bool>()) number = *flag ? 1 : 0;
  if (const auto* whole = given.as<std::int64_t>()) number = double(*whole);
  if (const auto* real = given.as<double>()) number = *real;
  if (!number) return "no number for " + wanted;
  if (expected.is_boolean() != (given.as<bool>() != nullptr)) return "another type than that of " + wanted;
  return isClose(*number, numberOf(expected)) ? "" : fmt::format("{} for {}", *number, wanted);
}

}  // namespace

Tensor recordedTensor(const Json& row) {
  const DType dtype = dtypeOf(row);
  const auto sizes = row["s"].get<std::vector<std::int64_t>>();
  Tensor made = *Tensor::zeros(isComplex(dtype) ? DType::Complex64 : DType::Float64, Sizes(sizes.begin(), sizes.end()));
  auto* floats = isComplex(dtype) ? reinterpret_cast<float*>(made.data<std::complex<float>>()) : nullptr;
  for (std::size_t i = 0; i < row["v"].size(); ++i) {
    if (floats != nullptr)
      floats[i] = float(numberOf(row["v"][i]));
    else
      made.data<double>()[i] = numberOf(row["v"][i]);
  }
  return *made.to(dtype);
}

std::string differenceFrom(const Tensor& given, const Json& expected) {
  const DType dtype = dtypeOf(expected);
  if (given.dtype() != dtype)
    return fmt::format("dtype {} for {}", dtypeInfo(given.dtype()).torchName, dtypeInfo(dtype).torchName);
  const auto sizes = expected["s"].get<std::vector<std::int64_t>>();
  if (!std::ranges::equal(given.sizes(), sizes))
    return fmt::format("shape [{}] for [{}]", fmt::join(given.sizes(), ", "), fmt::join(sizes, ", "));
  if (!expected.contains("v")) return {};
  const std::size_t step = expected.value("e", std::size_t{1});
  const bool pairs = isComplex(dtype);
  const Tensor wide = *given.to(pairs ? DType::Complex128 : DType::Float64)->contiguous();
  const auto* numbers = reinterpret_cast<const double*>(wide.storage()->data()) + wide.offset() * (pairs ? 2 : 1);
  for (std::size_t i = 0; i < expected["v"].size(); ++i)
    if (const double value = numbers[i * step]; !isClose(value, numberOf(expected["v"][i])))
      return fmt::format("element {}: {} for {}", i * step, value, numberOf(expected["v"][i]));
  return {};
}

ValueList RecordedForm::values(const RecordedTensors& tensors) const {
  ValueList made;
  for (const std::string& name : inputs) made.emplace_back(recordedTensor(tensors.at(name)));
  return made;
}

Result<RecordedForm> readForm(const Json& row, const RecordedTensors& tensors) {
  KERF_TRY(GraphModule module, parseReadable(row["graph"].get<std::string>()));
  RecordedForm form{row, std::move(module), {}};
  for (const NodeId id : form.module.graph.order()) {
    const Node& node = form.module.graph.node(id);
    if (node.op() != Opcode::Placeholder) continue;
    const std::string name = node.target();
    const bool isNamed = name.size() > 3 && (name.starts_with("L_") || name.starts_with("l_")) && name.ends_with("_");
    const std::string tensor = isNamed ? name.substr(2, name.size() - 3) : name;
    if (!tensors.contains(tensor)) return fail(ErrorCode::BadInput, "no tensor is called '{}'", tensor);
    form.inputs.push_back(tensor);
  }
  return form;
}

std::string differenceOfInputs(const RecordedForm& form, const ValueList& inputs) {
  if (!form.row.contains("changed")) return {};
  for (const auto& [name, tensor] : form.row["changed"].items())
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (form.inputs[i] == name)
        if (const std::string text = differenceFrom(inputs[i].tensor(), tensor); !text.empty())
          return fmt::format("input {}: {}", name, text);
  return {};
}

std::string differenceOfLeaves(const Json& expected, const Value& given) {
  std::vector<Json> wanted;
  ValueList leaves;
  collectLeaves(expected, wanted);
  collectLeaves(given, leaves);
  if (wanted.size() != leaves.size()) return fmt::format("{} values for {}", leaves.size(), wanted.size());
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    if (wanted[i].is_object() && wanted[i].contains("p")) continue;
    const bool isTensor = wanted[i].is_object();
    std::string text;
    if (isTensor && !leaves[i].isTensor())
      text = "no tensor for one";
    else
      text = isTensor ? differenceFrom(leaves[i].tensor(), wanted[i]) : differenceOfPlain(wanted[i], leaves[i]);
    if (!text.empty()) return wanted.size() == 1 ? text : fmt::format("result {}: {}", i, text);
  }
  return {};
}

}  // namespace kerf::callforms
