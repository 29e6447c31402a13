// readCompileLog: the table of record kinds, and the walk over the records.
#include "engine/capture/trace/compile_log.h"

#include <algorithm>
#include <array>

#include "engine/capture/common/json.h"
#include "engine/capture/trace/cache_lookups.h"
#include "engine/capture/trace/graph_breaks.h"
#include "engine/capture/trace/graph_estimates.h"
#include "engine/capture/trace/graph_print.h"
#include "engine/capture/trace/guard_lists.h"
#include "engine/capture/trace/kernel_origins.h"
#include "engine/capture/trace/log_text.h"
#include "engine/capture/trace/plan_records.h"
#include "engine/capture/trace/recompile_reasons.h"
#include "engine/capture/trace/record_directions.h"
#include "engine/capture/trace/symbol_facts.h"

namespace kerf::inline capture {
namespace {

using namespace trace;

constexpr std::size_t mostFields = 500, longestField = 400;  ///< of a metrics record; texts of configs are longer
constexpr std::size_t mostUnknownStacks = 10'000;
constexpr std::size_t recordsPerStep = 4096;

void takeStart(const StoryRecord& record) {
  ++record.story.runs;
  record.story.stack = record.stack("stack");
}

void takeMetrics(const StoryRecord& record) {
  CompileMetrics metrics;
  metrics.kind = record.header.kind;
  metrics.run = record.run();
  metrics.line = record.line();
  std::size_t bytes = 0;
  JsonWalker members(record.header.value);
  while (metrics.fields.size() < mostFields && members.nextMember()) {
    const std::string_view value = members.value();
    if (value == "null" || value.size() > longestField || value == "[]" || value == "{}") continue;
    metrics.fields.emplace_back(clippedText(jsonString(members.key()).value_or(""), 100), jsonText(value));
    bytes += metrics.fields.back().first.size() + value.size() + 2 * sizeof(std::string);
  }
  metrics.stack = record.stack("stack_trace");
  if (record.header.kind == "compilation_metrics") takeRecompileReason(record);
  takeOutcome(record);
  record.add(record.story.metrics, std::move(metrics), bytes);
}

void takeLink(const StoryRecord& record) {
  record.add(record.story.links, std::pair(record.text("name"), record.text("url")), 2 * longestLine);
}

void takeTensor(const StoryRecord& record) { ++record.story.tensors; }
void takeExported(const StoryRecord& record) { ++record.story.exported; }

void takeCode(const StoryRecord& record) {
  LoggedCode code;
  code.record = record.index;
  code.name = record.record.name;
  code.direction = record.direction;
  code.isOutput = record.header.kind == "inductor_output_code" || code.name == "inductor_aot_wrapper_code" ||
                  code.name == "inductor_aot_kernel_code";
  if (const std::string subgraph = record.text("subgraph_name"); !subgraph.empty())
    code.name += fmt::format(" of {}", subgraph);
  const std::size_t bytes = code.name.size();
  record.add(record.story.codes, std::move(code), bytes);
}

struct RecordReader {
  std::string_view name;  ///< kind; of an artifact its own name
  void (*take)(const StoryRecord&);
};

constexpr std::array readers{RecordReader{"dynamo_start", takeStart},
                             RecordReader{"recompile_reasons", takeRecompileReasons},
                             RecordReader{"dynamo_graph_break_reason", takeBreakReason},
                             RecordReader{"dynamo_error", takeError},
                             RecordReader{"compilation_metrics", takeMetrics},
                             RecordReader{"bwd_compilation_metrics", takeMetrics},
                             RecordReader{"aot_autograd_backward_compilation_metrics", takeMetrics},
                             RecordReader{"compilation_metrics_runtime", takeMetrics},
                             RecordReader{"bwd_compilation_metrics_runtime", takeMetrics},
                             RecordReader{"dynamo_guards", takeGuardObjects},
                             RecordReader{"dynamo_cpp_guards_str", takeGuardLines},
                             RecordReader{"create_symbol", takeCreatedSymbol},
                             RecordReader{"create_unbacked_symbol", takeUnbackedSymbol},
                             RecordReader{"symbolic_shape_specialization", takeSpecialised},
                             RecordReader{"guard_added", takeAddedGuard},
                             RecordReader{"guard_added_fast", takeAddedGuard},
                             RecordReader{"propagate_real_tensors_provenance", takeGuess},
                             RecordReader{"expression_created", takeExpression},
                             RecordReader{"missing_fake_kernel", takeMissingKernel},
                             RecordReader{"mismatched_fake_kernel", takeMismatchedKernel},
                             RecordReader{"exported_program", takeExported},
                             RecordReader{"inductor_provenance_tracking_kernel_stack_traces", takeKernelStacks},
                             RecordReader{"inductor_collective_schedule", takeCollectives},
                             RecordReader{"inductor_runtime_and_tensor_meta", takeEstimates},
                             RecordReader{"graph_execution", takeExecutionOrder},
                             RecordReader{"inductor_output_code", takeCode},
                             RecordReader{"graph_dump", takeCode},
                             RecordReader{"dump_file", takeCode},
                             RecordReader{"inductor_spmd_graph_mismatch", takeSpmdReport},
                             RecordReader{"distributed_topology", takeTopology},
                             RecordReader{"min_cut_information", takeMinCut},
                             RecordReader{"autoparallel_solution", takeShardingSolution},
                             RecordReader{"autoparallel_sharding_optimizer_log", takeCode},
                             RecordReader{"asynctp_log", takeCode},
                             RecordReader{"link", takeLink},
                             RecordReader{"describe_tensor", takeTensor}};

class LogWalk {
 public:
  LogWalk(const Capture& capture, const ImportProgress& progress) : m_details(*capture.details), m_progress(progress) {}

