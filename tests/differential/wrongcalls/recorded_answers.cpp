// compareWithRecorded(): what Kerf and PyTorch refuse.
#include <fstream>

#include <nlohmann/json.hpp>

#include "tests/differential/wrongcalls/call_json.h"
#include "tests/differential/wrongcalls/campaign.h"
#include "tests/differential/wrongcalls/check_call.h"
#include "tests/differential/wrongcalls/draw_call.h"

namespace kerf::wrongcalls {
namespace {

using Json = nlohmann::json;

/// PyTorch's answer beside Kerf's where they differ; empty where they agree or nothing is known.
std::string difference(const CallCase& call, const Json& answer) {
  const bool refuses = answer.contains("error");
  if (!refuses && !answer.contains("ok")) return {};
  const std::string refusal = refusalOf(call);
  if (refuses && refusal.empty())
    return fmt::format("accepts what PyTorch refuses: {}: {}", answer["error"][0].get<std::string>(),
                       answer["error"][1].get<std::string>());
  if (!refuses && !refusal.empty()) return "refuses what PyTorch takes: " + refusal;
  return {};
}

}  // namespace

Result<std::vector<std::string>> compareWithRecorded(const std::string& calls, const std::string& answers) {
  std::ifstream callLines(calls), answerLines(answers);
  if (!callLines || !answerLines) return fail(ErrorCode::NotFound, "cannot read {} or {}", calls, answers);
  std::vector<std::string> differences;
  std::string call, answer;
  while (std::getline(callLines, call) && std::getline(answerLines, answer)) {
    const Json said = Json::parse(answer, nullptr, false);
    const auto read = callOfJson(call);
    if (!read || !said.is_object()) continue;
    const std::string different = difference(*read, said);
    if (!different.empty()) differences.push_back(textOf(*read) + "\n    " + different);
  }
  return differences;
}

}  // namespace kerf::wrongcalls
