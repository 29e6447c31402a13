// Every graph that PyTorch printed into the corpus is read and printed again, character by character.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "engine/ir/parser.h"
#include "engine/ir/printer.h"
#include "engine/support/recordings.h"

namespace kerf {
namespace {

namespace fs = std::filesystem;

std::string readFile(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::string withoutTrailingSpace(std::string text) {
  text.erase(text.find_last_not_of(" \n") + 1);
  return text;
}

/// Files below `folder` whose path ends with `ending` and contains `part`, sorted.
std::vector<fs::path> filesBelow(const fs::path& folder, const std::string& ending, const std::string& part = "") {
  std::vector<fs::path> out;
  if (!fs::exists(folder)) return out;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string path = entry.path().string();
    if (entry.is_regular_file() && path.ends_with(ending) && path.find(part) != std::string::npos)
      out.push_back(entry.path());
  }
  std::ranges::sort(out);
  return out;
}

/// A difference as the first line that differs, for readable failures.
std::string firstDifference(const std::string& actual, const std::string& expected) {
  std::istringstream a(actual), b(expected);
  for (int line = 1;; ++line) {
    std::string left, right;
    const bool more = bool(std::getline(a, left)), moreB = bool(std::getline(b, right));
    if (!more && !moreB) return {};
    if (left == right && more == moreB) continue;
    return "line " + std::to_string(line) + "\n  actual:   " + left.substr(0, 300) +
           "\n  expected: " + right.substr(0, 300);
  }
}

void expectSameText(const std::string& actual, const std::string& expected, const std::string& where) {
  EXPECT_TRUE(actual == expected) << where << ": " << firstDifference(actual, expected);
}

void expectGraphTextRoundTrip(const std::string& text, const std::string& where) {
  const auto graph = parseGraphText(text);
  ASSERT_TRUE(graph.has_value()) << where << ": " << graph.error().text();
  EXPECT_TRUE(graph->lint().has_value()) << where << ": " << graph->lint().error().text();
  expectSameText(printGraphText(*graph), withoutTrailingSpace(text), where);
}

PythonCodeOptions optionsOf(const std::string& text) {
  PythonCodeOptions options;
  options.annotateValues = true;
  options.includeStride = text.find("][") != std::string::npos;
  options.includeDevice = text.find("]cpu\"") != std::string::npos || text.find("]cuda:0\"") != std::string::npos;
  options.includeStackTraces =
      text.find("# File: ") != std::string::npos || text.find("# No stacktrace") != std::string::npos;
  return options;
}

void expectReadableRoundTrip(const std::string& text, const std::string& where) {
  const auto module = parseReadable(text);
  ASSERT_TRUE(module.has_value()) << where << ": " << module.error().text();
  EXPECT_TRUE(module->graph.lint().has_value()) << where << ": " << module->graph.lint().error().text();
  expectSameText(withoutTrailingSpace(printReadable(*module, optionsOf(text))), withoutTrailingSpace(text), where);
}

/// The lines of `def forward` in a repro file.
std::string forwardOf(const std::string& file) {
  const std::size_t begin = file.find("    def forward(");
  if (begin == std::string::npos) return {};
  const std::size_t end = file.find("\n\n", begin);
  return file.substr(begin, end == std::string::npos ? end : end + 1 - begin);
}

TEST(TextRoundTrip, GraphTextOfTheGoldenModels) {
  const auto files = filesBelow(recordingsFolder() / "golden", ".graph.txt");
  EXPECT_FALSE(files.empty());
  for (const auto& file : files) expectGraphTextRoundTrip(readFile(file), file);
}

TEST(TextRoundTrip, GraphTextOfTheMinifierAnchors) {
  for (const auto& file : filesBelow(recordingsFolder() / "anchors" / "fxmin", ".txt"))
    expectGraphTextRoundTrip(readFile(file), file);
}

TEST(TextRoundTrip, ReadableOfTheGoldenModels) {
  for (const auto& file : filesBelow(recordingsFolder() / "golden", ".txt"))
    if (!file.string().ends_with(".graph.txt")) expectReadableRoundTrip(readFile(file), file);
}

TEST(TextRoundTrip, ReadableOfDebugFolders) {
  for (const std::string name : {"fx_graph_readable.py", "fx_graph_transformed.py"})
    for (const auto& file : filesBelow(recordingsFolder(), name)) expectReadableRoundTrip(readFile(file), file);
}

TEST(TextRoundTrip, ForwardMethodsOfRepros) {
  std::size_t count = 0;
  for (const std::string part : {"/repro/", "/launcher/", "/minifier/", "fx_graph_runnable"}) {
    for (const auto& file : filesBelow(recordingsFolder(), ".py", part)) {
      const std::string text = forwardOf(readFile(file));
      if (text.empty()) continue;
      ++count;
      const auto module = parseReadable(text);
      ASSERT_TRUE(module.has_value()) << file << ": " << module.error().text();
      EXPECT_TRUE(module->graph.lint().has_value()) << file << ": " << module->graph.lint().error().text();
      expectSameText(printPythonCode(*module), text, file);
    }
  }
  EXPECT_GT(count, 24u);
}

/// FX texts among the payloads of a TORCH_TRACE log: tab-indented lines after a record.
std::vector<std::string> tracePayloads(const std::string& log) {
  std::vector<std::string> out;
  std::istringstream lines(log);
  std::string current;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('\t')) {
      current += line.substr(1) + "\n";
      continue;
    }
    // a comment that Inductor adds below some of them
    current.erase(std::min(current.find("\n\n # graph id: "), current.size()));
    if (current.starts_with("class ") && current.find("def forward(") != std::string::npos) out.push_back(current);
    current.clear();
  }
  return out;
}

TEST(TextRoundTrip, ReadablesInTraceLogs) {
  std::size_t count = 0;
  for (const auto& file : filesBelow(recordingsFolder(), ".log", "torch_trace"))
    for (const std::string& payload : tracePayloads(readFile(file))) {
      ++count;
      expectReadableRoundTrip(payload, file);
    }
  EXPECT_GT(count, 20u);
}

/// The graph form and the readable form of one graph say the same.
TEST(TextRoundTrip, BothFormsOfAGoldenGraphAgree) {
  for (const auto& file : filesBelow(recordingsFolder() / "golden", ".graph.txt")) {
    fs::path readable = file.string().substr(0, file.string().size() - std::string(".graph.txt").size()) + ".txt";
    if (!fs::exists(readable)) continue;
    const auto module = parseReadable(readFile(readable));
    ASSERT_TRUE(module.has_value()) << readable;
    expectSameText(printGraphText(module->graph), withoutTrailingSpace(readFile(file)), readable);
  }
}

}  // namespace
}  // namespace kerf
