// Requests about the op table: which overloads Kerf knows, and what it knows of each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/process/codec.h"

namespace kerf::workbench {

struct OpColumnEntry {
  std::string name, description;

  KERF_FIELDS(name, description)
};
struct OpEntry {
  std::string op;                    ///< "aten.add.Tensor"
  std::string schema;                ///< ATen's text
  std::vector<std::string> sources;  ///< per column where the overload has it from: "own", "base", …; empty: nowhere

  KERF_FIELDS(op, schema, sources)
};
struct OpListing {
  std::vector<OpColumnEntry> columns;
  std::vector<std::string> sources;  ///< every source that there is
  std::vector<OpEntry> ops;

  KERF_FIELDS(columns, sources, ops)
};
struct OpsRequest {
  using Answer = OpListing;
  static constexpr std::string_view name = "ops";
  std::string pattern;  ///< part of a name, or a pattern in which `*` stands for anything; empty: all
  std::string missing;  ///< only overloads that lack this column; empty: all

  KERF_FIELDS(pattern, missing)
};

/// A name of torch's Python API that programs do not find here.
struct AbsentName {
  std::string module, name;  ///< "torch.Tensor", "to_sparse"

  KERF_FIELDS(module, name)
};
struct AbsentNames {
  std::vector<AbsentName> names;

  KERF_FIELDS(names)
};
struct AbsentNamesRequest {
  using Answer = AbsentNames;
  static constexpr std::string_view name = "absent_names";
  std::string pattern;  ///< part of "torch.Tensor.to_sparse", or a pattern in which `*` stands for anything; empty: all

  KERF_FIELDS(pattern)
};

}  // namespace kerf::workbench
