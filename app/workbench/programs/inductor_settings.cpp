#include "app/workbench/programs/inductor_settings.h"

#include <algorithm>
#include <array>
#include <iterator>

#include <nlohmann/json.hpp>

#include "engine/support/read_json.h"

namespace kerf::workbench {

namespace {

using nlohmann::json;

/// A setting that, when it is off, takes passes away.
struct PassSetting {
  const char* name;
  std::array<std::string_view, 7> passes;
};
constexpr PassSetting passSettings[] = {
    {"pattern_matcher",
     {"fuse_attention", "randperm_index", "addmm_fusion", "pointless_cumsum_replacement", "splitwithsizes_cat_replace",
      "scatter_upon_const_tensor", "reuse_partial"}},
    {"joint_graph_constant_folding", {"constant_fold_uniform_value", "constant_folding"}},
    {"optimize_scatter_upon_const_tensor", {"scatter_upon_const_tensor"}},
    {"permute_fusion", {"linear_permute_fusion", "matmul_permute_fusion"}},
    {"split_cat_fx_passes", {"merge_splits_pass", "split_cat_pass", "unbind_stack_pass"}},
    {"use_dce", {"dce"}},
};

/// A setting that, when it is off, takes all optional passes of a stage away.
struct StageSetting {
  const char* name;
  PassStage stage;
};
constexpr StageSetting stageSettings[] = {{"use_pre_grad_passes", PassStage::PreGrad},
                                          {"use_joint_graph_passes", PassStage::Joint},
                                          {"use_post_grad_passes", PassStage::PostGrad}};

/// Passes that the compiler itself needs.
constexpr std::array<std::string_view, 4> neededPasses = {"inline_module", "shape_prop", "joint_stable_sort",
                                                          "stable_sort"};

bool isOn(const json& settings, const char* name, bool fallback) {
  const auto found = settings.find(name);
  return found != settings.end() && found->is_boolean() ? found->get<bool>() : fallback;
}

/// Passes by names that a comma parts, as Inductor's `disabled_passes`; unknown ones are its own.
std::vector<std::string> listed(const std::string& text, const std::vector<Pass>& passes) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    std::string name = text.substr(at, end - at);
    std::erase(name, ' ');
    if (std::ranges::find(passes, name, &Pass::name) != passes.end()) names.push_back(std::move(name));
    at = end + 1;
  }
  return names;
}

std::vector<std::string> passesTakenAway(const json& settings) {
  const std::vector<Pass> passes = compilerPasses();
  std::vector<std::string> names;
  for (const PassSetting& setting : passSettings)
    if (!isOn(settings, setting.name, true))
      for (const std::string_view pass : setting.passes)
        if (!pass.empty()) names.emplace_back(pass);
  for (const StageSetting& setting : stageSettings)
    if (!isOn(settings, setting.name, true))
      for (const Pass& pass : passes)
        if (pass.stage == setting.stage && std::ranges::find(neededPasses, pass.name) == neededPasses.end())
          names.push_back(pass.name);
  if (const auto found = settings.find("disabled_passes"); found != settings.end() && found->is_string())
    std::ranges::move(listed(found->get<std::string>(), passes), std::back_inserter(names));
  return names;
}

}  // namespace

Result<CompileOptions> inductorOptions(const std::string& settings) {
  const json parsed = readJson<json>(settings);
  if (!parsed.is_object()) return fail(ErrorCode::BadInput, "settings of a compilation are no JSON object");
  CompileOptions options;
  options.roundsEachOp = isOn(parsed, "emulate_precision_casts", false);
  options.sharesMemory = isOn(parsed, "allow_buffer_reuse", true);
  options.passes.disabled = passesTakenAway(parsed);
  if (const auto size = parsed.find("max_fusion_size"); size != parsed.end() && size->is_number_integer())
    options.fuse = size->get<std::int64_t>() > 1;
  return options;
}

}  // namespace kerf::workbench
