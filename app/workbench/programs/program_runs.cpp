#include "app/workbench/programs/program_runs.h"

#ifdef KERF_HAS_PROGRAMS

#include <algorithm>
#include <filesystem>
#include <optional>
#include <thread>

#include "engine/capture/repro/writer.h"
#include "engine/capture/text/capture.h"
#include "engine/dynamo/environment.h"
#include "engine/dynamo/graph_compiler.h"
#include "engine/ir/parser.h"
#include "engine/support/out_of_memory.h"
#include "engine/torch_api/torch_environment.h"
#include "engine/torch_distributed/rank_environment.h"

namespace kerf::workbench {

namespace {

/// Of the copies of graphs' inputs.
constexpr std::int64_t keptInputBytes = 512LL << 20;
/// What was compiled, told when the program is over.
constexpr const char* tellsLog =
    "import torch\nanswer = [torch._C._dynamo.log(), [list(g) for g in torch._C._dynamo.graphs()]]\n";

/// Text in Python's quotes.
std::string quoted(const std::string& text) {
  std::string made = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') made += '\\';
    if (c == '\n')
      made += "\\n";
    else
      made += c;
  }
  return made + "\"";
}

/// What the command asks for in place of the program's own words.
std::string prologueOf(const ProgramPlace& place, const CaptureProgramRequest& request) {
  std::string text =
      fmt::format("import torch\nfrom torch import _capture\ntorch._C._dynamo.keep_inputs({})\n", keptInputBytes);
  const auto set = [&](const char* name, const std::string& value) {
    text += fmt::format("_capture.overrides[\"{}\"] = {}\n", name, value);
  };
  if (!request.backend.empty()) set("backend", quoted(request.backend));
  if (!request.dynamic.empty())
    set("dynamic", request.dynamic == "true" ? "True" : request.dynamic == "false" ? "False" : "None");
  if (request.fullgraph) set("fullgraph", "True");
  if (!place.function.empty()) text += fmt::format("_capture.target = {}\n", quoted(place.function));
  return text;
}

/// The graph of a printed ExportedProgram, with its signature and ranges; of other graphs these are none.
Result<CapturedGraph> readGraph(const std::string& text) {
  if (text.starts_with("ExportedProgram:")) return capturedFromReadable(text, GraphOrigin{});
  CapturedGraph graph;
  KERF_TRY(graph.module, parseReadable(text));
  return graph;
}

/// The text with None for each torch.Generator, of which no text says the state; how many there were.
std::size_t takeGenerators(std::string& text) {
  constexpr std::string_view begin = "<torch._C.Generator object at ";
  std::size_t count = 0;
  for (std::size_t at = text.find(begin); at != text.npos; at = text.find(begin, at)) {
    const std::size_t end = text.find('>', at);
    if (end == text.npos || text.find('\n', at) < end) break;
    text.replace(at, end + 1 - at, "None");
    ++count;
  }
  return count;
}

Result<CapturedGraph> capturedGraph(const ValueList& entry, const std::string& path, std::vector<std::string>& notes) {
  if (entry.size() != 3 || !entry[0].as<std::string>() || !entry[1].as<std::string>())
    return fail(ErrorCode::BadInput, "the program's graphs cannot be read");
  std::string text = *entry[1].as<std::string>();
  if (takeGenerators(text) > 0)
    notes.push_back(
        fmt::format("{} draws from a torch.Generator of the program: as it is kept, it draws from the default one",
                    *entry[0].as<std::string>()));
  KERF_TRY(CapturedGraph graph, readGraph(text));
  const auto signature = graph.signature;
  if (entry[2].isList()) {
    KERF_TRY(graph, makeCapturedGraph(GraphModule(graph.module), entry[2].list(), nullptr));
    graph.signature = signature;
  }
  graph.name = *entry[0].as<std::string>();
  graph.origin.file = path;
  graph.origin.stage = "dynamo";
  for (const NodeId node : graph.module.graph.order())
    if (graph.origin.line == 0) graph.origin.line = graph.module.graph.node(node).meta().sourceLine;
  return graph;
}

/// The graphs; those that cannot be kept are named.
Capture captureOf(const Value& graphs, const std::string& path, std::vector<std::string>& notes) {
  Capture capture;
  capture.kind = "program";
  capture.path = path;
  capture.torchVersion = capture.envelope.torchVersion = "2.11.0";
  capture.envelope.runner = "after_dynamo";
  for (const Value& entry : graphs.isList() ? graphs.list() : ValueList()) {
    auto graph = capturedGraph(entry.isList() ? entry.list() : ValueList(), path, notes);
    if (graph)
      capture.graphs.push_back(std::move(*graph));
    else
      notes.push_back("a graph is not kept: " + graph.error().text());
  }
  return capture;
}

/// What a launcher of ranks tells each of them.
std::string launchedAs(int rank, int ranks) {
  return fmt::format(
      "import os\nos.environ.update(RANK='{0}', LOCAL_RANK='{0}', WORLD_SIZE='{1}', LOCAL_WORLD_SIZE='{1}', "
      "GROUP_RANK='0', "
      "MASTER_ADDR='localhost', MASTER_PORT='29500')\n",
      rank, ranks);
}

/// What runs, as the command asks for it.
ProgramRequest programOf(const std::string& text, const CaptureProgramRequest& request) {
  const ProgramPlace place = programPlace(request.path);
  ProgramRequest program{.text = text, .name = std::filesystem::path(place.file).filename().string()};
  program.prologue = prologueOf(place, request);
  program.driver = tellsLog;
  program.driverAlways = true;
  if (!place.function.empty()) program.compiler = "torch._capture:code_of";
  program.limits.timeout = request.timeout;
  program.limits.memoryBytes = request.memoryBytes;
  return program;
}

Result<CapturedProgram> capturedProgram(ProgramAnswer answer, const std::string& file) {
  CapturedProgram captured;
  ProgramDoc& doc = captured.doc;
  if (!answer.answer.empty()) {
    KERF_TRY(const Value told, decodeObject(answer.answer));
    const ValueList& parts = told.isList() ? told.list() : ValueList();
    if (parts.size() == 2 && parts[0].as<std::string>()) doc.captured = *parts[0].as<std::string>();
    if (parts.size() == 2) captured.capture = captureOf(parts[1], file, captured.notes);
  }
  doc.output = std::move(answer.output);
  doc.errors = std::move(answer.errors);
  doc.exitStatus = answer.exitStatus;
  doc.exception = std::move(answer.exception);
  doc.line = answer.line;
  doc.isOutputCut = answer.isOutputCut;
  return captured;
}

/// A rank that gave no answer.
CapturedProgram lostRank(const Error& error) {
  CapturedProgram lost;
  lost.doc.exitStatus = 1;
  lost.doc.exception = error.text();
  return lost;
}

/// What the other ranks are told of how one ended; empty: as it should.
std::string endOfRank(const Result<ProgramAnswer>& answer) {
  if (!answer) return fmt::format("failed ({})", answer.error().message);
  if (answer->exitStatus == 0) return {};
  return answer->exception.empty() ? fmt::format("ended with exit status {}", answer->exitStatus)
                                   : fmt::format("failed ({})", answer->exception);
}

/// Each rank in a process of its own; all at once.
Result<std::vector<CapturedProgram>> runRanksOf(const ProgramRequest& program, const std::string& file, int ranks,
                                                const std::stop_token& stop) {
  constexpr std::chrono::milliseconds mostWaiting{30'000};
  KERF_TRY(const auto world, SharedWorld::make(ranks, {.timeout = std::min(mostWaiting, program.limits.timeout / 2)}));
  std::vector<std::optional<Result<ProgramAnswer>>> answers(std::size_t(ranks), std::nullopt);
  {
    std::vector<std::jthread> waiting;
    for (int rank = 0; rank < ranks; ++rank)
      waiting.emplace_back([&, rank] {
        auto& answer = answers[std::size_t(rank)];
        answer = withinMemory([&] {
          ProgramRequest own = program;
          own.prologue = launchedAs(rank, ranks) + own.prologue;
          own.limits.memoryBytes = std::max(program.limits.memoryBytes / ranks, std::int64_t{1} << 30);
          const ProgramEnvironment environment = rankEnvironment(dynamoEnvironment(), world, rank);
          return runProgram(own, environment, encodeObject, stop);
        });
        const auto told = withinMemory([&]() -> Result<std::string> { return endOfRank(*answer); });
        world->end(rank, told ? *told : "failed");
      });
  }
  std::vector<CapturedProgram> captured;
  for (auto& answer : answers) {
    if (!*answer) {
      const Error& error = answer->error();
      if (error.code == ErrorCode::Environment || error.code == ErrorCode::Cancelled) return fail(error);
      captured.push_back(lostRank(error));
      continue;
    }
    KERF_TRY(CapturedProgram one, capturedProgram(std::move(**answer), file));
    captured.push_back(std::move(one));
  }
  return captured;
}

}  // namespace

Result<std::vector<CapturedProgram>> runProgramText(const std::string& text, const CaptureProgramRequest& request,
                                                    std::stop_token stop) {
  if (request.ranks < 1 || request.ranks > mostProgramRanks)
    return fail(ErrorCode::BadUsage, "a program runs as 1 to {} ranks, not as {}", mostProgramRanks, request.ranks);
  setGraphCompiler(compileProgramGraph, !request.backend.empty());
  setGraphExporter(exportProgramGraph);
  addDistributedModule();
  const ProgramRequest program = programOf(text, request);
  const std::string file = programPlace(request.path).file;
  if (request.ranks > 1) return runRanksOf(program, file, int(request.ranks), stop);
  KERF_TRY(ProgramAnswer answer, runProgram(program, dynamoEnvironment(), encodeObject, std::move(stop)));
  KERF_TRY(CapturedProgram captured, capturedProgram(std::move(answer), file));
  std::vector<CapturedProgram> one;
  one.push_back(std::move(captured));
  return one;
}

Result<ProgramValues> runProgramValues(const ProgramRun& run, std::stop_token stop) {
  ProgramRequest program{.text = run.text, .name = run.name, .prologue = run.prologue, .driver = run.driver};
  setGraphCompiler(compileProgramGraph, false);
  setGraphExporter(exportProgramGraph);
  addDistributedModule();
  program.driverAlways = run.driverAlways;
  KERF_TRY(ProgramAnswer answer, runProgram(program, dynamoEnvironment(), encodeObject, std::move(stop)));
  ProgramValues values{std::move(answer.output), std::move(answer.exception), {}};
  if (!answer.answer.empty()) {
    KERF_TRY(values.values, decodeObject(answer.answer));
  }
  return values;
}

}  // namespace kerf::workbench

#else

namespace kerf::workbench {

Result<std::vector<CapturedProgram>> runProgramText(const std::string&, const CaptureProgramRequest&, std::stop_token) {
  return fail(ErrorCode::Environment, "this kerf was built without CPython 3.11, which runs programs");
}

Result<ProgramValues> runProgramValues(const ProgramRun&, std::stop_token) {
  return fail(ErrorCode::Environment, "this kerf was built without CPython 3.11, which runs programs");
}

}  // namespace kerf::workbench

#endif
