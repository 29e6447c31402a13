#include "app/cli/diff_report.h"

#include "app/cli/text_table.h"

namespace kerf::cli {

namespace {

Json changesJson(const std::vector<NodeChange>& changes) {
  Json list = Json::array();
  for (const auto& change : changes)
    list.push_back({{"name", change.name}, {"before", change.before}, {"after", change.after}});
  return list;
}

std::string summary(const GraphDifference& difference) {
  return fmt::format("{} removed, {} added, {} renamed, {} moved, {} changed, {} with another shape or dtype\n",
                     counted(std::ssize(difference.removed), "node"), difference.added.size(),
                     difference.renamed.size(), difference.moved.size(), difference.changed.size(),
                     difference.metaChanged.size());
}

}  // namespace

Json differenceJson(const GraphDifference& difference) {
  Json renamed = Json::array();
  for (const auto& [before, after] : difference.renamed) renamed.push_back({{"before", before}, {"after", after}});
  return {{"same", difference.same},
          {"removed", difference.removed},
          {"added", difference.added},
          {"renamed", std::move(renamed)},
          {"moved", difference.moved},
          {"changed", changesJson(difference.changed)},
          {"meta_changed", changesJson(difference.metaChanged)},
          {"text", difference.text}};
}

std::string differenceText(const GraphDifference& difference, const std::string& a, const std::string& b) {
  if (difference.same) return "the graphs are the same\n";
  auto text = fmt::format("--- {}\n+++ {}\n{}", a, b, difference.text);
  for (const auto& [before, after] : difference.renamed) text += fmt::format("renamed {} to {}\n", before, after);
  for (const auto& name : difference.moved) text += fmt::format("moved {}\n", name);
  for (const auto& node : difference.metaChanged)
    text += fmt::format("{} was {}, is {}\n", node.name, node.before, node.after);
  return text + summary(difference);
}

}  // namespace kerf::cli
