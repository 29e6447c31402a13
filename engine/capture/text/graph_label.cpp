#include "engine/capture/text/graph_label.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "engine/capture/text/line_content.h"

namespace kerf::inline capture {
namespace {

constexpr int linesAbove = 8;
constexpr std::size_t longestLabel = 400;

struct Stage {
  std::string_view words;  ///< in lower case
  std::string_view stage, name;
};
/// The first row whose words the label has.
constexpr std::array<Stage, 17> stages = {{{"compiled autograd graph", "compiled_autograd_graph", "compiled_autograd"},
                                           {"aot joint graph", "aot_joint_graph", "joint"},
                                           {"joint graph", "aot_joint_graph", "joint"},
                                           {"aot forward graph", "aot_forward_graph", "forward"},
                                           {"forward graph", "aot_forward_graph", "forward"},
                                           {"aot backward graph", "aot_backward_graph", "backward"},
                                           {"backward graph", "aot_backward_graph", "backward"},
                                           {"inference graph", "aot_inference_graph", "inference"},
                                           {"before pre grad", "before_pre_grad_graph", "before_pre_grad"},
                                           {"after pre grad", "after_pre_grad_graph", "after_pre_grad"},
                                           {"before joint graph", "before_joint_graph", "before_joint"},
                                           {"after joint graph", "after_joint_graph", "after_joint"},
                                           {"before post grad", "before_post_grad_graph", "before_post_grad"},
                                           {"after post grad", "after_post_grad_graph", "after_post_grad"},
                                           {"__compiled_fn_", "dynamo_output_graph", ""},
                                           {"exportedprogram:", "exported_program", "exported"},
                                           {"pre_insert_deferred", "dynamo_output_graph", ""}}};

bool isDigit(char c) { return c >= '0' && c <= '9'; }

std::string lowerCase(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = char(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

/// The number behind the words: "Forward graph 12".
std::string numberAfter(std::string_view text, std::size_t at) {
  while (at < text.size() && text[at] == ' ') ++at;
  std::size_t end = at;
  while (end < text.size() && isDigit(text[end]) && end - at < 6) ++end;
  return std::string(text.substr(at, end - at));
}

/// "__compiled_fn_1" of "__compiled_fn_1_a600377f_6d52_…".
std::string compiledName(std::string_view text) {
  const std::size_t at = text.find("__compiled_fn_");
  const std::string number = numberAfter(text, at + 14);
  return number.empty() ? std::string() : "__compiled_fn_" + number;
}

bool readStage(std::string_view line, GraphLabel& label) {
  const std::string text = lowerCase(line.substr(0, longestLabel));
  for (const Stage& row : stages) {
    const std::size_t at = text.find(row.words);
    if (at == std::string::npos) continue;
    label.stage = row.stage;
    const std::string number = numberAfter(text, at + row.words.size());
    label.name = row.name.empty() ? compiledName(line) : std::string(row.name);
    if (!row.name.empty() && !number.empty()) label.name += "_" + number;
    return true;
  }
  return false;
}

/// "[0/1]", "[!1/0/2_1]": a compile id in brackets.
std::string compileIdIn(std::string_view text) {
  for (std::size_t open = text.find('['); open != std::string_view::npos; open = text.find('[', open + 1)) {
    const std::size_t close = text.find(']', open);
    if (close == std::string_view::npos) return {};
    const std::string_view inner = text.substr(open + 1, close - open - 1);
    const bool isId = inner.find('/') != std::string_view::npos && inner.size() < 30 &&
                      inner.find_first_not_of("0123456789/_!") == std::string_view::npos && isDigit(inner.back());
    if (isId) return std::string(text.substr(open, close - open + 1));
  }
  return {};
}

int rankIn(std::string_view text) {
  for (const std::string_view mark : {"[rank", "[default", "rank="}) {
    const std::size_t at = text.find(mark);
    if (at == std::string_view::npos) continue;
    const std::string number = numberAfter(text, at + mark.size());
    if (!number.empty()) return std::stoi(number);
  }
  return -1;
}

void readPlace(std::string_view text, GraphLabel& label) {
  text = text.substr(0, longestLabel);
  if (label.compileId.empty()) label.compileId = compileIdIn(text);
  if (label.rank < 0) label.rank = rankIn(text);
}

/// Whether a line belongs to another graph: what stands above it is not this one's.
bool endsLabel(std::string_view line) {
  const LineContent::Kind kind = contentOf(line).kind;
  return kind != LineContent::Kind::None || strippedLine(line).starts_with("return ");
}

}  // namespace

GraphLabel labelAbove(const std::vector<TextLine>& lines, std::size_t at, std::string_view prefix) {
  GraphLabel label;
  readPlace(prefix, label);
  for (int up = 0; up < linesAbove && std::size_t(up) < at; ++up) {
    const std::string& line = lines[at - 1 - std::size_t(up)].text;
    if (endsLabel(line)) break;
    const bool found = readStage(line, label);
    if (found || line.find("TRACED GRAPH") != std::string::npos || line.find("Graph[") != std::string::npos)
      readPlace(line, label);
    if (found) break;
  }
  return label;
}

}  // namespace kerf::inline capture
