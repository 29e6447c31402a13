// onResultDevice(): which device an op's results are on. Kernels need not think of it.
#pragma once

#include "engine/ops/core/op_call.h"

namespace kerf::inline ops {

/// `result` on the device that `args` says: the `device` argument, else that of the first tensor argument. Data stays
/// where it is: a device is a label here, by which random ops choose their generator and autocast its list.
Value onResultDevice(const BoundArguments& args, Value result);

}  // namespace kerf::inline ops
