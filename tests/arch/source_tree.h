// The source tree as text, for tests that read it.
#pragma once

#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

namespace kerf::arch {

namespace fs = std::filesystem;

inline std::string readFile(const fs::path& path) {
  std::ifstream stream(path);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

struct SourceFile {
  std::string path;  ///< relative to the source tree
  std::string text;
};

/// Every header and source file of the product, tests left out.
inline const std::vector<SourceFile>& sourceFiles() {
  static const std::vector<SourceFile> files = [] {
    std::vector<SourceFile> found;
    const fs::path root = KERF_SOURCE_DIR;
    for (const char* top : {"app", "ui", "engine", "minifier", "storage"}) {
      for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
        const auto extension = entry.path().extension();
        if (extension != ".h" && extension != ".cpp") continue;
        found.push_back({fs::relative(entry.path(), root).generic_string(), readFile(entry.path())});
      }
    }
    return found;
  }();
  return files;
}

/// "engine/ir" of "engine/ir/graph.h": the folder that arrows and namespaces speak of.
inline std::string folderOf(const std::string& path) { return path.substr(0, path.find('/', path.find('/') + 1)); }

inline std::vector<std::string> linesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace kerf::arch
