// kerf show GRAPH|CAPTURE|RECORD: a graph as text, picture or JSON; a whole capture; a record's payload.
#include <algorithm>
#include <sstream>

#include <unistd.h>

#include "app/cli/capture_report.h"
#include "app/cli/commands.h"
#include "app/cli/compile_log_report.h"
#include "app/cli/json_forms.h"
#include "app/cli/options.h"
#include "app/cli/output_file.h"
#include "app/cli/run_reports.h"
#include "app/cli/show_parts.h"
#include "app/cli/text_table.h"
#include "app/workbench/protocol/node_query.h"

namespace kerf::cli {

namespace {

struct ShowOptions {
  std::vector<std::string> symbols;
  GraphAddress inputs;                ///< only its choice of inputs
  std::string backend;                ///< empty: the one that has the format
  std::string where;                  ///< only the nodes that this query describes
  std::string graph, format, output;  ///< an empty format: a table, or the whole capture where there are several graphs
};

std::string dumped(const Json& object) { return object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

/// The columns of a signature lined up.
std::string aligned(const std::string& text) {
  TextTable table({"", "kind", "name", "target"});
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> cells;
    std::istringstream columns(line + "\t");
    for (std::string cell; std::getline(columns, cell, '\t');) cells.push_back(cell);
    table.add(std::move(cells));
  }
  return table.text();
}

GraphAddress addressOf(const ShowOptions& options) { return {options.graph, -1, options.symbols}; }

Result<std::string> graphText(Context& context, const ShowOptions& options) {
  const std::string format = context.json ? "json" : options.format.empty() ? "table" : options.format;
  KERF_TRY(auto text, context.perform(RenderRequest{addressOf(options), format}));
  return format == "signature" ? aligned(text) : std::move(text);
}

/// The answer on top, then compile ids with what belongs beside them. Captures without compile ids have none of it.
Result<std::string> overviewOutput(Context& context, const ShowOptions& options) {
  KERF_TRY(const auto index, context.perform(IndexRequest{options.graph}));
  CompileLogDoc log;
  if (!index.compiles.empty()) {
    auto read = context.perform(CompileLogRequest{options.graph, "answer"});
    if (read) {
      log = std::move(*read);
    } else if (read.error().code == ErrorCode::Cancelled) {
      return fail(std::move(read).error());
    } else {  // what the store knows is shown without its files too
      log.notes = index.notes;
      log.notes.push_back("no answer: " + read.error().text());
    }
  }
  return context.json ? dumped(overviewJson(index, log)) : overviewText(index, log);
}

Result<std::string> logTableOutput(Context& context, const ShowOptions& options) {
  KERF_TRY(const auto log, context.perform(CompileLogRequest{options.graph, options.format}));
  if (log.tables.empty())
    return fail(ErrorCode::BadUsage, "{} is not a trace: it has no {}", options.graph, options.format);
  return context.json ? dumped(logTableJson(log, log.tables.front())) : logTableText(log.tables.front());
}

Result<std::string> captureText(Context& context, const ShowOptions& options) {
  return options.format.empty() ? overviewOutput(context, options) : graphText(context, options);
}

Result<std::string> recordText(Context& context, const ShowOptions& options) {
  KERF_TRY(const auto record, context.perform(RecordRequest{options.graph}));
  if (context.json) return dumped(recordJson(options.graph, record));
  auto text = record.text.empty() ? record.metadata : record.text;
  return text.ends_with('\n') ? std::move(text) : text + "\n";
}

Result<std::string> fusionOutput(Context& context, const ShowOptions& options) {
  KERF_TRY(const auto groups, context.perform(FusionRequest{options.graph}));
  return context.json ? dumped({{"graph", options.graph}, {"fusion_groups", jsonOf(groups)}}) : fusionText(groups);
}

Result<std::string> outputCode(Context& context, const ShowOptions& options) {
  KERF_TRY(const auto programs, context.perform(RecordedCodeRequest{options.graph, -1}));
  if (programs.empty())
    return fail(ErrorCode::NotFound,
                "no output code is recorded for {}: it is in a TORCH_TRACE log or a TORCH_COMPILE_DEBUG folder of its "
                "compilation",
                options.graph);
  return context.json ? dumped(outputCodeJson(options.graph, programs)) : outputCodeText(programs);
}

Result<std::string> guardsOutput(Context& context, const ShowOptions& options) {
  KERF_TRY(const auto guards, context.perform(GuardsRequest{addressOf(options)}));
  return context.json ? dumped(guardsJson(options.graph, *guards)) : guardsText(*guards);
}

Result<std::string> inputsOutput(Context& context, const ShowOptions& options) {
  auto address = addressOf(options);
  address.inputs = options.inputs.inputs;
  address.seed = options.inputs.seed;
  KERF_TRY(const auto rows, context.perform(InputsRequest{address}));
  return context.json ? dumped({{"graph", options.graph}, {"inputs", jsonOf(rows)}}) : inputsText(rows);
}

Result<std::string> programOutput(Context& context, const ShowOptions& options) {
  KERF_TRY(const auto report, context.perform(ProgramReportRequest{options.graph}));
  return context.json ? dumped(programReportJson(report)) : programText(report);
}

/// Forms of kernels' code, and the backend that has them.
struct KernelForm {
  std::string_view format, backend;
};
constexpr KernelForm kernelForms[] = {{"loop", "llvm"}, {"loop", "cuda"}, {"llvm", "llvm"}, {"asm", "llvm"},
                                      {"cuda", "cuda"}, {"ptx", "cuda"},  {"sass", "cuda"}};

bool isKernelForm(const ShowOptions& options) {
  return std::ranges::find(kernelForms, options.format, &KernelForm::format) != std::end(kernelForms);
}

/// The backends differ in what they make of the loops, not in the loops.
Result<std::string> kernelOutput(Context& context, const ShowOptions& options) {
  const auto fits = [&](const KernelForm& form) {
    return form.format == options.format && (options.backend.empty() || form.backend == options.backend);
  };
  if (std::ranges::none_of(kernelForms, fits))
    return fail(ErrorCode::BadUsage, "the {} backend has no --format {}", options.backend, options.format);
  return context.perform(RenderRequest{addressOf(options), options.format + (context.json ? ".json" : "")});
}

using ShowText = Result<std::string> (*)(Context&, const ShowOptions&);
constexpr ShowText texts[] = {graphText, captureText, recordText};  // by LocateRequest::Place

Result<std::string> shown(Context& context, const ShowOptions& options) {
  if (!options.where.empty()) {
    if (!options.format.empty() || !options.backend.empty())
      return fail(ErrorCode::BadUsage, "--where lists nodes: it goes with neither --format nor --backend");
    return foundNodes(context, addressOf(options), options.where);
  }
  if (isKernelForm(options)) return kernelOutput(context, options);
  if (!options.backend.empty())
    return fail(ErrorCode::BadUsage, "--backend is for --format loop, llvm, asm, cuda, ptx and sass");
  if (options.format == "fusion") return fusionOutput(context, options);
  if (options.format == "output") return outputCode(context, options);
  if (options.format == "inputs") return inputsOutput(context, options);
  if (options.format == "program") return programOutput(context, options);
  if (options.format == "guards") return guardsOutput(context, options);
  if (std::ranges::find(logTableNames, options.format) != logTableNames.end()) return logTableOutput(context, options);
  KERF_TRY(const auto place, context.perform(LocateRequest{options.graph}));
  return texts[std::size_t(place)](context, options);
}

Result<int> runShow(Context& context, const ShowOptions& options) {
  if (options.format == "png" && options.output.empty() && isatty(STDOUT_FILENO) != 0)
    return fail(ErrorCode::BadUsage, "a png does not belong on a terminal; name a file with -o");
  KERF_TRY(const auto text, shown(context, options));
  KERF_CHECK(emit(text, options.output, options.format == "png" ? EmitKind::Picture : EmitKind::Text));
  return 0;
}

std::string logTableList() {
  std::string list;
  for (const auto name : logTableNames) list += fmt::format("{}{}", list.empty() ? "" : ", ", name);
  return list;
}

std::vector<std::string> formats() {
  std::vector<std::string> names{"table", "text",      "code",   "readable", "dot",    "svg",    "png",
                                 "json",  "signature", "fusion", "guards",   "inputs", "output", "loop",
                                 "llvm",  "asm",       "cuda",   "ptx",      "sass",   "program"};
  names.insert(names.end(), logTableNames.begin(), logTableNames.end());
  return names;
}

}  // namespace

void addShow(CommandLine& line) {
  auto& command = line.add("show", "Print or draw a graph, a capture or a record",
                           "  kerf show repro.py --format readable\n"
                           "  kerf show c3/g1 --format svg -o graph.svg\n"
                           "  kerf show c3/g1@pass:cse --format text\n"
                           "  kerf show trace.log#aot_joint_graph\n"
                           "  kerf show model.pt2 --format signature\n"
                           "  kerf show repro.py --where 'op:relu users>1 shape:*x512 not:dtype:bf16'\n"
                           "  kerf show c3\n"
                           "  kerf show trace.log --format recompiles\n"
                           "  kerf show logs/ --format ranks --json\n"
                           "  kerf show c3/r17\n"
                           "  kerf show c3/g2 --format fusion\n"
                           "  kerf show c7 --format program\n"
                           "  kerf show trace.log#aot_forward_graph --format guards\n"
                           "  kerf show c3/g2 --format guards --sym s0=1\n"
                           "  kerf show minifier_launcher.py --format inputs\n"
                           "  kerf show repro.py --format loop\n"
                           "  kerf show repro.py --backend cuda --format ptx");
  auto options = std::make_shared<ShowOptions>();
  command
      .add_option("GRAPH", options->graph,
                  "Path or store id of a graph, a capture (c3, trace.log) or a record (c3/r17)")
      ->required();
  command
      .add_option(
          "--format", options->format,
          "table (the default), text, code, readable, dot, svg, png or json; signature: parameters, buffers and "
          "mutations of a .pt2; fusion: which nodes Inductor put into which kernel; guards: symbolic sizes, their "
          "ranges, and the conditions on them that the graph's shapes need, beside those that the log recorded; "
          "inputs: "
          "where each input comes from, and what its uses ask of one that is made up; loop, llvm, cuda, ptx, sass: the "
          "code of each kernel and the nodes that it computes (cuda and ptx need NVRTC but no GPU, sass nvdisasm or "
          "cuobjdump too; KERF_CUDA_ARCH=sm_80 for another GPU than this machine's or sm_90); program: the source of a "
          "captured program with its frames, graphs, breaks and recompiles; of a whole trace: " +
              logTableList())
      ->check(CLI::IsMember(formats()));
  command
      .add_option("--backend", options->backend,
                  "Whose kernels: llvm or cuda (default: the backend that has the format)")
      ->check(CLI::IsMember({"llvm", "cuda"}));
  std::string words;
  for (const auto& [word, what] : queryWords())
    words += fmt::format("{}{} ({})", words.empty() ? "" : ", ", word, what);
  command
      .add_option("--where", options->where,
                  "List the nodes that all words of this query fit: plain words (parts of name, target or type), "
                  "texts with * and ?, several with commas, numbers with < <= = != >= >. Words: " +
                      words)
      ->type_name("QUERY");
  addInputOptions(command, options->inputs);
  addSymbolOption(command, options->symbols);
  command.add_option("-o,--output", options->output, "Write to this file")->type_name("FILE");
  line.onRun(command, [options](Context& context) { return runShow(context, *options); });
}

}  // namespace kerf::cli
