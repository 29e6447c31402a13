// Files that a shell command names: the scripts whose content decides a verdict.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "engine/support/hash.h"

namespace kerf::inline minifier::inline oracle {

/// A word of a command that names an existing file. Words that the shell would expand are passed over.
struct CommandFile {
  std::size_t begin = 0, end = 0;  ///< of the word in the command, with its quotes
  std::filesystem::path path;      ///< absolute
  bool isRelative = false;         ///< a name that only this folder knows: "./check.sh", "check.py"
};

/// Relative names are meant from `folder`; a first word without a slash from PATH.
std::vector<CommandFile> filesOfCommand(std::string_view command, const std::filesystem::path& folder);

/// `command` so that it can be run in another folder: relative names of existing files are absolute and quoted.
std::string commandFromAnywhere(const std::string& command, const std::filesystem::path& folder);

/// Of the contents and places of all files of a command; not of their times.
Hash128 hashOfCommandFiles(std::string_view command, const std::filesystem::path& folder);

/// 'text' as one word of a shell.
std::string shellQuoted(const std::string& text);

}  // namespace kerf::inline minifier::inline oracle
