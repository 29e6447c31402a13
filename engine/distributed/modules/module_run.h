// ModuleRun: a module of a program as one rank runs it: parameters by path, and what happens before and after the
// forward function of a submodule (distribute_module, parallel styles, fully_shard).
#pragma once

#include <functional>
#include <map>
#include <set>

#include "engine/distributed/dtensor/dtensor_ops.h"

namespace kerf::inline distributed::inline modules {

class ModuleRun {
 public:
  using Hook = std::function<Result<Value>(const Value&)>;

  explicit ModuleRun(const DTensorOps& ops) : m_ops(ops) {}
  const DTensorOps& ops() const { return m_ops; }

  /// A parameter of this rank alone, which the tape knows if it records.
  void addParameter(const std::string& path, const Tensor& whole);
  /// By path ("fc1.weight"). NotFound where there is none.
  Result<Tensor> parameter(const std::string& path) const;
  /// None where there is none.
  Value parameterIf(const std::string& path) const;
  const std::map<std::string, Tensor>& parameters() const { return m_parameters; }
  /// The parameters of the module at `path` itself, not of its submodules.
  std::vector<std::string> parametersOf(const std::string& path) const;
  /// The same parameter in another form. NotFound where there is none.
  Result<void> replaceParameter(const std::string& path, const Tensor& value);
  /// The whole parameter in parts; one that is distributed already stays as it is.
  Result<void> distributeParameter(const std::string& path, const Placements& placements);

  /// What other values stand for parameters until cleared: gathered ones.
  void lend(const std::string& path, const Tensor& value) { m_lent[path] = value; }
  void takeBack(const std::string& path) { m_lent.erase(path); }

  void before(const std::string& path, Hook hook) { m_before[path].push_back(std::move(hook)); }
  void after(const std::string& path, Hook hook) { m_after[path].push_back(std::move(hook)); }
  /// The forward function of the module at `path` between its hooks.
  Result<Value> call(const std::string& path, const Value& input, const Hook& forward) const;

  /// Modules that are embeddings; the other ones with a weight of two dimensions are linear layers.
  std::set<std::string> embeddings;

 private:
  const DTensorOps& m_ops;
  std::map<std::string, Tensor> m_parameters, m_lent;
  std::map<std::string, std::vector<Hook>> m_before, m_after;
};

/// "fc1.weight" of "fc1" and "weight"; "weight" of "" and "weight".
std::string childPath(const std::string& path, const std::string& name);

/// distribute_module: parameters that `partition` says nothing about are replicated, of submodules too.
struct ModulePartition {
  std::function<std::optional<Placements>(const std::string& parameter)> partition;
  ModuleRun::Hook input, output;  ///< none: nothing happens
};
Result<void> distributeModule(ModuleRun& run, const std::string& path, const ModulePartition& partition);

}  // namespace kerf::inline distributed::inline modules
