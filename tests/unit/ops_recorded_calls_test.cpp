// How recorded calls are compared with the op table's results.
#include <cmath>
#include <filesystem>
#include <fstream>

#include "engine/conformance/recorded_calls.h"
#include "engine/tensor/safetensors.h"
#include "tests/unit/ops_testing.h"

namespace kerf::testing {
namespace {

/// Whether -z, recorded as `out`, agrees with the op table; both given as real and imaginary part.
bool negationAgrees(const std::vector<double>& z, const std::vector<double>& out) {
  const auto complexOf = [](const std::vector<double>& parts) {
    return callTensor("aten.view_as_complex.default", {tensorOf({1, 2}, parts)});
  };
  const auto folder = std::filesystem::path(::testing::TempDir()) / "kerf_recorded_calls";
  std::filesystem::create_directories(folder);
  SafetensorsFile file;
  file.tensors.emplace_back("a", complexOf(z));
  file.tensors.emplace_back("o", complexOf(out));
  EXPECT_TRUE(writeSafetensors(folder / "calls.safetensors", file));
  const auto tensor = [](const char* name) {
    return std::string(R"({"tensor": ")") + name +
           R"(", "dtype": "complex64", "shape": [1], "stride": [1], "offset": 0})";
  };
  std::ofstream(folder / "calls.jsonl")
      << R"({"id": 1, "op": "aten.neg.default", "schema": "aten::neg(Tensor self) -> Tensor", "source": "neg", "args": [)"
      << tensor("a") << R"(], "kwargs": {}, "out": [)" << tensor("o") << R"(], "mutates": false, "post": []})" << '\n';
  const auto report = checkRecordedCalls(folder);
  EXPECT_TRUE(report) << (report ? "" : report.error().text());
  std::filesystem::remove_all(folder);
  return report && report->passed == 1;
}

TEST(RecordedCalls, CompareComplexNumbersByTheirDifference) {
  EXPECT_TRUE(negationAgrees({3, 4}, {-3, -4}));
  EXPECT_TRUE(negationAgrees({3, 4}, {-3.000004, -4.000004}));  // within 1e-5 + 1.3e-6 * 5
  EXPECT_FALSE(negationAgrees({3, 4}, {-3.00002, -4}));
  EXPECT_FALSE(negationAgrees({3, 4}, {-3, -4.00002}));  // the imaginary part alone
  EXPECT_TRUE(negationAgrees({1e6, 0}, {-1e6, 1}));      // small beside the length
  EXPECT_TRUE(negationAgrees({NAN, 1}, {1, NAN}));
  EXPECT_FALSE(negationAgrees({INFINITY, 1}, {-INFINITY, 1}));  // infinities must be equal in both parts
}

}  // namespace
}  // namespace kerf::testing
