// Equality of bits: which kernels of a compilation can have it, and why others need not.
#pragma once

#include <string>
#include <vector>

#include "app/cli/context.h"
#include "app/workbench/protocol/bits.h"

namespace kerf::cli {

/// The kernels that the request asks for; none where they cannot be told: bits are compared all the same.
std::vector<KernelBits> kernelBitsOf(Context& context, const BitsRequest& request);

/// A sum, and a row for each kernel that need not be equal (20 at most, `all`: every kernel); empty without kernels.
std::string kernelBitsText(const std::vector<KernelBits>& kernels, bool all);
/// The same, with "can_be_equal".
Json kernelBitsJson(const std::vector<KernelBits>& kernels);

}  // namespace kerf::cli
