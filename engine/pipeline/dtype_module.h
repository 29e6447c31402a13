// castGraph: a whole graph and its inputs in another floating type, ready to compile or interpret.
#pragma once

#include "engine/ir/graph_module.h"
#include "engine/tensor/value.h"

namespace kerf::inline pipeline {

struct CastGraph {
  GraphModule module;
  ValueList inputs;  ///< copies
};

/// Float64 follows castToFp64 (formats A.3). Other types convert inputs, attributes and the float dtypes that
/// prims.convert_element_type and `dtype=` keywords name (float64 ones stay). Metas are computed anew.
Result<CastGraph> castGraph(const GraphModule& module, const ValueList& inputs, DType dtype);

}  // namespace kerf::inline pipeline
