#include "app/cli/demo_run.h"

#include <cstdio>

#include "app/cli/output_file.h"
#include "app/cli/pass_runs.h"
#include "app/cli/progress.h"
#include "app/cli/studio_program.h"
#include "app/cli/text_table.h"
#include "engine/ir/printer.h"

namespace kerf::cli {

namespace {

using namespace std::chrono_literals;

constexpr std::string_view plant = "relu=accuracy";
constexpr auto screenshotTime = 120s;

std::string reportTable(const CompareOutcome& outcome) {
  TextTable table({"output", "verdict", "max abs error", "ratio to limit", "RMSE compiled", "RMSE interpreter"});
  for (const auto& row : outcome.report.outputs) {
    table.add({row.name, row.same ? "same" : "DIFFERENT", figure(row.maxAbsError), figure(row.ratioToLimit),
               figure(row.rmseRes), figure(row.rmseRef)});
  }
  return table.text();
}

std::int64_t differing(const CompareOutcome& outcome) {
  return std::ranges::count_if(outcome.report.outputs, [](const OutputVerdict& row) { return !row.same; });
}

}  // namespace

void DemoRun::heading(const std::string& title, const std::string& command) {
  m_report += fmt::format("\n## {}\n\n`{}`\n\n", title, command);
  if (!m_context.json) fmt::print("\n== {} ==\n$ {}\n", title, command);
}

void DemoRun::say(const std::string& text) {
  m_report += text + "\n";
  if (!m_context.json) fmt::print("{}\n", text);
  std::fflush(stdout);
}

void DemoRun::block(const std::string& text) {
  m_report += "```\n" + text + (text.ends_with('\n') ? "" : "\n") + "```\n\n";
  if (!m_context.json) fmt::print("{}{}", text, text.ends_with('\n') ? "" : "\n");
  std::fflush(stdout);
}

Result<Json> DemoRun::run() {
  const auto start = std::chrono::steady_clock::now();
  KERF_CHECK(importSample());
  KERF_CHECK(showPasses());
  KERF_CHECK(compile());
  KERF_CHECK(compareClean());
  KERF_CHECK(comparePlanted());
  KERF_CHECK(cutDown());
  KERF_CHECK(showRepro());
  KERF_CHECK(takeScreenshot());
  KERF_CHECK(writeReport());
  const std::chrono::nanoseconds time = std::chrono::steady_clock::now() - start;
  m_json["elapsed_ms"] = double(time.count()) / 1e6;
  if (!m_context.json)
    fmt::print("\nDone in {}. The report is {}\n", durationText(time), (m_folder / "report.md").string());
  return m_json;
}

Result<void> DemoRun::importSample() {
  heading("Import", fmt::format("kerf import {}", m_samplePath.string()));
  KERF_TRY(m_sample, resolveGraph(m_context, m_samplePath.string()));
  KERF_TRY(auto* store, m_context.store());
  KERF_TRY(m_sample.graphId, storedGraphId(*store, m_sample));
  KERF_CHECK(m_sample.graph().annotateShapes());
  const auto& graph = m_sample.graph();
  say(fmt::format("{} from torch {}: {}, {}, {}", m_sample.capture.kind, m_sample.capture.torchVersion,
                  counted(std::ssize(graph.module.graph.order()), "node"), counted(std::ssize(graph.inputs), "input"),
                  counted(std::ssize(graph.storages), "storage")));
  m_json["sample"] = m_samplePath.string();
  m_json["nodes"] = graph.module.graph.size();
  return {};
}

Result<void> DemoRun::showPasses() {
  heading("Passes", fmt::format("kerf passes {}", m_samplePath.string()));
  KERF_TRY(const auto records, recordPasses(m_sample.graph().module));
  TextTable table({"pass", "stage", "nodes before", "after", "time", "changed"});
  for (const auto& record : records) {
    table.add({record.name, std::string(stageName(record.stage)), std::to_string(record.nodesBefore),
               std::to_string(record.nodesAfter), durationText(record.time), record.changed ? "yes" : ""});
  }
  block(table.text());
  m_json["passes"] = records.size();
  return {};
}

Result<void> DemoRun::compile() {
  heading("Compile", fmt::format("kerf run {} --backend llvm", m_samplePath.string()));
  KERF_TRY(const auto compiled, compileFx(m_sample.graph().module, {}, m_context.stop()));
  TextTable kernels({"kernel", "kind", "nodes", "why"});
  for (const auto& kernel : compiled->kernels())
    kernels.add({kernel.name, kernel.kind, fmt::format("{}", fmt::join(kernel.nodes, " ")), kernel.reason});
  block(kernels.text());
  TextTable stages({"stage", "time"});
  for (const auto& stage : compiled->stageTimes()) stages.add({stage.stage, durationText(stage.time)});
  block(stages.text());
  const auto ofKind = [&](std::string_view kind) {
    return std::ranges::count_if(compiled->kernels(), [&](const KernelInfo& kernel) { return kernel.kind == kind; });
  };
  say(fmt::format("{}, {}, {}; intermediate buffers take {} bytes instead of {}",
                  counted(ofKind("fused"), "fused kernel"), counted(ofKind("extern"), "extern kernel"),
                  counted(ofKind("view"), "view"), compiled->artifacts().plannedBytes,
                  compiled->artifacts().unplannedBytes));
  m_json["kernels"] = compiled->kernels().size();
  return {};
}

Result<void> DemoRun::compareClean() {
  heading("Compare", fmt::format("kerf compare {}", m_samplePath.string()));
  KERF_TRY(const auto outcome, compareGraph(m_context, m_sample, {}));
  if (!outcome.good()) {
    return fail(ErrorCode::Different, "the compiled sample differs from the interpreter: {} {}",
                counted(differing(outcome), "output"), outcome.report.failure);
  }
  say(fmt::format("{} compared: the compiled graph gives the same as the interpreter, measured against fp64 ({})",
                  counted(std::ssize(outcome.report.outputs), "output"), durationText(outcome.time)));
  m_json["clean_same"] = true;
  return {};
}

Result<void> DemoRun::comparePlanted() {
  heading("Compare with a planted fault",
          fmt::format("kerf compare {} --plant {} --nodes", m_samplePath.string(), plant));
  CompareSettings settings;
  settings.plants = {std::string(plant)};
  settings.nodes = true;
  KERF_TRY(const auto outcome, compareGraph(m_context, m_sample, settings));
  const auto bad = outcome.firstBad();
  if (outcome.good() || bad.empty()) return fail(ErrorCode::Different, "the planted fault was not found");
  block(reportTable(outcome));
  say(fmt::format("{} of {} outputs differ; the fault begins at: {}", differing(outcome), outcome.report.outputs.size(),
                  fmt::join(bad, ", ")));
  m_json["planted_different"] = differing(outcome);
  m_json["first_bad"] = bad;
  return {};
}

Result<void> DemoRun::cutDown() {
  heading("Minify",
          fmt::format("kerf minify {} --plant {} -o {}", m_samplePath.string(), plant, (m_folder / "repro").string()));
  MinifySettings settings;
  settings.oracle.plants = {std::string(plant)};
  settings.output = m_folder / "repro";
  Progress progress;
  const MinifyEvents events{[&](const MinifyProgress& now, const std::string&) {
                              if (m_context.json || !now.step.accepted) return;
                              progress.show(
                                  fmt::format("  {} nodes after {} tests", now.step.size.nodes, now.step.test), true);
                            },
                            [](const std::string&) {}};
  KERF_TRY(m_minified, minifyGraph(m_context, m_sample, settings, events));
  progress.finish();
  if (m_minified.cancelled)
    return fail(ErrorCode::Cancelled, "stopped; {} keeps what was reached", m_minified.reductionId);
  say(fmt::format("{} -> {} nodes in {} and {}; {}; the failure is still {}", m_minified.startNodes, m_minified.nodes,
                  durationText(m_minified.time), counted(m_minified.tests, "test"),
                  m_minified.oneMinimal ? "no node can be left out" : "not proven minimal", m_minified.fingerprint));
  m_json["minified_nodes"] = m_minified.nodes;
  m_json["tests"] = m_minified.tests;
  m_json["minify_ms"] = double(m_minified.time.count()) / 1e6;
  m_json["reduction_id"] = m_minified.reductionId;
  return {};
}

Result<void> DemoRun::showRepro() {
  heading("Repro", fmt::format("kerf show {} --format code", m_minified.reproId));
  KERF_TRY(const auto repro, resolveGraph(m_context, m_minified.repro.string()));
  block(printPythonCode(repro.graph().module));
  say(fmt::format("stored as {}, written to {}; a fresh process imported it and found {}", m_minified.reproId,
                  m_minified.repro.string(), m_minified.rechecked));
  say(fmt::format("where PyTorch is installed: python {} run", m_minified.repro.string()));
  m_json["repro_id"] = m_minified.reproId;
  m_json["repro"] = std::filesystem::absolute(m_minified.repro).string();
  return {};
}

/// A missing window is no failure of the demo: the report says so.
Result<void> DemoRun::takeScreenshot() {
  const auto studio = studioProgram();
  const auto picture = m_folder / "studio.png";
  heading("Studio", fmt::format("kerf-studio --screenshot {} {}", picture.string(), m_samplePath.string()));
  m_json["screenshot"] = nullptr;
  if (studio.empty()) {
    say("kerf-studio is not built here (Qt 6 is missing): no screenshot");
    return {};
  }
  const auto shot = runProgram(
      {studio.string(), "--screenshot", picture.string(), "--store", m_context.storePath, "--compare", "--plant",
       std::string(plant), "--select", m_json["first_bad"][0].get<std::string>(), m_samplePath.string()},
      {}, screenshotTime, m_context.stop());
  if (!shot || shot->status != 0) {
    say(fmt::format("no screenshot: {}", shot ? shot->errors.substr(0, 300) : shot.error().text()));
    return {};
  }
  m_report += "![Studio](studio.png)\n";
  if (!m_context.json) fmt::print("{}\n", picture.string());
  m_json["screenshot"] = picture.string();
  return {};
}

Result<void> DemoRun::writeReport() {
  const auto path = m_folder / "report.md";
  m_json["report"] = path.string();
  return emit("# Kerf's main job on " + m_samplePath.filename().string() + "\n" + m_report, path.string());
}

}  // namespace kerf::cli
