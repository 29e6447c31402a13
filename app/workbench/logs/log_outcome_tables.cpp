// Tables of how compilations went: the compilations themselves, their stacks, recompiles, breaks, restarts, failures.
#include <algorithm>

#include <fmt/ranges.h>

#include "app/workbench/logs/log_tables.h"

namespace kerf::workbench {

namespace {

std::string countText(std::size_t count) { return count == 0 ? std::string() : std::to_string(count); }

/// The metrics of the compilation itself: not of backward, not of run time.
const CompileMetrics* metricsOf(const CompileStory& story) {
  for (const auto& metrics : story.metrics)
    if (metrics.kind == "compilation_metrics") return &metrics;
  return nullptr;
}

/// "fx_graph hit, aotautograd miss (2)".
std::string cachesOf(const CompileStory& story) {
  std::map<std::string, int> counts;
  for (const auto& lookup : story.caches)
    if (lookup.result != "hash") ++counts[lookup.cache + " " + lookup.result];
  std::vector<std::string> texts;
  for (const auto& [name, count] : counts) texts.push_back(count == 1 ? name : fmt::format("{} ({})", name, count));
  return fmt::format("{}", fmt::join(texts, ", "));
}

/// Frames of compilations as a tree: stacks that begin alike share their beginning.
class StackTree {
 public:
  void insert(const LogStack& stack, std::string label) {
    Node* node = &m_root;
    for (const std::uint32_t frame : stack) node = &child(*node, frame);
    node->labels.push_back(std::move(label));
  }

  void rows(const CompileLog& log, LogTable& table) const { write(m_root, 0, log, table); }

 private:
  struct Node {
    std::uint32_t frame = 0;
    std::vector<std::string> labels;
    std::vector<std::unique_ptr<Node>> children;  ///< in order of appearance
    std::unordered_map<std::uint32_t, std::size_t> known;
  };

  static Node& child(Node& node, std::uint32_t frame) {
    const auto [slot, fresh] = node.known.try_emplace(frame, node.children.size());
    if (fresh) {
      node.children.push_back(std::make_unique<Node>());
      node.children.back()->frame = frame;
    }
    return *node.children[slot->second];
  }

  /// Only where stacks part, or go on behind a compilation, does the depth grow: a stack has up to 1000 frames.
  void write(const Node& node, int depth, const CompileLog& log, LogTable& table) const {
    for (const auto& next : node.children) {
      LogRow row;
      row.cells = {log.frames.text(next->frame), fmt::format("{}", fmt::join(next->labels, " "))};
      row.detail = log.frames.frame(next->frame).code;
      row.depth = depth;
      table.rows.push_back(std::move(row));
      const bool parts = next->children.size() > 1 || !next->labels.empty();
      write(*next, depth + (parts ? 1 : 0), log, table);
    }
  }

  Node m_root;
};

}  // namespace

void fillCompiles(const LogView& view, LogTable& table) {
  for (std::size_t i = 0; i < view.log.compiles.size(); ++i) {
    const CompileEntry& entry = view.details.compiles[i];
    const CompileStory& story = view.log.compiles[i];
    const CompileMetrics* metrics = metricsOf(story);
    const auto seconds = [&](std::string_view what) {
      return metrics == nullptr ? std::string() : secondsText(metrics->seconds(what));
    };
    table.rows.push_back(compileRow(
        view, i,
        {std::string(compileStatusName(entry.status)), entry.frame, seconds("total"), seconds("dynamo"),
         seconds("inductor"), seconds("codegen"), metrics == nullptr ? std::string() : metrics->field("graph_op_count"),
         countText(story.guards.size()), countText(entry.graphs.size()), countText(story.causes.size()),
         countText(story.breaks.size()), countText(story.restarts.size()), cachesOf(story)}));
  }
}

void fillStacks(const LogView& view, LogTable& table) {
  StackTree tree;
  for (std::size_t i = 0; i < view.log.compiles.size(); ++i) {
    const CompileEntry& entry = view.details.compiles[i];
    const LogStack& stack = view.log.compiles[i].stack;
    const std::string rank = view.ranks.ranks.empty() || entry.rank < 0 ? "" : fmt::format("@rank{}", entry.rank);
    if (!stack.empty()) tree.insert(stack, entry.id + rank);
  }
  for (const auto& [stack, count] : view.log.unknownStacks)
    tree.insert(stack, count == 1 ? std::string("(no compile id)") : fmt::format("(no compile id, {} records)", count));
  tree.rows(view.log, table);
}

void fillRecompiles(const LogView& view, LogTable& table) {
  for (std::size_t i = 0; i < view.log.compiles.size(); ++i)
    for (const RecompileCause& cause : view.log.compiles[i].causes)
      table.rows.push_back(
          compileRow(view, i, {cause.subject, cause.before, cause.after, cause.from, cause.guard, cause.where}));
}

void fillBreaks(const LogView& view, LogTable& table) {
  for (std::size_t i = 0; i < view.log.compiles.size(); ++i)
    for (const GraphBreak& broken : view.log.compiles[i].breaks) {
      table.rows.push_back(compileRow(view, i, {broken.where, broken.code, broken.reason}, broken.line));
      table.rows.back().detail = broken.explanation;
    }
}

void fillRestarts(const LogView& view, LogTable& table) {
  for (std::size_t i = 0; i < view.log.compiles.size(); ++i)
    for (const CompileRestart& restart : view.log.compiles[i].restarts) {
      const std::string line = restart.reason.substr(0, restart.reason.find('\n'));
      table.rows.push_back(compileRow(view, i, {restart.isBreak ? "graph break" : "Dynamo began anew", line}));
      if (line.size() < restart.reason.size()) table.rows.back().detail = restart.reason;
    }
}

void fillFailures(const LogView& view, LogTable& table) {
  for (std::size_t i = 0; i < view.log.compiles.size(); ++i)
    for (const CompileFailure& failure : view.log.compiles[i].failures) {
      table.rows.push_back(compileRow(view, i, {failure.type, failure.reason, failure.where}, failure.line));
      table.rows.back().detail = failure.trace;
    }
}

void fillMetrics(const LogView& view, LogTable& table) {
  for (std::size_t i = 0; i < view.log.compiles.size(); ++i)
    for (const CompileMetrics& metrics : view.log.compiles[i].metrics)
      for (const auto& [field, value] : metrics.fields)
        table.rows.push_back(
            compileRow(view, i, {std::to_string(metrics.run), metrics.kind, field, value}, metrics.line));
}

}  // namespace kerf::workbench
