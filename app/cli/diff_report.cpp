#include "app/cli/diff_report.h"

#include <algorithm>
#include <map>

#include "app/cli/json_forms.h"
#include "app/cli/text_table.h"

namespace kerf::cli {

namespace {

using Names = std::vector<std::string>;

constexpr std::size_t shownNames = 6;           ///< of a group
constexpr std::size_t shownGroups = 20;         ///< of a list
constexpr std::ptrdiff_t shownTextLines = 200;  ///< of the unified text, where it was not asked for

/// "add, mul ×2, view".
std::string opsText(const Names& ops) {
  std::vector<std::pair<std::string, int>> counts;
  for (const auto& op : ops) {
    const auto known = std::ranges::find(counts, op, &std::pair<std::string, int>::first);
    if (known == counts.end())
      counts.emplace_back(op, 1);
    else
      ++known->second;
  }
  Names texts;
  for (const auto& [op, count] : counts) texts.push_back(count == 1 ? op : fmt::format("{} ×{}", op, count));
  return fmt::format("{}", fmt::join(texts, ", "));
}

/// "a, b, c and 4 more".
std::string namesText(const Names& names, std::size_t most) {
  const auto shown = std::min(names.size(), most);
  auto text = fmt::format("{}", fmt::join(names.begin(), names.begin() + std::ptrdiff_t(shown), ", "));
  return shown == names.size() ? text : text + fmt::format(" and {} more", names.size() - shown);
}

/// Names under what happened to them, in the order in which that was met first.
class Groups {
 public:
  void add(const std::string& key, std::string name) {
    const auto [found, fresh] = m_places.try_emplace(key, m_groups.size());
    if (fresh) m_groups.emplace_back(key, Names());
    m_groups[found->second].second.push_back(std::move(name));
  }

  /// A line for each group, the largest first.
  std::string text(const std::string& title, const DiffDetail& detail) {
    if (m_groups.empty()) return {};
    std::ranges::stable_sort(m_groups, std::ranges::greater(), [](const auto& group) { return group.second.size(); });
    std::string text = fmt::format("\n{}\n", title);
    const auto shown = detail.all ? m_groups.size() : std::min(m_groups.size(), shownGroups);
    for (std::size_t i = 0; i < shown; ++i) {
      const auto& [key, names] = m_groups[i];
      const std::string times = names.size() == 1 ? std::string() : fmt::format("{}× ", names.size());
      const std::string list = namesText(names, detail.all ? names.size() : shownNames);
      text += key.empty() ? fmt::format("  {}\n", list) : fmt::format("  {}{}: {}\n", times, key, list);
    }
    if (shown < m_groups.size())
      text += fmt::format("  and {} more kinds (--all lists them)\n", m_groups.size() - shown);
    return text;
  }

