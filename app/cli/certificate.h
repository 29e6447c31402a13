// Certificate: a verdict with all that repeats it: the tool, its arguments, sums of the files, and the answer.
#pragma once

#include <chrono>
#include <stop_token>

#include "app/cli/tool_table.h"

namespace kerf::cli {

struct ToolAnswer {
  int status = 0;  ///< kerf's exit code: 0 good, 1 a difference, 2 bad input, 3 environment
  Json json;       ///< what --json printed; null where that is no JSON
  std::string errors;
};
/// Runs the tool in a process of its own, without this one's environment.
Result<ToolAnswer> callTool(const Tool& tool, const Json& arguments, const std::string& store,
                            std::chrono::milliseconds timeout, std::stop_token stop = {});

/// What an answer says whenever and wherever it is given: without times, ids of runs, and notes on the machine.
Json steadyPart(const Json& answer);

Json certificateOf(const Tool& tool, const Json& arguments, const ToolAnswer& answer);

struct Recheck {
  std::string tool;
  bool same = false;
  int status = 0, expectedStatus = 0;
  std::vector<std::string> differences;  ///< changed files, and where answers differ

  KERF_FIELDS(tool, same, status, expectedStatus, differences)
};
/// BadInput for what is no certificate; BadUsage for one that asks for what no tool has.
Result<Recheck> recheck(const CLI::App& root, const Json& certificate, const std::string& store,
                        std::chrono::milliseconds timeout, std::stop_token stop = {});

}  // namespace kerf::cli
