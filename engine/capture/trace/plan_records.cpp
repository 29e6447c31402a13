#include "engine/capture/trace/plan_records.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include <fmt/ranges.h>

#include "engine/capture/common/json.h"
#include "engine/capture/trace/log_text.h"

namespace kerf::inline capture::trace {
namespace {

constexpr std::size_t longestPlanText = 1000;

std::string planText(std::string_view value) { return jsonText(value, longestPlanText); }

constexpr std::size_t longestRanks = 100;

/// The facts of one record, as fields of metrics.
class PlanFacts {
 public:
  explicit PlanFacts(const StoryRecord& record) : m_record(record) {
    m_metrics.kind = record.header.kind == "artifact" ? record.record.name : std::string(record.header.kind);
    m_metrics.run = record.run();
    m_metrics.line = record.line();
  }
  void add(std::string name, std::string value) {
    if (m_metrics.fields.size() == mostItems || m_bytes > mostBytes) return;
    m_bytes += name.size() + value.size() + 2 * sizeof(std::string);
    m_metrics.fields.emplace_back(std::move(name), std::move(value));
  }
  void finish() {
    if (!m_metrics.fields.empty()) m_record.add(m_record.story.metrics, std::move(m_metrics), m_bytes);
  }

 private:
  static constexpr std::size_t mostBytes = std::size_t{4} << 20;  ///< of one record
  const StoryRecord& m_record;
  CompileMetrics m_metrics;
  std::size_t m_bytes = 0;
};

/// "; memory 0.5" where a number is told.
std::string costText(std::string_view what, std::string_view value) {
  const auto number = jsonNumber(value);
  return number ? fmt::format("; {} {:.6g}", what, *number) : std::string();
}

/// Reads the report line by line. A line that fits nothing is passed over.
class SpmdReport {
 public:
  explicit SpmdReport(const StoryRecord& record) : m_facts(record) {}

  void read(std::string_view text) {
    while (!text.empty()) {
      const std::string_view line = firstLineOf(text);
      text.remove_prefix(std::min(text.size(), line.size() + 1));
      take(trimmedText(line));
    }
    finish();
    m_facts.finish();
  }

 private:
  void take(std::string_view line) {
    if (line.starts_with("DIFFS rank ")) {
      finish();
      const std::string_view ranks = line.substr(11);
      const std::size_t mark = ranks.find(" vs rank ");
      m_ranks = mark == ranks.npos
                    ? std::string()
                    : fmt::format("ranks {} and {}", clippedText(ranks.substr(0, mark), longestRanks),
                                  clippedText(ranks.substr(mark + 9, ranks.find(':') - mark - 9), longestRanks));
    } else if (line.starts_with("node ") && line.ends_with(':')) {
      finish();
      m_node = clippedText(line.substr(0, line.size() - 1), longestPlanText);
    } else if (line.starts_with("Only on rank ") && line.ends_with(':')) {
      finish();
      m_only = clippedText(line.substr(0, line.size() - 1), longestPlanText);
    } else if (line.starts_with("rank ")) {
      takeRank(line);
    } else if (!m_only.empty() && !line.empty() && !line.starts_with('=')) {
      m_facts.add(fmt::format("{}: {}", m_ranks, m_only), clippedText(line, longestPlanText));
    }
  }

  /// "rank 1: 12 call_function nodes <--" before the differences, "rank 1: aten.mul.Tensor meta=…" in them.
  void takeRank(std::string_view line) {
    const std::size_t colon = line.find(": ");
    if (colon == std::string_view::npos) return;
    const std::string_view rank = line.substr(0, colon);
    std::string_view has = line.substr(colon + 2);
    constexpr std::string_view mark = " <--";
    if (has.ends_with(mark)) has.remove_suffix(mark.size());
    if (m_ranks.empty())
      m_facts.add(clippedText(rank, longestPlanText), clippedText(has, longestPlanText));
    else if (!m_node.empty() && m_has.size() < longestPlanText)
      m_has += fmt::format("{}{}: {}", m_has.empty() ? "" : " | ", rank, clippedText(has, longestPlanText));
  }

  void finish() {
    m_only.clear();
    if (!m_node.empty()) m_facts.add(fmt::format("{}: {}", m_ranks, m_node), std::exchange(m_has, {}));
    m_node.clear();
  }

  PlanFacts m_facts;
  std::string m_ranks, m_has, m_node, m_only;
};

/// The numbers of a JSON list.
std::unordered_set<std::size_t> indicesOf(std::string_view list) {
  std::unordered_set<std::size_t> indices;
  JsonWalker items(list);
  while (indices.size() < mostItems && items.nextElement())
    if (const auto number = jsonInteger(items.value()); number && *number >= 0) indices.insert(std::size_t(*number));
  return indices;
}

std::vector<std::string> namesOf(std::string_view list) {
  std::vector<std::string> names;
  JsonWalker items(list);
  while (names.size() < mostItems && items.nextElement()) names.push_back(planText(items.value()));
  return names;
}

/// "x: S(0) → R (3.1), w: R" of a node's inputs; what is redistributed has both placements and the cost.
std::string shardedInputs(std::string_view list, double& communication) {
  std::string text;
  JsonWalker inputs(list);
  while (text.size() < longestPlanText && inputs.nextElement()) {
    const std::string from = planText(jsonMember(inputs.value(), "src_placement"));
    const std::string to = planText(jsonMember(inputs.value(), "dst_placement"));
    const double cost = std::max(0.0, jsonNumber(jsonMember(inputs.value(), "comm_cost")).value_or(0));
    communication += cost;
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", planText(jsonMember(inputs.value(), "name")),
                        from == to || to.empty() ? from : fmt::format("{} → {}", from, to));
    if (cost > 0) text += fmt::format(" ({:.4g})", cost);
  }
  return text;
}

}  // namespace

