#include "ui/layout/repeats.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>

namespace kerf::ui::inline layout {
namespace {

using workbench::GraphDoc;

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  a ^= b + 0x9E3779B97F4A7C15U + (a << 6) + (a >> 2);
  return a * 0xBF58476D1CE4E5B9U;
}

std::uint64_t tokenOf(const workbench::NodeDoc& node, bool withLine) {
  return mixed(std::hash<std::string>()(node.target), withLine ? std::uint64_t(node.line) : 0);
}

struct Period {
  int length = 0, begin = 0, end = 0;
};

/// The distance at which most calls come again, and the longest run of calls that do.
Period findPeriod(const std::vector<std::uint64_t>& tokens) {
  constexpr int shortest = 8;
  std::unordered_map<std::uint64_t, int> last;
  std::map<int, int> gaps;
  for (int i = 0; i < int(tokens.size()); ++i) {
    const auto [at, isNew] = last.try_emplace(tokens[std::size_t(i)], i);
    if (!isNew && i - at->second >= shortest) ++gaps[i - at->second];
    at->second = i;
  }
  std::vector<std::pair<int, int>> common;  // how much they cover, minus the gap: the shorter first
  for (const auto& [gap, count] : gaps) common.emplace_back(count * gap, -gap);
  std::ranges::sort(common, std::greater<>());
  Period best;
  for (std::size_t k = 0; k < std::min<std::size_t>(common.size(), 6); ++k) {
    const int gap = -common[k].second;
    int begin = 0;
    for (int i = 0; i <= int(tokens.size()) - gap; ++i) {
      if (i < int(tokens.size()) - gap && tokens[std::size_t(i)] == tokens[std::size_t(i + gap)]) continue;
      if (i - begin > best.end - best.begin - best.length) best = {gap, begin, i + gap};
      begin = i + 1;
    }
  }
  return best;
}

void cutEvenly(const GraphDoc& graph, const std::vector<int>& nodes, int begin, int end, std::vector<Stretch>& cut) {
  const int count = end - begin;
  if (count <= 0) return;
  constexpr int most = 10;  // what is longer is cut again
  const int pieces = std::clamp(int(std::lround(std::sqrt(double(count) / 2))), 1, most);
  // A piece begins with what a unit begins with, where there is such a call near.
  const auto edge = [&](int piece) {
    const int even = begin + int(std::int64_t(count) * piece / pieces);
    if (piece == 0 || piece == pieces) return even;
    const int near = (count / pieces - 1) / 2;  // less than half of a piece: edges stay in their order
    for (int away = 0; away <= near; ++away)
      for (const int at : {even - away, even + away})
        if (beginsUnit(graph.nodes[std::size_t(nodes[std::size_t(at)])])) return at;
    return even;
  };
  for (int i = 0, from = begin; i < pieces; ++i) {
    const int to = edge(i + 1);
    cut.push_back({from, to, spanName(graph, nodes, from, to)});
    from = to;
  }
}

}  // namespace

bool linesRepeat(const workbench::GraphDoc& graph) {
  std::set<std::pair<std::string_view, int>> seen;
  return std::ranges::any_of(graph.nodes, [&](const workbench::NodeDoc& node) {
    const bool call = node.kind != workbench::NodeKind::Input && node.kind != workbench::NodeKind::Parameter;
    return call && node.line > 0 && !seen.emplace(node.file, node.line).second;
  });
}

std::vector<Stretch> cutIntoStretches(const workbench::GraphDoc& graph, const std::vector<int>& nodes) {
  std::vector<std::uint64_t> tokens;
  const bool withLines = linesRepeat(graph);
  for (const int node : nodes) tokens.push_back(tokenOf(graph.nodes[std::size_t(node)], withLines));
  const auto period = findPeriod(tokens);
  const int count = int(nodes.size());
  std::vector<Stretch> cut;
  const int blocks = period.length > 0 ? (period.end - period.begin) / period.length : 0;
  const bool most = std::int64_t(blocks) * period.length * 2 >= count;
  if (blocks < 3 || !most || blocks > 200) {
    cutEvenly(graph, nodes, 0, count, cut);
    return cut;
  }
  const int end = period.begin + blocks * period.length;
  const auto rest = [&](int from, int to) {
    if (to - from > 40)
      cutEvenly(graph, nodes, from, to, cut);
    else if (from < to)
      cut.push_back({from, to, spanName(graph, nodes, from, to)});
  };
  rest(0, period.begin);
  for (int i = 0; i < blocks; ++i)
    cut.push_back(
        {period.begin + i * period.length, period.begin + (i + 1) * period.length, "block " + std::to_string(i)});
  rest(end, count);
  return cut;
}

std::uint64_t formOf(const workbench::GraphDoc& graph, const std::vector<int>& calls) {
  std::unordered_map<int, int> place;
  std::uint64_t form = calls.size();
  for (int i = 0; i < int(calls.size()); ++i) {
    const auto& node = graph.nodes[std::size_t(calls[std::size_t(i)])];
    form = mixed(form, std::hash<std::string>()(node.target));
    for (const int input : node.inputs) {
      const auto found = place.find(input);
      form = mixed(form, found == place.end() ? 0 : std::uint64_t(i - found->second));
    }
    place.emplace(calls[std::size_t(i)], i);
  }
  return form;
}

int resultOf(const workbench::GraphDoc& graph, const std::vector<int>& calls) {
  for (std::size_t i = calls.size(); i-- > 0;)
    for (const int user : graph.nodes[std::size_t(calls[i])].users)
      if (!std::ranges::binary_search(calls, user)) return calls[i];
  return calls.back();
}

}  // namespace kerf::ui::inline layout
