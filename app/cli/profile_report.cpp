#include "app/cli/profile_report.h"

#include <algorithm>

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

}  // namespace

Json profileJson(const KernelProfile& profile) {
  Json object{{"ms", inMilliseconds(profile.time)},
              {"copy_gb_s", profile.copyRate * 1e-9},
              {"product_gflop_s", profile.productRate * 1e-9},
              {"planned_bytes", profile.plannedBytes},
              {"peak_bytes", profile.peakBytes},
              {"kernels", Json::array()}};
  if (profile.deviceTime.count() > 0) object["device_ms"] = inMilliseconds(profile.deviceTime);
  if (!profile.deviceNote.empty()) object["device_note"] = profile.deviceNote;
  for (const KernelTime& kernel : profile.kernels)
    object["kernels"].push_back({{"kernel", kernel.name},
                                 {"kind", kernel.kind},
                                 {"nodes", kernel.nodes},
                                 {"ms", inMilliseconds(kernel.time)},
                                 {"bytes", kernel.bytes},
                                 {"flops", kernel.flops},
                                 {"share", kernel.share},
                                 {"on_host", kernel.onHost}});
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
  if (profile.deviceTime.count() > 0)
    fmt::print("{} on the device as CUDA graphs, inputs there already\n", durationText(profile.deviceTime));
  if (!profile.deviceNote.empty()) fmt::print("not run as CUDA graphs alone: {}\n", profile.deviceNote);
  fmt::print("intermediate values: {:.1f} MiB planned, {:.1f} MiB in use at most, outputs included\n",
             double(profile.plannedBytes) / (1 << 20), double(profile.peakBytes) / (1 << 20));
}

}  // namespace kerf::cli
