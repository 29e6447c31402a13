// Choosing passes by name: disabled, repeated, in another order, replaced, with other options.
#include "engine/passes/manager/pass_config.h"

#include <algorithm>
#include <set>

#include "engine/passes/pass_names.h"

namespace kerf::inline passes {

namespace {

/// By its name, or by one that it had.
Result<Pass*> passNamed(std::string_view name, std::vector<Pass>& passes) {
  const auto found = std::ranges::find(passes, currentPassName(name), &Pass::name);
  if (found != passes.end()) return &*found;
  std::vector<std::string> names;
  for (const Pass& pass : passes) names.push_back(pass.name);
  return noSuchPass(name, names);
}

Error ofPass(Error error, std::string_view pass) {
  error.message = fmt::format("pass {}: {}", pass, error.message);
  return error;
}

Result<void> replace(const PassConfig& config, std::vector<Pass>& passes) {
  for (const Pass& replacement : config.replacements) {
    KERF_TRY(Pass* const pass, passNamed(replacement.name, passes));
    *pass = replacement;
  }
  return {};
}

Result<void> patch(const PassConfig& config, std::vector<Pass>& passes) {
  for (const PassPatch& patch : config.patches) {
    KERF_TRY(Pass* const pass, passNamed(patch.pass, passes));
    const auto set = pass->options.set(patch.option, patch.value);
    if (!set) return fail(ofPass(set.error(), patch.pass));
  }
  return {};
}

Result<std::vector<Pass>> inOrder(const std::vector<std::string>& names, std::vector<Pass>& passes) {
  std::vector<Pass> chosen;
  for (const std::string& name : names) {
    KERF_TRY(const Pass* const pass, passNamed(name, passes));
    if (!chosen.empty() && pass->stage < chosen.back().stage)
      return fail(ErrorCode::BadUsage, "pass {} belongs to stage {}, which is over when {} of stage {} has run", name,
                  stageName(pass->stage), chosen.back().name, stageName(chosen.back().stage));
    chosen.push_back(*pass);
  }
  return chosen;
}

}  // namespace

std::string PassConfig::text() const {
  std::vector<std::string> parts;
  if (only) parts.push_back(fmt::format("only {}", only->empty() ? "none" : fmt::format("{}", fmt::join(*only, ","))));
  for (const std::string& name : disabled) parts.push_back("no " + name);
  for (const Pass& pass : replacements) parts.push_back("own " + pass.name);
  for (const PassPatch& patch : patches)
    parts.push_back(fmt::format("{}.{}={}", patch.pass, patch.option, optionText(patch.value)));
  return fmt::format("{}", fmt::join(parts, "; "));
}

Result<std::vector<Pass>> selectPasses(const PassConfig& config, std::vector<Pass> passes) {
  KERF_CHECK(replace(config, passes));
  KERF_CHECK(patch(config, passes));
  std::set<std::string> disabled;
  for (const std::string& name : config.disabled) {
    KERF_TRY(const Pass* const pass, passNamed(name, passes));
    disabled.insert(pass->name);
  }
  if (config.only) {
    KERF_TRY(passes, inOrder(*config.only, passes));
  }
  std::erase_if(passes, [&](const Pass& pass) { return disabled.contains(pass.name); });
  return passes;
}

Result<PassPatch> parsePassPatch(std::string_view text, std::vector<Pass> passes) {
  const std::size_t equals = text.find('='), dot = text.find('.');
  if (equals == std::string_view::npos || dot == std::string_view::npos || dot > equals)
    return fail(ErrorCode::BadUsage,
                "cannot read the option '{}': write PASS.OPTION=VALUE, e.g. constant_folding.max_bytes=1024", text);
  PassPatch patch{std::string(text.substr(0, dot)), std::string(text.substr(dot + 1, equals - dot - 1)), {}};
  KERF_TRY(const Pass* const pass, passNamed(patch.pass, passes));
  auto value = pass->options.parse(patch.option, text.substr(equals + 1));
  if (!value) return fail(ofPass(value.error(), patch.pass));
  patch.pass = pass->name;
  patch.value = std::move(*value);
  return patch;
}

}  // namespace kerf::inline passes
