// SizeGuards: the sizes of inputs for which what was derived from a graph holds.
#pragma once

#include <memory>

#include "engine/backend/backend.h"
#include "engine/symbolic/shape_env.h"

namespace kerf::inline backend {

class SizeGuards {
 public:
  /// The guards and ranges of `env`; null: none.
  explicit SizeGuards(std::shared_ptr<const ShapeEnv> env) : m_env(std::move(env)) {}

  /// Those of the shapes of `module`: what a pass did because of recorded sizes holds under them, also where the nodes
  /// that asked are gone. None without symbols, or where the shapes cannot be derived.
  static SizeGuards ofShapes(const GraphModule& module);

  /// The first one that these values violate.
  std::optional<GuardViolation> violated(const SymbolBindings& values) const;
  /// Their texts are added to `texts`, unless they are there.
  void addTexts(std::vector<std::string>& texts) const;

 private:
  std::shared_ptr<const ShapeEnv> m_env;
};

}  // namespace kerf::inline backend
