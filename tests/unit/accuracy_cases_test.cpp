#include <fstream>

#include <gtest/gtest.h>

#include <unistd.h>

#include "engine/accuracy/same_cases.h"
#include "engine/tensor/safetensors.h"

namespace kerf {
namespace {

class SameCases : public ::testing::Test {
 protected:
  void SetUp() override {
    m_folder = std::filesystem::temp_directory_path() / fmt::format("kerf_cases_{}", ::getpid());
    std::filesystem::create_directories(m_folder);
    SafetensorsFile file;
    for (const auto& [name, value] : {std::pair{"a.ref", 1.0}, {"a.res", 1.00001}, {"b.ref", 1.0}, {"b.res", 2.0}})
      file.tensors.emplace_back(name, Tensor::scalar(value, DType::Float32));
    ASSERT_TRUE(writeSafetensors(m_folder / "c.safetensors", file).has_value());
  }
  void TearDown() override { std::filesystem::remove_all(m_folder); }

  void write(const std::string& name, const std::string& text) const { std::ofstream(m_folder / name) << text; }
  Error error(const std::string& name) const {
    auto report = checkSameCases(m_folder / name);
    return report ? Error{ErrorCode::Internal, "no error", {}, 0, {}, {}} : report.error();
  }

  std::filesystem::path m_folder;
  const std::string a = R"({"id":"a","opts":{"tol":0.001},"fp64":false,"same":true})";
  const std::string b = R"({"id":"b","opts":{},"fp64":false,"same":false})";
};

TEST_F(SameCases, CountsAgreementInBothForms) {
  write("c.json", R"({"torch":"2.11","cases":[)" + a + "," + b + "]}");
  EXPECT_EQ(checkSameCases(m_folder / "c.json").value().agreed, 2);
  EXPECT_EQ(checkSameCases(m_folder).value().cases, 2);
  EXPECT_TRUE(holdsSameCases(m_folder));
  std::filesystem::remove(m_folder / "c.json");
  write("c.jsonl", a + "\n\n" + b);
  EXPECT_EQ(checkSameCases(m_folder).value().agreed, 2);
  EXPECT_TRUE(holdsSameCases(m_folder / "c.jsonl"));
}

TEST_F(SameCases, ReportsDisagreementByCase) {
  write("c.json", R"({"cases":[{"id":"a","same":false},{"id":"b","same":true}]})");
  const auto report = checkSameCases(m_folder / "c.json").value();
  EXPECT_EQ(report.agreed, 0);
  ASSERT_EQ(report.mismatches.size(), 2u);
  EXPECT_EQ(report.mismatches[1].id, "b");
  EXPECT_TRUE(report.mismatches[1].expected);
  EXPECT_EQ(report.mismatches[1].reason, "Accuracy failed: allclose not within tol=0.0001");
}

TEST_F(SameCases, NamesTheBadCase) {
  const std::vector<std::pair<std::string, std::string>> rows{
      {R"({"id":"a","opts":{"speed":1},"same":true})", "case a: unknown option 'speed'"},
      {R"({"id":"a","opts":{"tol":"x"},"same":true})", "case a: option 'tol' has a value of the wrong kind"},
      {R"({"id":"z","same":true})", "case z: tensor 'z.ref' is missing"},
      {R"({"id":"a","fp64":true,"same":true})", "case a: tensor 'a.fp64' is missing"},
      {R"({"id":"a","same":1})", "case a: 'same' is not true or false"},
      {R"({"same":true})", "a case has no 'id'"},
      {"nonsense", "the line is no JSON"},
  };
  for (const auto& [line, message] : rows) {
    write("c.jsonl", a + "\n" + line + "\n");
    EXPECT_EQ(error("c.jsonl").message, message);
    EXPECT_EQ(error("c.jsonl").code, ErrorCode::BadInput);
    EXPECT_EQ(error("c.jsonl").line, 2);
    EXPECT_EQ(error("c.jsonl").file, (m_folder / "c.jsonl").string());
  }
}

TEST_F(SameCases, RefusesWhatIsNoCaseFile) {
  write("c.json", "[1, 2");
  EXPECT_EQ(error("c.json").code, ErrorCode::BadInput);
  EXPECT_EQ(error("missing.json").code, ErrorCode::NotFound);
  EXPECT_EQ(error(".").code, ErrorCode::NotFound);
  write("d.json", R"({"cases":[]})");
  EXPECT_EQ(error("d.json").file, (m_folder / "d.safetensors").string());
}

}  // namespace
}  // namespace kerf
