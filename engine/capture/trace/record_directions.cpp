#include "engine/capture/trace/record_directions.h"

#include <algorithm>
#include <array>

#include "engine/capture/trace/log_text.h"

namespace kerf::inline capture::trace {
namespace {

struct Named {
  std::string_view name, direction;
};
/// By the beginning of the name, or of the kind.
constexpr std::array named{Named{"aot_forward_graph", "forward"}, Named{"aot_backward_graph", "backward"},
                           Named{"aot_inference_graph", "inference"}, Named{"bwd_compilation_metrics", "backward"},
                           Named{"aot_autograd_backward_compilation_metrics", "backward"}};

/// What Inductor writes of one graph; `once`: a second one begins another graph.
struct Written {
  std::string_view name;
  bool once;
};
constexpr std::array written{Written{"fx_graph_runnable", true},
                             Written{"before_post_grad_graph", true},
                             Written{"after_post_grad_graph", true},
                             Written{"inductor_post_grad_graph", true},
                             Written{"inductor_output_code", true},
                             Written{"inductor_collective_schedule", true},
                             Written{"inductor_runtime_and_tensor_meta", true},
                             Written{"fx_graph_cache_hit", false},
                             Written{"fx_graph_cache_miss", false},
                             Written{"fx_graph_cache_bypass", false},
                             Written{"fx_graph_cache_hash", false},
                             Written{"triton_kernel_info", true},
                             Written{"inductor_post_to_pre_grad_nodes", true},
                             Written{"inductor_triton_kernel_to_post_grad_nodes", true},
                             Written{"inductor_provenance_tracking_node_mappings", true},
                             Written{"inductor_provenance_tracking_kernel_stack_traces", true}};

const std::string& nameOf(const CaptureRecord& record) { return record.kind == "artifact" ? record.name : record.kind; }

/// A graph that Inductor compiled: its records.
struct InductorRun {
  std::vector<std::size_t> records;
  std::vector<const Written*> seen;
  std::string direction;
};

std::string directionOfCode(const CaptureRecord& record) {
  constexpr std::int64_t headBytes = 4096;
  CaptureRecord head;
  head.payload = record.payload;
  head.payload.length = std::min(head.payload.length, headBytes);
  head.tabbed = record.tabbed;
  const auto text = head.text();
  if (!text) return {};
  for (const std::string_view direction : {"forward", "backward", "inference"}) {
    const std::size_t mark = text->find("AOT ID: ['");
    if (mark == std::string::npos) return {};
    const std::string_view id = std::string_view(*text).substr(mark, text->find(']', mark) - mark);
    if (id.ends_with(fmt::format("_{}'", direction))) return std::string(direction);
  }
  return {};
}

/// The graphs of one compile id, from one dynamo_start to the next.
class Runs {
 public:
  Runs(const CaptureDetails& details, std::vector<std::string>& directions)
      : m_details(details), m_directions(directions) {}

  void take(std::size_t index) {
    const CaptureRecord& record = m_details.records[index];
    if (record.kind == "dynamo_start") finish();
    const std::string& name = nameOf(record);
    if (name == "aot_inference_graph") m_inference = true;
    if (name == "aot_joint_graph" || name == "aot_forward_graph") m_joint = true;
    const auto* kind = std::ranges::find(written, name, &Written::name);
    if (kind == written.end()) return;
    const bool again =
        kind->once && !m_runs.empty() && std::ranges::find(m_runs.back().seen, kind) != m_runs.back().seen.end();
    if (m_runs.empty() || again) m_runs.emplace_back();
    InductorRun& run = m_runs.back();
    run.records.push_back(index);
    run.seen.push_back(kind);
    if (name == "inductor_output_code") run.direction = directionOfCode(record);
  }

  void finish() {
    for (std::size_t i = 0; i < m_runs.size(); ++i) {
      InductorRun& run = m_runs[i];
      if (run.direction.empty() && m_joint) run.direction = i == 0 ? "forward" : "backward";
      if (run.direction.empty() && m_inference) run.direction = "inference";
      for (const std::size_t index : run.records) m_directions[index] = run.direction;
    }
    m_runs.clear();
    m_joint = m_inference = false;
  }

 private:
  const CaptureDetails& m_details;
  std::vector<std::string>& m_directions;
  std::vector<InductorRun> m_runs;
  bool m_joint = false, m_inference = false;
};

}  // namespace

std::vector<std::string> recordDirections(const CaptureDetails& details) {
  std::vector<std::string> directions(details.records.size());
  for (const CompileEntry& entry : details.compiles) {
    Runs runs(details, directions);
    for (const std::size_t index : entry.records) runs.take(index);
    runs.finish();
  }
  for (std::size_t i = 0; i < directions.size(); ++i)
    for (const Named& name : named)
      if (const std::string& text = nameOf(details.records[i]);
          text == name.name || (text.starts_with(name.name) && text.ends_with("metrics_runtime")))
        directions[i] = name.direction;
  return directions;
}

}  // namespace kerf::inline capture::trace
