// Two graphs in two columns: node by node, so that a renamed or moved node stands beside itself.
#include <algorithm>
#include <cstdlib>

#include <sys/ioctl.h>
#include <unistd.h>

#include "app/cli/diff_report.h"
#include "engine/ir/printer.h"

namespace kerf::cli {

namespace {

constexpr std::size_t context = 3;
constexpr std::size_t smallestColumn = 20;

/// How one kind of difference looks: the mark between the columns and a terminal colour.
struct Look {
  char mark;
  std::string_view colour;
};
constexpr Look same{' ', ""}, removed{'<', "\033[31m"}, added{'>', "\033[32m"}, changed{'|', "\033[33m"},
    renamed{'~', "\033[36m"};

Look lookOf(const NodeDelta& delta) {
  if (delta.removed()) return removed;
  if (delta.added()) return added;
  if (delta.callChanged || delta.metaChanged) return changed;
  return delta.renamed || delta.moved ? renamed : same;
}

std::string nodeText(const Graph& graph, NodeId id) {
  if (!id.valid()) return {};
  const auto& node = graph.node(id);
  std::string text = node.op() == Opcode::Output ? "return" : node.name();
  const auto annotation = printAnnotation(node.meta(), false, false);
  if (!annotation.empty()) text += ": " + annotation;
  if (node.op() == Opcode::Placeholder) return text + " = placeholder";
  text += node.op() == Opcode::Output ? " " : " = " + node.target() + "(";
  std::vector<std::string> arguments;
  for (const auto& argument : node.args()) arguments.push_back(printArgument(graph, argument, ArgumentStyle::Python));
  for (const auto& [name, value] : node.kwargs())
    arguments.push_back(name + "=" + printArgument(graph, value, ArgumentStyle::Python));
  return text + fmt::format("{}{}", fmt::join(arguments, ", "), node.op() == Opcode::Output ? "" : ")");
}

/// Exactly `width` characters: cut with an ellipsis, or filled with spaces.
std::string fitted(const std::string& text, std::size_t width) {
  std::size_t characters = 0, keep = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if ((static_cast<unsigned char>(text[at]) & 0xC0u) == 0x80u) continue;
    if (characters + 1 == width) keep = at;
    ++characters;
  }
  if (characters <= width) return text + std::string(width - characters, ' ');
  return text.substr(0, keep) + "…";
}

/// Which rows are within `context` rows of a difference.
std::vector<bool> shownRows(const GraphDiff& diff) {
  std::vector<bool> shown(diff.nodes.size(), false);
  for (std::size_t i = 0; i < diff.nodes.size(); ++i) {
    if (diff.nodes[i].same()) continue;
    const auto last = std::min(diff.nodes.size(), i + context + 1);
    for (std::size_t near = i - std::min(i, context); near < last; ++near) shown[near] = true;
  }
  return shown;
}

std::string columns(const Graph& a, const Graph& b, const GraphDiff& diff, std::size_t width, bool colours) {
  const auto column = std::max(smallestColumn, (width - std::min<std::size_t>(width, 3)) / 2);
  const auto shown = shownRows(diff);
  std::string text;
  for (std::size_t i = 0; i < diff.nodes.size(); ++i) {
    if (!shown[i]) {
      if (i == 0 || shown[i - 1]) text += "...\n";
      continue;
    }
    const auto& delta = diff.nodes[i];
    const auto look = lookOf(delta);
    const bool coloured = colours && !look.colour.empty();
    auto right = fitted(nodeText(b, delta.after), column);
    right.erase(right.find_last_not_of(' ') + 1);
    text += fmt::format("{}{} {} {}{}\n", coloured ? look.colour : "", fitted(nodeText(a, delta.before), column),
                        look.mark, right, coloured ? "\033[0m" : "");
  }
  return text;
}

}  // namespace

std::string sideBySide(const ModuleComparison& comparison, std::size_t width, bool colours) {
  if (comparison.same()) return "the graphs are the same\n";
  std::string text;
  for (const auto& [path, diff] : comparison.diffs) {
    if (diff.same()) continue;
    if (!path.empty()) text += fmt::format("# {}\n", path);
    text += columns(graphAt(comparison.before, path), graphAt(comparison.after, path), diff, width, colours);
  }
  return text;
}

std::size_t terminalWidth() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const char* named = std::getenv("COLUMNS");
  const long columns = named != nullptr ? std::strtol(named, nullptr, 10) : 0;
  return columns >= 40 && columns <= 10'000 ? std::size_t(columns) : 160;
}

bool terminalHasColours() { return isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr; }

}  // namespace kerf::cli
