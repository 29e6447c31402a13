#include "app/cli/demo_run.h"

#include <algorithm>
#include <cstdio>

#include <fmt/ranges.h>

#include "app/cli/comparison_report.h"
#include "app/cli/interrupts.h"
#include "app/cli/pass_table.h"
#include "app/cli/studio_program.h"
#include "app/cli/text_table.h"
#include "engine/support/atomic_file.h"

namespace kerf::cli {

namespace {

using namespace std::chrono_literals;

constexpr std::string_view plant = "relu=accuracy";
constexpr auto screenshotTime = 120s;

std::int64_t differing(const Comparison& comparison) {
  return std::ranges::count(comparison.outputs, false, &OutputVerdict::same);
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
  m_json["elapsed_ms"] = milliseconds(time);
  if (!m_context.json)
    fmt::print("\nDone in {}. The report is {}\n", durationText(time), (m_folder / "report.md").string());
  return m_json;
}

Result<void> DemoRun::importSample() {
  heading("Import", fmt::format("kerf import {}", m_samplePath.string()));
  KERF_TRY(const auto imported, m_context.perform(ImportRequest{m_samplePath.string()}));
  const auto& capture = imported.captures.at(0);
  const auto& graph = capture.graphs.at(0);
  say(fmt::format("{} from torch {}: {}, {}, {}", capture.kind, capture.torchVersion, counted(graph.nodes, "node"),
                  counted(graph.inputs, "input"), counted(graph.storages, "storage")));
  m_json["sample"] = m_samplePath.string();
  m_json["nodes"] = graph.nodes;
  return {};
}

Result<void> DemoRun::showPasses() {
  heading("Passes", fmt::format("kerf passes {}", m_samplePath.string()));
  KERF_TRY(const auto trace, m_context.perform(PassesRequest{{m_samplePath.string()}}));
  block(passTable(trace.passes, PassRows::All));
  m_json["passes"] = trace.passes.size();
  return {};
}

Result<void> DemoRun::compile() {
  heading("Compile", fmt::format("kerf run {} --backend llvm", m_samplePath.string()));
  KERF_TRY(const auto compiled, m_context.perform(CompileRequest{{m_samplePath.string()}}));
  if (!compiled->error.empty()) return fail(ErrorCode::CompileFailed, "{}", compiled->error);
  TextTable kernels({"kernel", "kind", "nodes", "why"});
  for (const auto& kernel : compiled->kernels)
    kernels.add({kernel.name, kernel.kind, fmt::format("{}", fmt::join(kernel.nodes, " ")), kernel.reason});
  block(kernels.text());
  TextTable stages({"stage", "time"});
  for (const auto& [stage, time] : compiled->stages)
    stages.add({stage, durationText(std::chrono::nanoseconds(std::int64_t(time * 1e6)))});
  block(stages.text());
  const auto ofKind = [&](std::string_view kind) {
    return std::ranges::count(compiled->kernels, kind, &KernelDoc::kind);
  };
  say(fmt::format("{}, {}, {}; intermediate buffers take {} bytes instead of {}",
                  counted(ofKind("fused"), "fused kernel"), counted(ofKind("extern"), "extern kernel"),
                  counted(ofKind("view"), "view"), compiled->plannedBytes, compiled->unplannedBytes));
  m_json["kernels"] = compiled->kernels.size();
  return {};
}

Result<void> DemoRun::compareClean() {
  heading("Compare", fmt::format("kerf compare {}", m_samplePath.string()));
  KERF_TRY(const auto comparison, m_context.perform(CompareRequest{{m_samplePath.string()}}));
  if (!comparison.good()) {
    return fail(ErrorCode::Different, "the compiled sample differs from the interpreter: {} {}",
                counted(differing(comparison), "output"), comparison.failure);
  }
  say(fmt::format("{} compared: the compiled graph gives the same as the interpreter, measured against fp64 ({})",
                  counted(std::ssize(comparison.outputs), "output"), durationText(comparison.time)));
  m_json["clean_same"] = true;
  return {};
}

Result<void> DemoRun::comparePlanted() {
  heading("Compare with a planted fault",
          fmt::format("kerf compare {} --plant {} --nodes", m_samplePath.string(), plant));
  CompareRequest request{{m_samplePath.string()}};
  request.plants = {std::string(plant)};
  request.depth = CompareRequest::Depth::Nodes;
  KERF_TRY(const auto comparison, m_context.perform(request));
  const auto bad = comparison.firstBad();
  if (comparison.good() || bad.empty()) return fail(ErrorCode::Different, "the planted fault was not found");
  block(outputTable(comparison));
  say(fmt::format("{} of {} outputs differ; the fault begins at: {}", differing(comparison), comparison.outputs.size(),
                  fmt::join(bad, ", ")));
  m_json["planted_different"] = differing(comparison);
  m_json["first_bad"] = bad;
  return {};
}

Result<void> DemoRun::cutDown() {
  const auto folder = m_folder / "repro";
  heading("Minify", fmt::format("kerf minify {} --plant {} -o {}", m_samplePath.string(), plant, folder.string()));
  MinifyRequest request{{m_samplePath.string()}};
  request.oracle.plants = {std::string(plant)};
  request.output = folder.string();
  Progress progress;
  const auto show = [&](const JobEvent& event) {
    const auto* now = std::get_if<MinifyEvent>(&event);
    if (m_context.json || now == nullptr || !now->accepted) return;
    progress.show(fmt::format("  {} nodes after {} tests", now->nodes, now->tests), true);
  };
  KERF_TRY(m_minified, m_context.bench().perform(request, m_context.job(progress, show)));
  progress.finish();
  if (m_minified.cancelled)
    return fail(ErrorCode::Cancelled, "stopped; {} keeps the best graph so far", m_minified.reductionId);
  say(fmt::format("{} -> {} nodes in {} and {}; {}; the failure is still {}", m_minified.startNodes, m_minified.nodes,
                  durationText(m_minified.time), counted(m_minified.tests, "test"),
                  m_minified.oneMinimal ? "no node can be left out" : "not proven minimal", m_minified.fingerprint));
  m_json["minified_nodes"] = m_minified.nodes;
  m_json["tests"] = m_minified.tests;
  m_json["minify_ms"] = milliseconds(m_minified.time);
  m_json["reduction_id"] = m_minified.reductionId;
  return {};
}

Result<void> DemoRun::showRepro() {
  heading("Repro", fmt::format("kerf show {} --format code", m_minified.reproId));
  KERF_TRY(const auto code, m_context.perform(RenderRequest{{m_minified.repro}, "code"}));
  block(code);
  say(fmt::format("stored as {}, written to {}; a fresh process imported it and found {}", m_minified.reproId,
                  m_minified.repro, m_minified.rechecked));
  say(fmt::format("run it with PyTorch: python {} run", m_minified.repro));
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
    say("no screenshot: there is no kerf-studio beside this kerf (it was built without Qt 6, or without a display)");
    return {};
  }
  const auto shot = runProgram(
      {studio.string(), "--screenshot", picture.string(), "--store", m_context.storePath, "--compare", "--plant",
       std::string(plant), "--select", m_json["first_bad"][0].get<std::string>(), m_samplePath.string()},
      {}, screenshotTime, interruptToken());
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
  return writeTextFile("# Kerf on " + m_samplePath.filename().string() + "\n" + m_report, path);
}

}  // namespace kerf::cli
