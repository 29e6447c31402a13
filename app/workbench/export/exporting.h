// How graphs are written: one function per export format. Everything appears whole or not at all.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "app/workbench/captures/graph_source.h"
#include "minifier/report/issue_text.h"

namespace kerf::workbench {

struct ExportTarget {
  std::filesystem::path path;
  std::string values;                    ///< safetensors: node names, "outputs", "inputs" or "all"
  std::optional<IssueFacts> issue = {};  ///< of a reduction: what an issue says beside the repro
  std::string runCommand = "run";        ///< of a repro, as its accuracy
  std::string accuracy = {};             ///< empty: the capture's
};

/// Writes the graph in a format of exportFormats(); the path of what was written. BadUsage for another format.
Result<std::filesystem::path> writeAs(std::string_view format, const GraphSource& source, const ExportTarget& target,
                                      const Job& job);
/// Name of the format that `name` or, if that is empty, the path's extension means; a folder or no extension is a
/// repro.
Result<std::string_view> chooseFormat(const std::string& name, const std::filesystem::path& path);

/// repro.py and its storages as one zip that unpacks to a folder of the zip's name; of a reduction issue.md too. The same
/// content gives the same bytes.
Result<std::filesystem::path> exportZip(const GraphSource& source, const ExportTarget& target, const Job& job);
/// issue.md alone, with the repro's text in it. BadUsage where no failure is known: for all but reductions and their
/// repros.
Result<std::filesystem::path> exportIssue(const GraphSource& source, const ExportTarget& target, const Job& job);
/// Values computed by the interpreter as safetensors.
Result<std::filesystem::path> exportValues(const GraphSource& source, const ExportTarget& target, const Job& job);

}  // namespace kerf::workbench
