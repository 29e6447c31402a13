// Wrong calls and what PyTorch said to them: Kerf refuses what PyTorch refuses, and takes what PyTorch takes.
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include <nlohmann/json.hpp>

#include "engine/process/in_child.h"
#include "tests/differential/wrongcalls/call_json.h"
#include "tests/differential/wrongcalls/check_call.h"

namespace kerf::wrongcalls {
namespace {

struct Comparison {
  std::int64_t refused = 0, taken = 0;  ///< by PyTorch
  std::vector<std::string> accepts;     ///< what PyTorch refuses
  std::vector<std::string> refuses;     ///< what PyTorch takes

  KERF_FIELDS(refused, taken, accepts, refuses)
};

Result<Comparison> compared(const std::filesystem::path& file) {
  std::ifstream in(file);
  Comparison result;
  for (std::string line; std::getline(in, line);) {
    const auto call = callOfJson(line);
    if (!call) continue;
    const auto error = nlohmann::json::parse(line).value("error", std::string());
    const std::string refusal = refusalOf(*call);
    (error.empty() ? result.taken : result.refused) += 1;
    if (error.empty() != refusal.empty())
      (error.empty() ? result.refuses : result.accepts).push_back(textOf(*call) + "\n    " + error + refusal);
  }
  return result;
}

TEST(RecordedRefusals, KerfDecidesAsPyTorchDoes) {
  const auto file = std::filesystem::path(KERF_BINARY_DIR) / "corpus" / "refusals" / "public.jsonl";
  process::IsolationLimits limits;
  limits.timeout = std::chrono::minutes(2);
  limits.memoryBytes = 3LL << 30;
  const auto result =
      process::inChild<Comparison>([&] { return compared(file); }, limits, {}, "calling", ErrorCode::RuntimeFailed);
  ASSERT_TRUE(result) << result.error().text();
  std::ofstream table(std::filesystem::path(KERF_BINARY_DIR) / "refusals.txt");
  for (const std::string& text : result->accepts) table << "takes " << text << '\n';
  for (const std::string& text : result->refuses) table << "refuses " << text << '\n';
  std::cout << result->refused - std::int64_t(result->accepts.size()) << " of " << result->refused
            << " calls refused as by PyTorch, " << result->taken - std::int64_t(result->refuses.size()) << " of "
            << result->taken << " taken\n";
  EXPECT_GE(result->refused, 8000);
  EXPECT_LE(result->accepts.size(), 1110u);  // ops and dtypes that only PyTorch's own kernels lack
  EXPECT_LE(result->refuses.size(), 90u);
}

}  // namespace
}  // namespace kerf::wrongcalls