  Result<CompileLog> run() {
    m_log.compiles.resize(m_details.compiles.size());
    m_log.directions = recordDirections(m_details);
    assignCompiles();
    for (const RecordReader& reader : readers) m_readers[reader.name] = reader.take;
    for (std::size_t i = 0; i < m_details.records.size(); ++i) {
      if (i % recordsPerStep == 0 && m_progress && !m_progress(double(i) / double(m_details.records.size())))
        return fail(ErrorCode::Cancelled, "reading the log was cancelled");
      takeRecord(i);
    }
    settleBreaks(m_log);
    explainMisses(m_log, m_details);
    markFailedGuards(m_log, m_details);
    joinKernels(m_log, m_details);
    countCollectives(m_log, m_details);
    printGraphs(m_log, m_details);
    note();
    return std::move(m_log);
  }

 private:
  void assignCompiles() {
    m_compileOf.assign(m_details.records.size(), m_log.compiles.size());
    for (std::size_t i = 0; i < m_details.compiles.size(); ++i)
      for (const std::size_t index : m_details.compiles[i].records) m_compileOf[index] = i;
  }

  void takeRecord(std::size_t index) {
    const CaptureRecord& record = m_details.records[index];
    const bool isArtifact = record.kind == "artifact";
    const auto found = m_readers.find(isArtifact ? record.name : record.kind);
    const bool isCache = isArtifact && isCacheArtifact(record.name);
    const std::size_t compile = m_compileOf[index];
    if (compile >= m_log.compiles.size()) {
      if (record.kind == "graph_execution" || record.name == "graph_execution") take(index, m_lost, takeExecutionOrder);
      return;
    }
    CompileStory& story = m_log.compiles[compile];
    if (m_details.compiles[compile].id == "(unknown)") takeUnknownStack(record);
    if (record.graph >= 0) take(index, story, takeCode);
    if (isCache) take(index, story, takeCacheLookup);
    if (found != m_readers.end() && !(record.graph >= 0 && found->second == takeCode))
      take(index, story, found->second);
  }

