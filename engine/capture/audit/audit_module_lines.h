// Lines of module level that are one statement: imports, settings, assignments. Private to the auditor.
#pragma once

#include <string>

#include "engine/capture/audit/audit_expressions.h"

namespace kerf::inline capture {

/// Whether expressions of a graph are written with this name, so that no value may be called so.
bool isReservedLocal(std::string_view name);
/// The same for names of module level.
bool isReservedGlobal(std::string_view name);

class AuditModuleLines {
 public:
  explicit AuditModuleLines(AuditExpressions& in) : m_in(in) {}

  /// One such line, with its end.
  Result<void> line();
  /// One that begins with "import" or "from".
  Result<void> import();
  bool imported(const std::string& name) const { return m_imported.contains(name); }

 private:
  Result<void> endOfLine();
  std::string wholeLine();
  Result<void> environment();
  Result<void> environmentPop();
  Result<void> config();
  Result<void> assignment();
  Result<void> assigned(const std::string& name, const std::string& value, int line);
  Result<void> mathFunction(std::string_view name);
  Result<void> version(int line);
  Result<void> seed();

  AuditExpressions& m_in;
  AuditNames m_imported;
};

}  // namespace kerf::inline capture
