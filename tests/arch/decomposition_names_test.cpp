// A decomposition is found by its op: the function that writes `aten::nll_loss_forward` as other ops is nllLossForward.
#include <algorithm>
#include <array>
#include <cctype>
#include <regex>

#include <gmock/gmock.h>

#include "tests/arch/source_tree.h"

namespace kerf::arch {
namespace {

/// "inOpMath<smoothL1Loss>" of "aten::smooth_l1_loss".
struct DecompositionName {
  std::string op, function, file;
};

/// One function of several ops has the name of the first.
constexpr std::array<std::string_view, 6> exceptions = {"_batch_norm_no_update",
                                                        "_batch_norm_with_update",
                                                        "_batch_norm_with_update_functional",  // nativeBatchNormLegit…
                                                        "unsafe_split_with_sizes",             // unsafeSplit
                                                        "upsample_bilinear2d",
                                                        "upsample_trilinear3d"};  // upsampleLinear

std::string lettersOf(std::string_view text) {
  std::string letters;
  for (const char c : text)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) letters += char(std::tolower(static_cast<unsigned char>(c)));
  return letters;
}

/// "nll_loss2d_forward" → "nlllossforward": without what tells forms of one op apart.
std::string baseOf(const std::string& op) {
  static const std::regex details("^_+|^_*special_|[123]d(?=_|$)|_functional$|_$");
  return lettersOf(std::regex_replace(op, details, ""));
}

void addMatches(const SourceFile& file, const std::regex& row, std::vector<DecompositionName>& names) {
  for (std::sregex_iterator at(file.text.begin(), file.text.end(), row), end; at != end; ++at)
    names.push_back({(*at)[1], (*at)[2], file.path});
}

/// Rows of ops that name their decomposition behind the schema.
void addRowsOfOps(const SourceFile& file, std::vector<DecompositionName>& names) {
  static const std::regex schema(R"re("aten::(\w+)[^"]*\()re"), named(R"re(\.decomposition\(([\w<>:, ]+)\))re");
  std::string op;
  for (const std::string& line : linesOf(file.text)) {
    std::smatch match;
    if (std::regex_search(line, match, schema)) op = match[1];
    if (std::regex_search(line, match, named)) names.push_back({op, match[1], file.path});
  }
}

/// Rows of the three forms that tables of decompositions have.
std::vector<DecompositionName> decompositionNames() {
  static const std::regex alone(R"re(decomposes\("aten::(\w+)[^"]*",\s*([\w<>:, ]+?)\)\s*[,}])re");
  static const std::regex ofTable(R"re(\{"aten::(\w+)[^("]*",\s*([\w:]+(?:<[\w<>:, ]+>)?)[,}])re");
  std::vector<DecompositionName> names;
  for (const auto& file : sourceFiles()) {
    if (!file.path.starts_with("engine/ops/")) continue;
    addMatches(file, alone, names);
    if (file.path.find("/decompositions") != std::string::npos) addMatches(file, ofTable, names);
    addRowsOfOps(file, names);
  }
  return names;
}

TEST(DecompositionNames, ContainTheNamesOfTheirOps) {
  const auto names = decompositionNames();
  EXPECT_GT(names.size(), 180u) << "the forms of the tables have changed";
  for (const auto& [op, function, file] : names) {
    if (std::ranges::find(exceptions, op) != exceptions.end()) continue;
    EXPECT_NE(lettersOf(function).find(baseOf(op)), std::string::npos)
        << file << ": name the decomposition of aten::" << op << " after it, not " << function;
  }
}

TEST(DecompositionNames, HaveNoNeedlessExceptions) {
  const auto names = decompositionNames();
  for (const std::string_view op : exceptions) {
    const auto isNamedOtherwise = [&](const DecompositionName& name) {
      return name.op == op && lettersOf(name.function).find(baseOf(name.op)) == std::string::npos;
    };
    EXPECT_TRUE(std::ranges::any_of(names, isNamedOtherwise)) << op;
  }
}

}  // namespace
}  // namespace kerf::arch
