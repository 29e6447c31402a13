// The built-in graphs of `kerf bench --compiled`: each is one or two kernels that big models spend their time in.
#pragma once

#include <string>
#include <vector>

namespace kerf::bench {

struct KernelBenchCase {
  std::string name;
  std::string text;          ///< a graph as PyTorch prints it
  bool roundsEachOp = true;  ///< 16-bit values after every op, as eager does; else what is stored, as Inductor does
};

/// A case on bfloat16 instead of float32: "NAME_bf16".
KernelBenchCase inBfloat16(const KernelBenchCase& single);

/// A 16-bit case that rounds only what is stored: "NAME_fused".
KernelBenchCase roundedWhenStored(KernelBenchCase each);

const std::vector<KernelBenchCase>& kernelBenchCases();

}  // namespace kerf::bench