  void take(std::size_t index, CompileStory& story, void (*reader)(const StoryRecord&)) {
    const CaptureRecord& record = m_details.records[index];
    auto header = parseTraceHeader(record.metadata);
    if (!header) return;
    reader({record, index, std::move(*header), filesOf(record), m_log.directions[index], story, m_log, m_budget,
            m_expressions, m_unread});
  }

  const std::map<std::int64_t, std::string>& filesOf(const CaptureRecord& record) const {
    static const std::map<std::int64_t, std::string> none;
    const auto found = m_details.internedFiles.find(record.origin.file);
    return found == m_details.internedFiles.end() ? none : found->second;
  }

  void takeUnknownStack(const CaptureRecord& record) {
    const auto header = parseTraceHeader(record.metadata);
    if (!header || header->stack.empty()) return;
    LogStack stack = m_log.frames.read(header->stack, filesOf(record));
    const auto [slot, fresh] = m_unknown.try_emplace(stack, m_log.unknownStacks.size());
    if (!fresh) {
      ++m_log.unknownStacks[slot->second].second;
    } else if (m_unknown.size() <= mostUnknownStacks) {
      m_log.unknownStacks.emplace_back(std::move(stack), 1);
    } else {
      m_unknown.erase(slot);
    }
  }

  void note() {
    if (m_unread > 0)
      m_log.notes.push_back(fmt::format("{} payloads could not be read, or are above 16 MiB", m_unread));
    if (m_budget.refused() > 0)
      m_log.notes.push_back(
          fmt::format("{} guards, symbols and other facts beyond 256 MiB were left out", m_budget.refused()));
    for (std::size_t i = 0; i < m_log.compiles.size(); ++i)
      if (m_log.compiles[i].guards.size() >= mostItems)
        m_log.notes.push_back(fmt::format("{}: guards beyond {} were left out", m_details.compiles[i].id, mostItems));
  }

  const CaptureDetails& m_details;
  const ImportProgress& m_progress;
  CompileLog m_log;
  CompileStory m_lost;  ///< of records without a compile id and stack
  LogByteBudget m_budget;
  ExpressionTable m_expressions;
  std::int64_t m_unread = 0;
  std::vector<std::size_t> m_compileOf;
  std::unordered_map<std::string_view, void (*)(const StoryRecord&)> m_readers;
  std::map<LogStack, std::size_t> m_unknown;
};

struct TimeField {
  std::string_view what, field;
  double unit;  ///< seconds
};
/// In the order of preference: versions have changed the names.
constexpr std::array timeFields{TimeField{"total", "entire_frame_compile_time_s", 1},
                                TimeField{"total", "duration_us", 1e-6},
                                TimeField{"dynamo", "dynamo_cumulative_compile_time_us", 1e-6},
                                TimeField{"aot", "aot_autograd_cumulative_compile_time_us", 1e-6},
                                TimeField{"backend", "backend_compile_time_s", 1},
                                TimeField{"inductor", "inductor_compile_time_s", 1},
                                TimeField{"inductor", "inductor_cumulative_compile_time_us", 1e-6},
                                TimeField{"codegen", "code_gen_time_s", 1},
                                TimeField{"codegen", "inductor_code_gen_cumulative_compile_time_us", 1e-6},
                                TimeField{"triton", "triton_compile_time_us", 1e-6},
                                TimeField{"restart", "dynamo_time_before_restart_s", 1}};

}  // namespace

std::string CompileMetrics::field(std::string_view name) const {
  const auto found = std::ranges::find(fields, name, &std::pair<std::string, std::string>::first);
  return found == fields.end() ? std::string() : found->second;
}

double CompileMetrics::seconds(std::string_view what) const {
  for (const TimeField& time : timeFields)
    if (time.what == what)
      if (const auto number = jsonNumber(field(time.field))) return *number * time.unit;
  return -1;
}

Result<CompileLog> readCompileLog(const Capture& capture, const ImportProgress& progress) {
  if (!capture.details) return CompileLog();
  return LogWalk(capture, progress).run();
}

}  // namespace kerf::inline capture
