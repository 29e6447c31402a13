#include "engine/distributed/modules/module_run.h"

namespace kerf::inline distributed::inline modules {

std::string childPath(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + "." + name;
}

void ModuleRun::addParameter(const std::string& path, const Tensor& whole) {
  m_parameters.insert_or_assign(path, m_ops.asLocal(whole));
}

Value ModuleRun::parameterIf(const std::string& path) const {
  const auto lent = m_lent.find(path);
  if (lent != m_lent.end()) return Value(lent->second);
  const auto found = m_parameters.find(path);
  return found == m_parameters.end() ? Value() : Value(found->second);
}

Result<Tensor> ModuleRun::parameter(const std::string& path) const {
  const Value value = parameterIf(path);
  if (value.isNone()) return fail(ErrorCode::NotFound, "the module has no parameter '{}'", path);
  return value.tensor();
}

std::vector<std::string> ModuleRun::parametersOf(const std::string& path) const {
  std::vector<std::string> names;
  for (const auto& [name, value] : m_parameters) {
    const std::size_t dot = name.rfind('.');
    if ((dot == std::string::npos ? std::string() : name.substr(0, dot)) == path) names.push_back(name);
  }
  return names;
}

Result<void> ModuleRun::replaceParameter(const std::string& path, const Tensor& value) {
  const auto found = m_parameters.find(path);
  if (found == m_parameters.end()) return fail(ErrorCode::NotFound, "the module has no parameter '{}'", path);
  found->second = value;
  return {};
}

Result<void> ModuleRun::distributeParameter(const std::string& path, const Placements& placements) {
  KERF_TRY(const Tensor now, parameter(path));
  if (m_ops.specOf(now) != nullptr) return {};
  KERF_TRY(const Placements asked, normalized(placements, now.dim()));
  KERF_TRY(m_parameters[path], m_ops.distribute(now, asked));
  return {};
}

Result<Value> ModuleRun::call(const std::string& path, const Value& input, const Hook& forward) const {
  Value value = input;
  if (const auto hooks = m_before.find(path); hooks != m_before.end())
    for (const Hook& hook : hooks->second) {
      KERF_TRY(value, hook(value));
    }
  KERF_TRY(value, forward(value));
  if (const auto hooks = m_after.find(path); hooks != m_after.end())
    for (const Hook& hook : hooks->second) {
      KERF_TRY(value, hook(value));
    }
  return value;
}

Result<void> distributeModule(ModuleRun& run, const std::string& path, const ModulePartition& partition) {
  std::vector<std::string> names;
  for (const auto& [name, value] : run.parameters())
    if (path.empty() || name.starts_with(path + ".")) names.push_back(name);
  for (const std::string& name : names) {
    const auto placements = partition.partition ? partition.partition(name) : std::nullopt;
    KERF_CHECK(run.distributeParameter(name, placements.value_or(Placements(run.ops().mesh().dims()))));
  }
  if (partition.input) run.before(path, partition.input);
  if (partition.output) run.after(path, partition.output);
  return {};
}

}  // namespace kerf::inline distributed::inline modules
