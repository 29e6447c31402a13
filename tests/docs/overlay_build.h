// OverlayBuild: some files of the source tree changed or added, compiled against what is built already. Only those
// files, what they are compiled in one group with, and library sources that include a changed .def, are compiled: headers
// may gain declarations, but no class members. Files that register themselves (OpRegistration) may be added, not changed:
// the library that is linked whole still has the unchanged one.
#pragma once

#include <map>

#include <nlohmann/json.hpp>

#include "tests/docs/how_to_steps.h"

namespace kerf::docs {

class OverlayBuild {
 public:
  /// `folder` is emptied and holds the changed files, objects and programs.
  OverlayBuild(std::filesystem::path source, std::filesystem::path build, std::filesystem::path folder);

  /// Puts a file into the overlay. What is wrong with the step, or "".
  std::string apply(const Step& step);
  /// Compiles what was applied and links it into the test program; "" or the compiler's complaint.
  std::string link(const std::string& target);
  /// Runs shell lines with `folder` as the working directory (build/bin is there); their exit status and output.
  int run(const std::string& lines, std::string& output) const;

 private:
  std::string compileStep(const std::string& file, const std::string& linkCommand);
  std::string compile(const std::string& file, const std::filesystem::path& source);
  std::string compileInGroup(const std::string& file);
  std::string compileMoc(const std::string& header);
  std::string compileUsers(const std::string& table, const std::string& linkCommand);
  std::string linkCommand(const std::string& target) const;
  std::string groupOf(const std::string& file) const;
  std::string commandFor(const std::string& file) const;
  std::string shell(const std::string& command) const;

  std::filesystem::path m_source, m_build, m_folder;
  nlohmann::json m_commands;
  std::vector<std::string> m_files;              ///< relative to the tree, in the order of the steps
  std::map<std::string, std::string> m_objects;  ///< by the file that they were made of
};

}  // namespace kerf::docs
