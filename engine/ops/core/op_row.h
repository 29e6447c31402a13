// OpRow: one line of an op family's table. A new op is a new line in one of them.
#pragma once

#include <span>
#include <vector>

#include "engine/ops/core/op_registry.h"

namespace kerf::inline ops {

struct PointwiseSpec;

struct OpRow {
  const char* schema;  ///< ATen schema text
  OpTrait traits = OpTrait::None;
  ShapeRule shape = nullptr;
  Kernel kernel = nullptr;
  const PointwiseSpec* pointwise = nullptr;  ///< element function of pointwise rows
  const char* base = nullptr;                ///< qualified name of the op that this row is another form of
  Composite composite = nullptr;  ///< the row as a program: gives kernel and shape rule where those are not set
};

using OpRows = std::span<const OpRow>;

/// The families of one folder of engine/ops.
struct OpFolder {
  const char* name;
  std::vector<OpRows> families;
};
/// Every folder with its families; op_table.cpp lists them.
const std::vector<OpFolder>& opFolders();
/// The families of all folders.
std::vector<OpRows> opFamilies();
/// The folder that an op's row stands in.
const char* folderOf(const OpInfo& op);
/// Rows that stand in for those of the same schema when an argument is complex.
std::vector<OpRows> complexFamilies();

}  // namespace kerf::inline ops
