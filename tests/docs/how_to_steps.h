// The steps of a how-to page: its fenced code blocks that name a file or a check.
//
//     ```cpp file=minifier/reductions/my.cpp            the whole of a new file
//     ```cpp file=minifier/reductions/all.def after="KERF_REDUCTION(cut"     lines that go behind the one with that
//     text
//     ```sh run=test_minifier                           builds that test program with the files above, runs these lines
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace kerf::docs {

struct Step {
  std::string file;    ///< relative to the source tree; empty for a check
  std::string after;   ///< text of the line that `text` goes behind; empty: `text` is the file
  std::string target;  ///< of a check: the test program
  std::string text;
};

/// In the page's order. Other fenced blocks are no steps.
std::vector<Step> stepsOf(const std::string& markdown);

std::string readText(const std::filesystem::path& path);
void writeText(const std::filesystem::path& path, const std::string& text);

}  // namespace kerf::docs
