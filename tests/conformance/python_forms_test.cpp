// Calls in the forms that PyTorch documents, as Dynamo wrote them into graphs, against what PyTorch 2.11 computed: the
// interpreter, and the compiled graph. tests/conformance/data/record_forms.py made the recording.
#include <gtest/gtest.h>

#include "engine/capture/common/log_bytes.h"
#include "engine/ir/interpreter.h"
#include "engine/ops/core/op_registry.h"
#include "engine/pipeline/compile_fx.h"
#include "tests/differential/callforms/recorded_form.h"

namespace kerf {
namespace {

using callforms::differenceFrom;
using callforms::RecordedForm;
using callforms::RecordedTensors;
using nlohmann::json;

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

/// What differs from the recording after a run.
std::string differenceOf(const RecordedForm& form, const ValueList& inputs, const Value& result) {
  std::vector<json> expected;
  std::vector<Tensor> given;
  collectTensors(form.row["result"], expected);
  collectTensors(result, given);
  if (given.size() == expected.size())
    for (std::size_t i = 0; i < given.size(); ++i)
      if (const std::string text = differenceFrom(given[i], expected[i]); !text.empty())
        return fmt::format("result {}: {}", i, text);
  return callforms::differenceOfInputs(form, inputs);
}

/// Forms that differ for a reason that is no binding.
constexpr std::string_view random[] = {"bernoulli", "alpha_dropout(x, 0.5)"};

struct Counts {
  int forms = 0, equal = 0, refused = 0, compiled = 0, refusals = 0, refusedToo = 0;
};

/// What PyTorch refuses with a message of its parser must be refused.
void checkRefusal(const RecordedForm& form, const RecordedTensors& tensors, Counts& counts) {
  ++counts.refusals;
  const auto reference = Interpreter(form.module, referenceOps()).run(form.values(tensors));
  counts.refusedToo += !reference;
  const bool byParser = form.row["error"].get<std::string>().starts_with("TypeError");
  if (reference && byParser) ADD_FAILURE() << form.row["text"] << ": PyTorch says " << form.row["error"];
  if (reference && !byParser) fmt::print("not refused {}: {}\n", form.row["text"].dump(), form.row["error"].dump());
}

void check(const RecordedForm& form, const RecordedTensors& tensors, Counts& counts) {
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
  RecordedTensors tensors;
  Counts counts;
  std::string_view rest = (*bytes)->text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const json row = json::parse(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (row.contains("tensors")) {
      tensors = row["tensors"].get<RecordedTensors>();
      continue;
    }
    const std::string text = row["text"];
    if (std::ranges::any_of(random, [&](std::string_view name) { return text.find(name) != std::string::npos; }))
      continue;
    const auto form = callforms::readForm(row, tensors);
    ASSERT_TRUE(form) << row["text"];
    (row.contains("error") ? checkRefusal : check)(*form, tensors, counts);
  }
  fmt::print("{} forms: {} as PyTorch, {} refused, {} compiled as PyTorch; {} of {} refusals\n", counts.forms,
             counts.equal, counts.refused, counts.compiled, counts.refusedToo, counts.refusals);
}

}  // namespace
}  // namespace kerf
