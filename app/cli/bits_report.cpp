#include "app/cli/bits_report.h"

#include <algorithm>
#include <string_view>

#include <fmt/ranges.h>

#include "app/cli/json_of.h"
#include "app/cli/progress.h"
#include "app/cli/text_table.h"
#include "app/workbench/kernel_bits.h"

namespace kerf::cli {

namespace {

constexpr std::size_t shownBitKernels = 20, shownBitNodes = 4;

std::string shortNodeList(const std::vector<std::string>& names) {
  const std::size_t shown = std::min(names.size(), shownBitNodes);
  auto text = fmt::format("{}", fmt::join(names.begin(), names.begin() + std::ptrdiff_t(shown), ", "));
  return shown < names.size() ? fmt::format("{} and {} more", text, names.size() - shown) : text;
}

/// "order of sums (sum_1); fused multiply-add (mul, add)".
std::string bitReasonsText(const KernelBits& bits) {
  if (!bits.known) return "its nodes are not recorded";
  if (bits.reasons.empty()) return bits.condition;
  std::vector<std::string> parts;
  for (const BitReason& reason : bits.reasons)
    parts.push_back(fmt::format("{} ({})", reason.cause, shortNodeList(reason.nodes)) +
                    (reason.detail.empty() ? "" : ": " + reason.detail));
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string_view bitsVerdict(const KernelBits& bits) {
  if (!bits.known) return "not known";
  return bits.canBeEqual() ? "can be equal" : "need not be";
}

/// "order of sums in 12, fused multiply-add in 3".
std::string bitCausesText(const std::vector<KernelBits>& kernels) {
  std::vector<std::pair<std::string, int>> causes;
  for (const KernelBits& bits : kernels)
    for (const BitReason& reason : bits.reasons) {
      const auto found = std::ranges::find(causes, reason.cause, &std::pair<std::string, int>::first);
      if (found == causes.end())
        causes.emplace_back(reason.cause, 1);
      else
        ++found->second;
    }
  std::ranges::stable_sort(causes, std::greater(), &std::pair<std::string, int>::second);
  std::vector<std::string> parts;
  for (const auto& [cause, count] : causes) parts.push_back(fmt::format("{} in {}", cause, count));
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

std::vector<KernelBits> kernelBitsOf(Context& context, const BitsRequest& request) {
  Progress progress;
  auto kernels = perform(context.bench(), request, context.job(progress, {}));
  return kernels ? std::move(*kernels) : std::vector<KernelBits>();
}

Json kernelBitsJson(const std::vector<KernelBits>& kernels) {
  Json rows = Json::array();
  for (const KernelBits& bits : kernels) {
    Json row = jsonOf(bits);
    row["can_be_equal"] = bits.canBeEqual();
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string kernelBitsText(const std::vector<KernelBits>& kernels, bool all) {
  if (kernels.empty()) return {};
  const auto can = std::ranges::count_if(kernels, &KernelBits::canBeEqual);
  const auto unknown = std::ranges::count(kernels, false, &KernelBits::known);
  const auto others = std::ssize(kernels) - can - unknown;
  std::string text = fmt::format("\nbits of eager mode: {} of {} can be equal, {} need not be", can,
                                 counted(std::ssize(kernels), "kernel"), others);
  if (unknown > 0) text += fmt::format(", {} not known", unknown);
  if (others > 0) text += fmt::format(" ({})", bitCausesText(kernels));
  text += "\n";
  TextTable table({"kernel", "code", "bits", "why"});
  std::size_t shown = 0;
  for (const KernelBits& bits : kernels) {
    if (!all && bits.canBeEqual()) continue;
    if (!all && shown == shownBitKernels) break;
    ++shown;
    table.add({bits.part.empty() ? bits.kernel : fmt::format("{} {}", bits.part, bits.kernel),
               bits.code.empty() ? "existing" : bits.code, std::string(bitsVerdict(bits)), bitReasonsText(bits)});
  }
  if (shown > 0) text += table.text();
  if (const auto left = others + unknown - std::int64_t(shown); !all && left > 0)
    text += fmt::format("and {} more\n", left);
  return text;
}

}  // namespace kerf::cli
