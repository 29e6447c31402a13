#include "app/cli/divergence_child.h"

#include <cmath>
#include <cstring>

#include <nlohmann/json.hpp>

namespace kerf::cli {

namespace {

using nlohmann::json;

/// Doubles travel as bit patterns: JSON has no NaN and no infinity.
std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }
double real(const json& value) { return std::bit_cast<double>(value.get<std::uint64_t>()); }

json encodeNode(const NodeDivergence& node) {
  return {node.node,
          node.target,
          node.same,
          bits(node.rmseRes),
          bits(node.rmseRef),
          bits(node.ratioToLimit),
          bits(node.maxAbsError),
          node.firstBad};
}

NodeDivergence decodeNode(const json& row) {
  return {row[0], row[1], row[2], real(row[3]), real(row[4]), real(row[5]), real(row[6]), row[7]};
}

std::string encode(const Result<NodeDivergenceReport>& report) {
  json object;
  if (!report) {
    const auto& error = report.error();
    object["error"] = {int(error.code), error.message, error.node};
  } else {
    object["failure"] = report->failure;
    object["fp64_note"] = report->fp64Note;
    object["nodes"] = json::array();
    for (const auto& node : report->nodes) object["nodes"].push_back(encodeNode(node));
  }
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// The text comes from our own child, but one that may have gone wrong.
Result<NodeDivergenceReport> decode(const std::string& text) {
  try {
    const auto object = json::parse(text);
    if (object.contains("error")) {
      const auto& error = object["error"];
      return fail(Error{ErrorCode(error[0].get<int>()), error[1], {}, 0, error[2], {}});
    }
    NodeDivergenceReport report;
    report.failure = object["failure"];
    report.fp64Note = object["fp64_note"];
    for (const auto& row : object["nodes"]) report.nodes.push_back(decodeNode(row));
    return report;
  } catch (const json::exception& exception) {
    return fail(ErrorCode::Internal, "the comparing process answered nonsense: {}", exception.what());
  }
}

}  // namespace

Result<NodeDivergenceReport> divergenceInChild(const Candidate& candidate, const EngineOracleOptions& options,
                                               std::stop_token stop) {
  NodeDivergenceOptions divergence;
  divergence.compile = options.compile;
  divergence.compile.keepArtifacts = false;
  divergence.compare = options.compare;
  const auto body = [&] { return encode(nodeDivergence(candidate.module, candidate.inputs, divergence)); };
  KERF_TRY(const auto outcome, runIsolated(body, options.limits, stop));
  NodeDivergenceReport report;
  switch (outcome.exit) {
    case IsolatedExit::Finished:
      return decode(outcome.payload);
    case IsolatedExit::Cancelled:
      return fail(ErrorCode::Cancelled, "stopped while comparing nodes");
    case IsolatedExit::TimedOut:
      report.failure = "the compiled side did not come to an end while comparing nodes";
      break;
    case IsolatedExit::Crashed:
      report.failure = "the compiled side crashed (" + outcome.signalName() + ")";
      break;
  }
  return report;
}

}  // namespace kerf::cli
