#include "app/cli/bench.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/bench/ops.h"
#include "app/cli/context.h"

namespace kerf::cli {

namespace {

Json graphJson(const bench::GraphTime& row) {
  Json object{{"graph", row.graph}, {"precision", row.precision}};
  if (row.skipped.empty()) {
    object["ms"] = row.milliseconds;
    object["min_ms"] = row.fastest;
  } else {
    object["skipped"] = row.skipped;
  }
  for (const auto& op : row.ops)
    object["ops"].push_back({{"op", op.target}, {"ms", op.milliseconds}, {"calls", op.calls}});
  return object;
}

void printGraph(const bench::GraphTime& row) {
  if (!row.skipped.empty()) {
    fmt::print("{:<52} {:<8} skipped: {}\n", row.graph, row.precision, row.skipped);
    return;
  }
  fmt::print("{:<52} {:<8} {:>10.3f} {:>10.3f}\n", row.graph, row.precision, row.milliseconds, row.fastest);
  for (const auto& op : row.ops)
    fmt::print("    {:<60} {:>10.3f} ms {:>6} calls\n", op.target, op.milliseconds, op.calls);
}

double milliseconds(std::chrono::nanoseconds time) { return double(time.count()) * 1e-6; }

Json compiledJson(const bench::CompiledTime& row) {
  Json object{{"name", row.name}};
  if (!row.skipped.empty()) {
    object["skipped"] = row.skipped;
    return object;
  }
  object["compiled_ms"] = row.compiledMs;
  object["interpreted_ms"] = row.interpretedMs > 0 ? Json(row.interpretedMs) : Json();
  object["copy_ms"] = row.copyMs > 0 ? Json(row.copyMs) : Json();
  object["memcpy_ms"] = row.memcpyMs > 0 ? Json(row.memcpyMs) : Json();
  object["bytes"] = row.bytes > 0 ? Json(row.bytes) : Json();
  object["compile_ms"] = row.compileMs;
  for (const auto& kernel : row.kernels)
    object["kernels"].push_back({{"kernel", kernel.name}, {"ms", milliseconds(kernel.time)}});
  return object;
}

bool isBeyondCaches(const bench::CompiledTime& row) { return row.name.starts_with("memory/"); }

void printCompiledHead(const char* what) {
  fmt::print("{:<44} {:>10} {:>10} {:>8} {:>10} {:>8} {:>9} {:>8} {:>10}\n", what, "compiled", "interp.", "ratio",
             "copy", "share", "of memcpy", "GB/s", "compile ms");
}

void printCompiled(const bench::CompiledTime& row) {
  const std::string name = row.name.substr(row.name.rfind('/') + 1);
  if (!row.skipped.empty()) {
    fmt::print("{:<44} skipped: {}\n", name, row.skipped);
    return;
  }
  const auto shown = [](bool known, std::string text) { return known ? std::move(text) : std::string("-"); };
  const bool copied = row.copyMs > 0, interpreted = row.interpretedMs > 0;
  fmt::print("{:<44} {:>10.3f} {:>10} {:>8} {:>10} {:>8} {:>9} {:>8} {:>10.1f}\n", name, row.compiledMs,
             shown(interpreted, fmt::format("{:.3f}", row.interpretedMs)),
             shown(interpreted, fmt::format("{:.2f}", row.compiledMs / row.interpretedMs)),
             shown(copied, fmt::format("{:.3f}", row.copyMs)),
             shown(copied, fmt::format("{:.0f}%", 100 * row.copyMs / row.compiledMs)),
             shown(row.memcpyMs > 0, fmt::format("{:.0f}%", 100 * row.memcpyMs / row.compiledMs)),
             shown(copied, fmt::format("{:.1f}", double(row.bytes) * 1e-6 / row.compiledMs)), row.compileMs);
  for (const auto& kernel : row.kernels)
    fmt::print("    {:<84} {:>10.3f} ms\n", kernel.name, milliseconds(kernel.time));
  std::fflush(stdout);
}

}  // namespace

void printCompiledTimes(const std::vector<bench::CompiledTime>& rows, bool json) {
  Json list = Json::array();
  bool beyondCaches = false;
  if (!json && !rows.empty() && !isBeyondCaches(rows.front())) printCompiledHead("graph");
  for (const auto& row : rows) {
    if (!json && !std::exchange(beyondCaches, isBeyondCaches(row)) && isBeyondCaches(row))
      printCompiledHead("groups that no cache holds");
    if (json)
      list.push_back(compiledJson(row));
    else
      printCompiled(row);
  }
  if (json) printJson({{"compiled", std::move(list)}});
}

void printGraphTimes(const std::vector<bench::GraphTime>& rows, bool json) {
  Json list = Json::array();
  if (!json) fmt::print("{:<52} {:<8} {:>10} {:>10}\n", "graph", "type", "median ms", "min ms");
  for (const auto& row : rows) {
    if (json)
      list.push_back(graphJson(row));
    else
      printGraph(row);
  }
  if (json) printJson({{"graphs", std::move(list)}});
}

void printProductTimes(const std::vector<bench::ProductTime>& rows, bool json) {
  const std::vector<std::string> libraries = bench::productLibraries();
  Json list = Json::array();
  double all[3] = {}, logarithms[2] = {};
  if (!json) fmt::print("{}; ms of one product\n", fmt::join(libraries, "; "));
  if (!json)
    fmt::print("{:<36} {:>4} {:>9} {:>8} {:>9} {:>9} {:>10}\n", "product", "uses", "Kerf", "GFLOP/s", "OpenBLAS",
               "oneDNN", "Kerf/best");
  for (const bench::ProductTime& row : rows) {
    const double times[] = {row.kerf, row.openBlas, row.oneDnn}, best = std::min(row.openBlas, row.oneDnn);
    for (int i = 0; i < 3; ++i) all[i] += times[i] * row.shape.uses;
    for (int i = 0; i < 2; ++i) logarithms[i] += std::log(row.kerf / times[i + 1]);
    if (json)
      list.push_back({{"product", nameOf(row.shape)},
                      {"uses", row.shape.uses},
                      {"kerf_ms", row.kerf},
                      {"openblas_ms", row.openBlas},
                      {"onednn_ms", row.oneDnn}});
    else
      fmt::print("{:<36} {:>4} {:>9.3f} {:>8.0f} {:>9.3f} {:>9.3f} {:>10.2f}\n", nameOf(row.shape), row.shape.uses,
                 row.kerf, row.work() / row.kerf / 1e6, row.openBlas, row.oneDnn, row.kerf / best);
  }
  if (json) return printJson({{"products", std::move(list)}, {"libraries", libraries}});
  const auto count = double(rows.size());
  fmt::print(
      "all uses: Kerf {:.2f} ms, OpenBLAS {:.2f}, oneDNN {:.2f}; geometric means of Kerf's time over theirs: "
      "{:.2f}, {:.2f}\n",
      all[0], all[1], all[2], std::exp(logarithms[0] / count), std::exp(logarithms[1] / count));
}

Result<int> printOpTimes(const std::string& filter, int repeats, bool json, std::stop_token stop) {
  Json list = Json::array();
  if (!json) fmt::print("{:<20} {:<14} {:>10} {:>10} {:>10}\n", "op", "family", "median ms", "GB/s", "GFLOP/s");
  for (const auto& bench : bench::opBenchCases()) {
    if (bench.name.find(filter) == std::string::npos) continue;
    if (stop.stop_requested()) return fail(ErrorCode::Cancelled, "interrupted");
    KERF_TRY(const double ms, medianTime(bench, repeats));
    const double bandwidth = bench.bytes / ms / 1e6, rate = bench.operations / ms / 1e6;
    if (json)
      list.push_back(
          {{"name", bench.name}, {"family", bench.family}, {"ms", ms}, {"gb_s", bandwidth}, {"gflop_s", rate}});
    else
      fmt::print("{:<20} {:<14} {:>10.3f} {:>10.1f} {:>10.1f}\n", bench.name, bench.family, ms, bandwidth, rate);
  }
  if (json) printJson({{"ops", std::move(list)}});
  return 0;
}

}  // namespace kerf::cli
