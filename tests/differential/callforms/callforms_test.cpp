// Fresh forms of calls against what PyTorch 2.11 gave (answer_forms.py): no other result, no call that its parser refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/capture/common/log_bytes.h"
#include "tests/differential/callforms/form_binding.h"

namespace kerf::callforms {
namespace {

struct Differences {
  std::vector<std::string> wrong, taken, refused;
  int forms = 0, compiled = 0;

  void add(const char* how, const RecordedForm& form, const FormOutcome& outcome) {
    const std::string text = fmt::format("{} {}: {}", how, form.row["text"].get<std::string>(), outcome.text);
    if (outcome.verdict == FormVerdict::Wrong) wrong.push_back(text);
    if (outcome.verdict == FormVerdict::Takes || outcome.verdict == FormVerdict::TakesType) taken.push_back(text);
    if (outcome.verdict == FormVerdict::Refuses) refused.push_back(text);
  }
};

TEST(CallForms, GiveWhatPyTorchGives) {
  const auto bytes = openLog(std::filesystem::path(KERF_SOURCE_DIR) / "tests/conformance/data/fresh_forms.jsonl.gz");
  ASSERT_TRUE(bytes) << bytes.error().text();
  std::string_view rest = (*bytes)->text;
  const auto nextLine = [&] {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const Json line = Json::parse(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return line;
  };
  const auto tensors = nextLine()["tensors"].get<RecordedTensors>();
  Differences differences;
  while (!rest.empty()) {
    const Json row = nextLine();
    const auto form = readForm(row, tensors);
    ASSERT_TRUE(form) << row["text"];
    differences.add("interpreter", *form, runForm(*form, tensors, {}));
    if (++differences.forms % 20 != 0) continue;
    ++differences.compiled;
    differences.add("compiled", *form, runForm(*form, tensors, {.compiled = true}));
  }
  EXPECT_THAT(differences.wrong, ::testing::IsEmpty());
  EXPECT_THAT(differences.taken, ::testing::IsEmpty());
  EXPECT_THAT(differences.refused, ::testing::IsEmpty());
  EXPECT_GT(differences.forms, 4000);
}

}  // namespace
}  // namespace kerf::callforms
