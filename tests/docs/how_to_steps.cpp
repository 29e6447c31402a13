#include "tests/docs/how_to_steps.h"

#include <fstream>
#include <regex>
#include <sstream>

namespace kerf::docs {
namespace {

/// `name=word` or `name="some words"` in a fence's info string.
std::string attribute(const std::string& info, const std::string& name) {
  const std::regex pattern(name + R"re(=(?:"([^"]*)"|(\S+)))re");
  std::smatch match;
  return std::regex_search(info, match, pattern) ? match[1].str() + match[2].str() : "";
}

std::string withoutIndent(const std::string& line, std::size_t indent) {
  return line.substr(std::min(indent, std::min(line.find_first_not_of(' '), line.size())));
}

}  // namespace

std::vector<Step> stepsOf(const std::string& markdown) {
  std::vector<Step> steps;
  std::istringstream stream(markdown);
  for (std::string line; std::getline(stream, line);) {
    const std::size_t indent = line.find("```");
    if (indent == std::string::npos || line.find_first_not_of(' ') != indent) continue;
    const std::string info = line.substr(indent + 3);
    Step step{attribute(info, "file"), attribute(info, "after"), attribute(info, "run"), {}};
    while (std::getline(stream, line) && line.find("```") != indent) step.text += withoutIndent(line, indent) + "\n";
    if (!step.file.empty() || !step.target.empty()) steps.push_back(std::move(step));
  }
  return steps;
}

std::string readText(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void writeText(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

}  // namespace kerf::docs
