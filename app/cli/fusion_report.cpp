#include "app/cli/comparison_report.h"

#include <algorithm>

#include "app/cli/json_forms.h"
#include "app/cli/options.h"
#include "app/cli/text_table.h"

namespace kerf::cli {

namespace {

std::string kernelsText(const FusionComparison& fusion) {
  std::string text =
      fmt::format("{} as {} fuses {}; {} of the 16-bit results stay float32 in a kernel",
                  counted(fusion.kernels, "kernel"), fusion.emulation, counted(fusion.fused, "call"), fusion.unrounded);
  if (fusion.missing > 0) text += fmt::format("; {} are of another graph", counted(fusion.missing, "recorded name"));
  return text;
}

/// "1 output is not explained", "2 outputs differ as fusion makes expect", "nothing differs".
std::string sumText(const FusionComparison& fusion) {
  const auto count = [&](std::string_view verdict) {
    return std::ranges::count(fusion.rows, verdict, &EmulatedRow::verdict);
  };
  const auto expected = count("expected from fusion");
  const auto open = count("not explained");
  if (open > 0)
    return fmt::format("{} not explained by fusion{}", counted(open, "difference"),
                       expected > 0 ? fmt::format(", {} expected from it", expected) : "");
  if (expected > 0) return fmt::format("{} expected from fusion, none beyond it", counted(expected, "difference"));
  return "nothing differs";
}

}  // namespace

void addFusionJson(Json& object, const Comparison& comparison) {
  const FusionComparison& fusion = comparison.fusion;
  if (fusion.emulation.empty()) return;
  object["emulation"] = {{"groups_of", fusion.emulation},   {"kernels", fusion.kernels},
                         {"fused_nodes", fusion.fused},     {"unrounded_nodes", fusion.unrounded},
                         {"missing_names", fusion.missing}, {"explained", comparison.good()}};
  for (std::size_t i = 0; i < fusion.rows.size() && i < object["outputs"].size(); ++i)
    object["outputs"][i]["emulated"] = jsonOf(fusion.rows[i]);
}

void printFusion(const Comparison& comparison) {
  const FusionComparison& fusion = comparison.fusion;
  if (fusion.rows.empty()) return;  // not asked for, or the compiled side failed
  TextTable table({"output", "against eager", "against fused rounding", "ratio to limit", "max abs error"});
  for (std::size_t i = 0; i < fusion.rows.size() && i < comparison.outputs.size(); ++i) {
    const EmulatedRow& row = fusion.rows[i];
    table.add({comparison.outputs[i].name, comparison.outputs[i].same ? "same" : "DIFFERENT", row.verdict,
               figure(row.ratio), figure(row.error)});
  }
  fmt::print("\n{}", table.text());
  fmt::print("{}\n{}\n", kernelsText(fusion), sumText(fusion));
}

}  // namespace kerf::cli
