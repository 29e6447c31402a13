// Rows of questions about tensors and dtypes. Private to engine/ops/python.
#pragma once

#include "engine/ops/python/python_level.h"

namespace kerf::inline ops {

PythonRows tensorFactRows();  ///< is_contiguous, result_type, can_cast

}  // namespace kerf::inline ops
