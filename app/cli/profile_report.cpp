#include "app/cli/run_reports.h"

#include <algorithm>
#include <limits>

#include "app/cli/json_forms.h"
#include "app/cli/text_table.h"

namespace kerf::cli {
namespace {

constexpr std::size_t mostRows = 40;

double inMilliseconds(std::chrono::nanoseconds time) { return double(time.count()) * 1e-6; }

/// "add_1, mul_2 +3".
std::string nodesText(const std::vector<std::string>& nodes) {
  constexpr std::size_t shown = 2;
  std::string text;
  for (std::size_t i = 0; i < std::min(nodes.size(), shown); ++i) text += (i == 0 ? "" : ", ") + nodes[i];
  return nodes.size() > shown ? fmt::format("{} +{}", text, nodes.size() - shown) : text;
}

std::string rateText(double amount, std::chrono::nanoseconds time) {
  return amount > 0 ? fmt::format("{:.1f}", amount / std::max(1.0, double(time.count()))) : "-";
}

/// Seconds: every kernel by itself as fast as the machine's copies and products of matrices are.
double roofOf(const KernelProfile& profile) {
  double roof = 0;
  for (const KernelTime& kernel : profile.kernels)
    roof += std::max(kernel.bytes / profile.copyRate, kernel.flops / profile.productRate);
  return roof;
}

}  // namespace

Json profileJson(const KernelProfile& profile) {
  Json object{{"ms", inMilliseconds(profile.time)},
              {"copy_gb_s", profile.copyRate * 1e-9},
              {"product_gflop_s", profile.productRate * 1e-9},
              {"roof_ms", 1e3 * roofOf(profile)},
              {"planned_bytes", profile.plannedBytes},
              {"peak_bytes", profile.peakBytes},
              {"kernels", jsonOf(profile.kernels)}};
  if (profile.deviceTime.count() > 0) object["device_ms"] = inMilliseconds(profile.deviceTime);
  if (!profile.deviceNote.empty()) object["device_note"] = profile.deviceNote;
  return object;
}

void printProfile(const KernelProfile& profile) {
  TextTable table({"kernel", "time", "of all", "GB/s", "GFLOP/s", "of the roof", "nodes"});
  for (std::size_t i = 0; i < std::min(profile.kernels.size(), mostRows); ++i) {
    const KernelTime& kernel = profile.kernels[i];
    const double part = double(kernel.time.count()) / std::max(1.0, double(profile.time.count()));
    table.add({kernel.onHost ? kernel.name + " (host)" : kernel.name, durationText(kernel.time),
               fmt::format("{:.1f}%", 100 * part), rateText(kernel.bytes, kernel.time),
               rateText(kernel.flops, kernel.time), kernel.share > 0 ? fmt::format("{:.0f}%", 100 * kernel.share) : "-",
               nodesText(kernel.nodes)});
  }
  fmt::print("\n{}", table.text());
  if (profile.kernels.size() > mostRows)
    fmt::print("… and {} more (--json has them all)\n", profile.kernels.size() - mostRows);
  fmt::print("{} in all; a copy moves {:.1f} GB/s here, a product of matrices computes {:.0f} GFLOP/s\n",
             durationText(profile.time), profile.copyRate * 1e-9, profile.productRate * 1e-9);
  const double roof = roofOf(profile);
  fmt::print("roof: {:.3f} ms, all kernels one after another at these rates; it took {:.2f} times as long\n",
             1e3 * roof, double(profile.time.count()) * 1e-9 / std::max(1e-9, roof));
  if (profile.deviceTime.count() > 0)
    fmt::print("{} on the device as CUDA graphs, inputs there already\n", durationText(profile.deviceTime));
  if (!profile.deviceNote.empty()) fmt::print("not run as CUDA graphs alone: {}\n", profile.deviceNote);
  fmt::print("intermediate values: {:.1f} MiB planned, {:.1f} MiB in use at most, outputs included\n",
             double(profile.plannedBytes) / (1 << 20), double(profile.peakBytes) / (1 << 20));
}

Json memoryJson(const KernelProfile& profile) {
  return {{"planned_peak_bytes", profile.plannedPeak},
          {"peak_bytes", profile.peakBytes},
          {"steps", jsonOf(profile.memory)}};
}

namespace {

std::string mebibytes(std::int64_t bytes) { return fmt::format("{:.2f}", double(bytes) / (1 << 20)); }

/// First and last step, the fullest, and those that the curve of planned bytes turns at; at most `mostRows`, by how
/// much.
std::vector<std::size_t> turningSteps(const std::vector<MemoryRow>& rows) {
  std::vector<std::pair<std::int64_t, std::size_t>> turns;
  for (std::size_t s = 0; s < rows.size(); ++s) {
    const bool isEnd = s == 0 || s + 1 == rows.size();
    const std::int64_t before = isEnd ? 0 : rows[s].planned - rows[s - 1].planned;
    const std::int64_t after = isEnd ? 0 : rows[s + 1].planned - rows[s].planned;
    const std::int64_t weight = isEnd ? std::numeric_limits<std::int64_t>::max() : std::abs(after - before);
    if (weight > 0 || rows.size() <= mostRows) turns.emplace_back(-weight, s);
  }
  std::ranges::sort(turns);
  if (turns.size() > mostRows) turns.resize(mostRows);
  std::vector<std::size_t> steps;
  for (const auto& [weight, step] : turns) steps.push_back(step);
  std::ranges::sort(steps);
  return steps;
}

}  // namespace

void printMemory(const KernelProfile& profile) {
  constexpr double longestBar = 30;
  TextTable table({"step", "kernel", "planned MiB", "in use", "at most", "", "nodes"});
  const double most = std::max(1.0, double(std::max(profile.plannedPeak, profile.peakBytes)));
  for (const std::size_t s : turningSteps(profile.memory)) {
    const MemoryRow& row = profile.memory[s];
    table.add({fmt::format("{}", s), row.name, mebibytes(row.planned), mebibytes(row.live), mebibytes(row.peak),
               std::string(std::size_t(longestBar * double(std::max<std::int64_t>(row.planned, 0)) / most), '#'),
               nodesText(row.nodes)});
  }
  fmt::print("\n{}", table.text());
  fmt::print("{} steps; {} MiB planned at most, {} MiB measured ({:.2f} times), inputs not counted\n",
             profile.memory.size(), mebibytes(profile.plannedPeak), mebibytes(profile.peakBytes),
             double(profile.peakBytes) / std::max(1.0, double(profile.plannedPeak)));
}

}  // namespace kerf::cli
