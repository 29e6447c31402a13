// Calls in the forms that PyTorch documents, as Dynamo wrote them into graphs, against what PyTorch 2.11 computed: the
// interpreter, and the compiled graph. tests/conformance/data/record_forms.py made the recording.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <map>

#include <nlohmann/json.hpp>

#include "engine/capture/common/log_bytes.h"
#include "engine/ir/interpreter.h"
#include "engine/ir/parser.h"
#include "engine/ops/core/op_registry.h"
#include "engine/pipeline/compile_fx.h"

namespace kerf {
namespace {

using nlohmann::json;

/// "nan", "inf" and "-inf" are texts in the recording.
double numberOf(const json& value) {
  if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
  return value.is_string() ? std::strtod(value.get<std::string>().c_str(), nullptr) : value.get<double>();
}

std::optional<DType> dtypeOf(const json& row) { return dtypeFromTorchName("torch." + row["t"].get<std::string>()); }

/// A recorded tensor; complex ones are pairs of floats.
Tensor tensorOf(const json& row) {
  const DType dtype = *dtypeOf(row);
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

bool isClose(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b || std::abs(a - b) <= 2e-4 * std::max({std::abs(a), std::abs(b), 0.05});
}

/// Empty where they agree.
std::string difference(const Tensor& given, const json& expected) {
  const DType dtype = *dtypeOf(expected);
  if (given.dtype() != dtype)
    return fmt::format("dtype {} for {}", dtypeInfo(given.dtype()).torchName, dtypeInfo(dtype).torchName);
  const auto sizes = expected["s"].get<std::vector<std::int64_t>>();
  if (!std::ranges::equal(given.sizes(), sizes)) return fmt::format("shape [{}]", fmt::join(given.sizes(), ", "));
  if (!expected.contains("v")) return {};
  const Tensor wide = *(isComplex(dtype) ? given.contiguous() : given.to(DType::Float64)->contiguous());
  for (std::size_t i = 0; i < expected["v"].size(); ++i) {
    double value = 0;
    if (isComplex(dtype)) {
      const auto item = wide.data<std::complex<float>>()[i / 2];
      value = i % 2 == 0 ? item.real() : item.imag();
    } else {
      value = wide.data<double>()[i];
    }
    if (!isClose(value, numberOf(expected["v"][i])))
      return fmt::format("element {}: {} for {}", i, value, numberOf(expected["v"][i]));
  }
  return {};
}

void collectTensors(const json& result, std::vector<json>& into) {
  if (result.is_object() && result.contains("t")) into.push_back(result);
  if (result.is_array())
    for (const json& item : result) collectTensors(item, into);
}

void collectTensors(const Value& result, std::vector<Tensor>& into) {
  if (result.isTensor()) into.push_back(result.tensor());
  if (result.isList())
    for (const Value& item : result.list()) collectTensors(item, into);
}

struct Form {
  json row;
  GraphModule module;
  std::vector<std::string> inputs;  ///< names of the recorded tensors, in the order of the placeholders

  ValueList values(const std::map<std::string, json>& tensors) const {
    ValueList made;
    for (const std::string& name : inputs) made.emplace_back(tensorOf(tensors.at(name)));
    return made;
  }
};

std::optional<Form> formOf(const json& row, const std::map<std::string, json>& tensors) {
  auto module = parseReadable(row["graph"].get<std::string>());
  if (!module) return {};
  Form form{row, std::move(*module), {}};
  for (const NodeId id : form.module.graph.order()) {
    const Node& node = form.module.graph.node(id);
    if (node.op() != Opcode::Placeholder) continue;
    std::string name = node.target();
    for (const auto& [known, tensor] : tensors)
      if (name == fmt::format("L_{}_", known) || name == fmt::format("l_{}_", known)) form.inputs.push_back(known);
  }
  return form;
}

/// What differs from the recording after a run.
std::string differenceOf(const Form& form, const ValueList& inputs, const Value& result) {
  std::vector<json> expected;
  std::vector<Tensor> given;
  collectTensors(form.row["result"], expected);
  collectTensors(result, given);
  if (given.size() == expected.size())
    for (std::size_t i = 0; i < given.size(); ++i)
      if (const std::string text = difference(given[i], expected[i]); !text.empty())
        return fmt::format("result {}: {}", i, text);
  if (!form.row.contains("changed")) return {};
  for (const auto& [name, tensor] : form.row["changed"].items())
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (form.inputs[i] == name)
        if (const std::string text = difference(inputs[i].tensor(), tensor); !text.empty())
          return fmt::format("input {}: {}", name, text);
  return {};
}

/// Forms that differ for a reason that is no binding.
constexpr std::string_view random[] = {"bernoulli", "alpha_dropout(x, 0.5)"};

struct Counts {
  int forms = 0, equal = 0, refused = 0, compiled = 0, refusals = 0, refusedToo = 0;
};

/// What PyTorch refuses with a message of its parser must be refused.
void checkRefusal(const Form& form, const std::map<std::string, json>& tensors, Counts& counts) {
  ++counts.refusals;
  const auto reference = Interpreter(form.module, referenceOps()).run(form.values(tensors));
  counts.refusedToo += !reference;
  const bool byParser = form.row["error"].get<std::string>().starts_with("TypeError");
  if (reference && byParser) ADD_FAILURE() << form.row["text"] << ": PyTorch says " << form.row["error"];
  if (reference && !byParser) fmt::print("not refused {}: {}\n", form.row["text"].dump(), form.row["error"].dump());
}

void check(const Form& form, const std::map<std::string, json>& tensors, Counts& counts) {
  const std::string text = form.row["text"];
  ++counts.forms;
  const ValueList inputs = form.values(tensors);
  const auto reference = Interpreter(form.module, referenceOps()).run(inputs);
  if (!reference) {
    ++counts.refused;
    fmt::print("refused {}: {}\n", text, reference.error().text());
    return;
  }
  const std::string wrong = differenceOf(form, inputs, *reference);
  if (!wrong.empty()) ADD_FAILURE() << text << ": interpreter: " << wrong;
  counts.equal += wrong.empty();
  const auto graph = compileFx(form.module, {});
  if (!graph) {
    fmt::print("not compiled {}: {}\n", text, graph.error().text());
    return;
  }
  const ValueList again = form.values(tensors);
  const auto result = (*graph)->run(again);
  if (!result) {
    fmt::print("not run {}: {}\n", text, result.error().text());
    return;
  }
  const std::string differs = differenceOf(form, again, *result);
  if (!differs.empty()) ADD_FAILURE() << text << ": compiled: " << differs;
  counts.compiled += differs.empty();
}

TEST(PythonForms, GiveWhatPyTorchGives) {
  const auto file = std::filesystem::path(KERF_SOURCE_DIR) / "tests/conformance/data/python_forms.jsonl.gz";
  const auto bytes = openLog(file);
  ASSERT_TRUE(bytes) << bytes.error().text();
  std::map<std::string, json> tensors;
  Counts counts;
  std::string_view rest = (*bytes)->text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const json row = json::parse(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (row.contains("tensors")) {
      tensors = row["tensors"].get<std::map<std::string, json>>();
      continue;
    }
    const std::string text = row["text"];
    if (std::ranges::any_of(random, [&](std::string_view name) { return text.find(name) != std::string::npos; }))
      continue;
    const auto form = formOf(row, tensors);
    ASSERT_TRUE(form) << row["text"];
    (row.contains("error") ? checkRefusal : check)(*form, tensors, counts);
  }
  fmt::print("{} forms: {} as PyTorch, {} refused, {} compiled as PyTorch; {} of {} refusals\n", counts.forms,
             counts.equal, counts.refused, counts.compiled, counts.refusedToo, counts.refusals);
}

}  // namespace
}  // namespace kerf
