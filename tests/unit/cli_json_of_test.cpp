// The JSON of a struct from its list of fields.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/cli/json_forms.h"

namespace kerf::cli {

struct JsonSample {
  int startNodes = 5, rank = -1, hidden = 1;
  double maxAbsError = 0.5;
  std::string repro, stage;
  std::optional<int> given;
  std::vector<std::pair<std::string, int>> calls;
  std::chrono::nanoseconds time{2'500'000};

  KERF_FIELDS(startNodes, rank, maxAbsError, repro, stage, given, calls, hidden, time)
};
template <>
inline constexpr auto jsonForm<JsonSample> =
    forms(written(orNull, &JsonSample::stage), written(nullBelow<0>, &JsonSample::rank),
          named(&JsonSample::repro, "file"), leftOut(&JsonSample::hidden),
          addedBehind(&JsonSample::startNodes, "twice",
                      [](const JsonSample& sample) { return Json(2 * sample.startNodes); }));

namespace {

TEST(JsonOf, KeepsTheOrderOfFieldsAndAppliesForms) {
  EXPECT_EQ(jsonOf(JsonSample()).dump(),
            R"({"start_nodes":5,"twice":10,"rank":null,"max_abs_error":0.5,"file":"","stage":null,"given":null,)"
            R"("calls":{},"elapsed_ms":2.5})");
}

TEST(JsonOf, WritesListsPairsAndNumbersThatAreNotFinite) {
  JsonSample sample{.rank = 3, .maxAbsError = std::numeric_limits<double>::infinity(), .given = 7};
  sample.calls = {{"add", 1}, {"mul", 2}, {"add", 3}};
  const Json json = jsonOf(std::vector{sample});
  ASSERT_EQ(json.size(), 1u);
  EXPECT_EQ(json[0]["rank"], 3);
  EXPECT_EQ(json[0]["max_abs_error"], "inf");
  EXPECT_EQ(json[0]["given"], 7);
  EXPECT_EQ(json[0]["calls"].dump(), R"({"add":3,"mul":2})");
}

TEST(JsonOf, NamesEnums) {
  const TriageRow row{.state = TriageRow::State::NotOpened, .capture = "a.log"};
  EXPECT_EQ(jsonOf(row)["state"], "not_opened");
  EXPECT_EQ(jsonOf(JudgeAnswer{.verdict = JudgeAnswer::Verdict::FailsDifferently})["verdict"], "fails_differently");
}

}  // namespace
}  // namespace kerf::cli