 private:
  std::map<std::string, std::size_t> m_places;
  std::vector<std::pair<std::string, Names>> m_groups;
};

/// "amax + sum_1": nodes that became something together.
std::string joinedText(const Names& names) {
  const auto shown = std::min<std::size_t>(names.size(), 3);
  return fmt::format("{}{}", fmt::join(names.begin(), names.begin() + std::ptrdiff_t(shown), " + "),
                     shown < names.size() ? " + …" : "");
}

/// "aten.view.default" of "call_function[torch.ops.aten.view.default](…)".
std::string targetOf(const std::string& call) {
  const std::size_t begin = call.find('[') + 1;
  std::string target = call.substr(begin, call.find(']', begin) - begin);
  return target.starts_with("torch.ops.") ? target.substr(10) : target;
}

std::string changeText(const NodeChange& change) {
  const std::string before = targetOf(change.before), after = targetOf(change.after);
  return before == after ? fmt::format("other arguments of {}", after) : fmt::format("{} → {}", before, after);
}

/// "f32[2, 3] → f16[2, 3]"; strides alone are one kind, whatever they are.
std::string shapeChangeText(const NodeChange& change) {
  const auto withoutStrides = [](const std::string& text) {
    const std::size_t first = text.find("]["), last = text.rfind(']');
    return first == std::string::npos ? text : text.substr(0, first + 1) + text.substr(last + 1);
  };
  const std::string before = withoutStrides(change.before), after = withoutStrides(change.after);
  return before == after ? std::string("other strides") : fmt::format("{} → {}", before, after);
}

std::string rewrittenText(const GraphDifference& difference, const DiffDetail& detail) {
  Groups rewritten, merged, duplicated;
  for (const auto& each : difference.rewritten) {
    if (each.kind == "merged")
      merged.add(opsText(each.opsBefore), fmt::format("{} → {}", each.before.front(), each.after.front()));
    else if (each.kind == "duplicated")
      duplicated.add(opsText(each.opsAfter), fmt::format("{} → {}", each.before.front(), each.after.front()));
    else
      rewritten.add(fmt::format("{} → {}", opsText(each.opsBefore), opsText(each.opsAfter)), joinedText(each.before));
  }
  return rewritten.text("rewritten", detail) + merged.text("merged into an equal call", detail) +
         duplicated.text("computed again", detail);
}

std::string listsText(const GraphDifference& difference, const DiffDetail& detail) {
  Groups removed, added, changed, shapes, moved, given, renamed;
  for (const auto& name : difference.removed) removed.add("", name);
  for (const auto& name : difference.added) added.add("", name);
  for (const auto& change : difference.changed) changed.add(changeText(change), change.name);
  for (const auto& change : difference.metaChanged) shapes.add(shapeChangeText(change), change.name);
  for (const auto& name : difference.moved) moved.add("", name);
  for (const auto& value : difference.given) given.add("", value.before);
  for (const auto& [before, after] : difference.renamed) renamed.add("", fmt::format("{} → {}", before, after));
  return removed.text("removed", detail) + added.text("added", detail) + changed.text("changed", detail) +
         shapes.text("another shape, dtype, stride or device", detail) +
         moved.text("moved, where order matters", detail) + given.text("an input of the other graph", detail) +
         renamed.text("renamed", detail);
}

std::string opsLine(const GraphDifference& difference) {
  Names texts;
  for (const auto& count : difference.ops)
    texts.push_back(fmt::format("{} {} → {}", count.op, count.before, count.after));
  return texts.empty() ? std::string() : fmt::format("calls: {}\n", fmt::join(texts, ", "));
}

}  // namespace

std::string differenceCounts(const GraphDifference& difference) {
  const auto ofKind = [&](std::string_view kind) {
    return std::ranges::count(difference.rewritten, kind, &RewriteDoc::kind);
  };
  const auto gradients = [](std::int64_t count) {
    return count == 0 ? std::string() : fmt::format(" ({} for gradients)", count);
  };
  std::string text = fmt::format(
      "{} removed{}, {} added{}, {} rewritten, {} changed, {} with another shape or dtype, {} moved, {} renamed",
      counted(std::ssize(difference.removed), "node"), gradients(difference.gradientsRemoved), difference.added.size(),
      gradients(difference.gradientsAdded), ofKind("rewritten"), difference.changed.size(),
      difference.metaChanged.size(), difference.moved.size(), difference.renamed.size());
  if (!difference.given.empty()) text += fmt::format(", {} given", difference.given.size());
  if (ofKind("merged") > 0) text += fmt::format(", {} merged", ofKind("merged"));
  if (ofKind("duplicated") > 0) text += fmt::format(", {} computed again", ofKind("duplicated"));
  return text;
}

Json differenceJson(const GraphDifference& difference) {
  Json renamed = Json::array();
  for (const auto& [before, after] : difference.renamed) renamed.push_back({{"before", before}, {"after", after}});
  return {{"same", difference.same},
          {"nodes_before", difference.nodesBefore},
          {"nodes_after", difference.nodesAfter},
          {"paired", difference.paired},
          {"removed", difference.removed},
          {"added", difference.added},
          {"gradients_removed", difference.gradientsRemoved},
          {"gradients_added", difference.gradientsAdded},
          {"rewritten", jsonOf(difference.rewritten)},
          {"renamed", std::move(renamed)},
          {"moved", difference.moved},
          {"changed", jsonOf(difference.changed)},
          {"meta_changed", jsonOf(difference.metaChanged)},
          {"given", jsonOf(difference.given)},
          {"calls", jsonOf(difference.ops)},
          {"text", difference.text}};
}

std::string differenceText(const GraphDifference& difference, const std::string& a, const std::string& b,
                           const DiffDetail& detail) {
  if (difference.same) return "the graphs are the same\n";
  auto text = fmt::format("--- {}\n+++ {}\n{} before, {} after, {} the same computation\n{}\n", a, b,
                          counted(difference.nodesBefore, "node"), difference.nodesAfter, difference.paired,
                          differenceCounts(difference));
  text += opsLine(difference) + rewrittenText(difference, detail) + listsText(difference, detail);
  const auto lines = std::ranges::count(difference.text, '\n');
  if (detail.unified || lines <= shownTextLines) return text + "\n" + difference.text;
  return text + fmt::format("\n{} of unified text (--unified prints them)\n", counted(lines, "line"));
}

}  // namespace kerf::cli
