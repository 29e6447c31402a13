// ToolTable: commands as tools that another program may call with arguments in JSON: which, with what, and as what line.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/command_table.h"
#include "app/cli/context.h"

namespace kerf::cli {

struct ToolRow {
  std::string_view command;  ///< "store verify"
  bool judges = false;       ///< its answer is a verdict, which a certificate can repeat
  bool writes = false;       ///< changes files or the store: only where the user allows it
};
std::span<const ToolRow> toolRows();

struct Tool {
  const ToolRow* row = nullptr;
  CommandEntry
      entry;  ///< with the options that a tool has: none that starts other programs, or writes where `row` does not

  std::string name() const { return entry.name('_'); }
};
std::vector<Tool> toolTable(const CLI::App& root, bool mayWrite);
const Tool* findTool(std::span<const Tool> tools, std::string_view name);

/// The option's key among the arguments: "--fp64-only" is "fp64_only", GRAPH is "graph".
std::string argumentKey(const OptionEntry& option);
/// JSON Schema of the arguments.
Json argumentSchema(const Tool& tool);
/// "compare", "--tol=1e-3", "--", "repro.py". BadUsage for arguments that the tool does not have, and for values of
/// another type.
Result<std::vector<std::string>> toolLine(const Tool& tool, const Json& arguments);
/// The same the other way round.
Result<Json> toolArguments(const Tool& tool, std::span<const std::string> line);
/// Values that name files, by their options or as existing paths ("trace.log#name@stage:aten" without the rest).
std::vector<std::filesystem::path> filesOf(const Tool& tool, const Json& arguments);

}  // namespace kerf::cli