std::string innermostFrame(std::string_view traceback) {
  const std::size_t at = traceback.rfind("File \"");
  if (at == std::string_view::npos) return {};
  std::string_view frame = firstLineOf(traceback.substr(at + 6));
  const std::size_t quote = frame.find('"');
  constexpr std::string_view lineMark = ", line ";
  if (quote == std::string_view::npos || !frame.substr(quote + 1).starts_with(lineMark)) return {};
  std::string_view rest = frame.substr(quote + 1 + lineMark.size());
  const std::size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
  std::string text = fmt::format("{}:{}", frame.substr(0, quote), rest.substr(0, digits));
  rest.remove_prefix(digits);
  if (rest.starts_with(", in ")) text += fmt::format(" in {}", trimmedText(rest.substr(5)));
  return clippedText(text, longestLine);
}

void takeSpmdReport(const StoryRecord& record) { SpmdReport(record).read(record.payload()); }

void takeTopology(const StoryRecord& record) {
  const std::string payload = record.payload();
  PlanFacts facts(record);
  JsonWalker groups(jsonMember(payload, "process_groups"));
  while (groups.nextMember())
    facts.add("process group " + planText(groups.key()),
              fmt::format("rank {} of {}", planText(jsonMember(groups.value(), "rank")),
                          planText(jsonMember(groups.value(), "size"))));
  JsonWalker meshes(jsonMember(payload, "device_meshes"));
  while (meshes.nextElement())
    facts.add(fmt::format("device mesh {}", planText(jsonMember(meshes.value(), "device_type"))),
              fmt::format("{} over ({})", planText(jsonMember(meshes.value(), "mesh")),
                          fmt::join(namesOf(jsonMember(meshes.value(), "mesh_dim_names")), ", ")));
  facts.finish();
}

void takeMinCut(const StoryRecord& record) {
  const std::string payload = record.payload();
  const auto saved = indicesOf(jsonMember(payload, "Knapsack Saved Nodes"));
  const auto names = namesOf(jsonMember(payload, "Min Cut Solution Saved Values"));
  const std::unordered_set<std::string> minimal(names.begin(), names.end());
  PlanFacts facts(record);
  JsonWalker nodes(jsonMember(payload, "Joint Graph Node Information"));
  while (nodes.nextMember()) {
    const std::string_view node = nodes.value();
    const std::string name = planText(jsonMember(node, "name"));
    const bool candidate = jsonMember(node, "is_recomputable_candidate") == "true";
    if (!candidate && !minimal.contains(name)) continue;
    const std::string_view info = jsonMember(node, "recomputable_candidate_info");
    const auto index = jsonInteger(jsonMember(info, "recomputable_node_idx"));
    const bool isSaved = index && *index >= 0 && saved.contains(std::size_t(*index));
    std::string text = !candidate ? "saved by the minimal cut" : isSaved ? "saved" : "computed again";
    text += fmt::format(": {} {}", planText(jsonMember(node, "target")), planText(jsonMember(node, "shape")));
    text += costText("memory", jsonMember(info, "memory")) + costText("run time", jsonMember(info, "runtime"));
    if (const auto where = innermostFrame(jsonText(jsonMember(node, "stack_trace"), longestTrace)); !where.empty())
      text += "; " + where;
    facts.add(name, std::move(text));
  }
  facts.finish();
}

void takeShardingSolution(const StoryRecord& record) {
  const std::string payload = record.payload();
  PlanFacts facts(record);
  JsonWalker nodes(jsonMember(payload, "nodes"));
  while (nodes.nextElement()) {
    const std::string_view node = nodes.value();
    const std::string op = planText(jsonMember(node, "op"));
    if (op == "output") continue;
    double communication = 0;
    const std::string inputs = shardedInputs(jsonMember(node, "inputs"), communication);
    std::string text = fmt::format("{} = {}({})", planText(jsonMember(node, "placement")), op, inputs);
    text += costText("compute", jsonMember(node, "compute_cost"));
    if (communication > 0) text += fmt::format("; communication {:.6g}", communication);
    if (const auto module = planText(jsonMember(node, "module_path")); !module.empty()) text += "; in " + module;
    if (const std::string_view source = jsonMember(node, "source"); source.starts_with('{'))
      text += fmt::format("; {}:{} in {}", planText(jsonMember(source, "file")), planText(jsonMember(source, "line")),
                          planText(jsonMember(source, "func")));
    facts.add(planText(jsonMember(node, "name")), std::move(text));
  }
  facts.finish();
}

}  // namespace kerf::inline capture::trace
