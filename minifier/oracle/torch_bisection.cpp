#include "minifier/oracle/torch_bisection.h"

#include <nlohmann/json.hpp>

#include "engine/support/read_json.h"

namespace kerf::inline minifier::inline oracle {

namespace {

using nlohmann::json;

TorchTrial trialOf(const json& object) {
  return {object.value("backend", std::string()),
          object.value("subsystem", std::string()),
          object.value("state", std::string()),
          object.value("steps", -1),
          object.value("same", true),
          object.value("detail", std::string())};
}

TorchCulprit culpritOf(const json& object) {
  return {object.value("backend", std::string()), object.value("subsystem", std::string()), object.value("step", -1),
          object.value("info", std::string())};
}

}  // namespace

Result<TorchBisection> parseTorchBisection(std::string_view text) {
  const json object = readJson<json>(text);
  if (!object.is_object()) return fail(ErrorCode::Internal, "the torch worker's answer is not a JSON object");
  try {
    TorchBisection found;
    const std::string verdict = object.value("verdict", std::string());
    found.fails = verdict == "fails";
    if (verdict == "untestable") found.why = object.value("message", std::string("no reason"));
    if (object.contains("culprit")) found.culprit = culpritOf(object["culprit"]);
    for (const json& trial : object.value("trials", json::array())) found.trials.push_back(trialOf(trial));
    return found;
  } catch (const json::exception& problem) {
    return fail(ErrorCode::Internal, "the torch worker's answer is not as expected: {}", problem.what());
  }
}

Result<TorchBisection> bisectWithTorch(TorchOracle& oracle, const Candidate& candidate, const std::stop_token& stop) {
  KERF_TRY(const std::string line, oracle.ask("bisect", candidate, oracle.like(), stop));
  return parseTorchBisection(line);
}

}  // namespace kerf::inline minifier::inline oracle
