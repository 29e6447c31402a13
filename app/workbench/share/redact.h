// Redaction: what a text says of its writer's machine, weights and source, taken out so that the text still opens.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "app/workbench/share/share.h"

namespace kerf::workbench {

/// Whether a file holds more than text: a zero byte, or what is no UTF-8.
bool isBinaryText(std::string_view text);

class Redactor {
 public:
  explicit Redactor(const Redaction& wanted) : m_wanted(wanted) {}

  /// Names of users in the folders that a text names: look at all texts before one is redacted.
  void learn(std::string_view text);
  /// The text of a file; `name` decides what its lines are.
  std::string redacted(const std::string& name, std::string_view text);
  /// Whether a file of tensors or of the user's source is left out whole.
  bool leavesOut(const std::string& name, std::string_view text);
  /// "12 paths", for people.
  std::vector<std::string> told() const;

 private:
  std::string withoutPaths(std::string_view text);
  std::string withoutStorages(std::string_view text);
  std::string withoutUsers(std::string kept);
  std::string withoutCode(std::string_view text, bool isMarkdown);
  std::string textWithoutCode(std::string_view key, std::string_view text);
  std::string lineWithoutCode(std::string_view line);

  Redaction m_wanted;
  std::set<std::string, std::less<>> m_users;
  std::map<std::string, std::int64_t> m_removed;
  bool m_isBelowFile = false;  ///< the lines before named a file and a line of it
  bool m_isReport = false;     ///< the text is the report of a check
};

/// Checksums of the payloads of a TORCH_TRACE log, computed anew.
std::string withPayloadSums(std::string_view log);

}  // namespace kerf::workbench
