// Names of torch's Python API that programs do not find, as their own torch tells them.
#include "app/workbench/programs/program_runs.h"
#include "app/workbench/protocol/query_text.h"
#include "app/workbench/workbench.h"

namespace kerf::workbench {

namespace {

constexpr const char* listNames =
    "from torch._absent import NAMES\n"
    "answer = [[module, name] for module, names in NAMES.items() for name in names]\n";

/// A pattern without * may be found anywhere.
bool isAsked(const AbsentName& row, const std::string& pattern) {
  if (pattern.empty()) return true;
  const std::string full = row.module + "." + row.name;
  return pattern.find('*') == std::string::npos ? full.find(pattern) != std::string::npos : globMatches(pattern, full);
}

}  // namespace

Result<AbsentNames> perform(Workbench&, const AbsentNamesRequest& request, const Job& job) {
  KERF_TRY(
      const ProgramValues told,
      runProgramValues({.text = "", .name = "names.py", .prologue = "import torch\n", .driver = listNames}, job.stop));
  if (!told.exception.empty()) return fail(ErrorCode::Internal, "{}", told.exception);
  AbsentNames found;
  for (const Value& pair : told.values.isList() ? told.values.list() : ValueList()) {
    if (!pair.isList() || pair.list().size() != 2) continue;
    const auto *module = pair.list()[0].as<std::string>(), *name = pair.list()[1].as<std::string>();
    if (module == nullptr || name == nullptr) continue;
    AbsentName row{*module, *name};
    if (isAsked(row, request.pattern)) found.names.push_back(std::move(row));
  }
  return found;
}

}  // namespace kerf::workbench
