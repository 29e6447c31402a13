// The built-in graphs of `kerf bench --compiled`: each is one or two kernels that big models spend their time in.
#pragma once

#include <string>
#include <vector>

namespace kerf::bench {

struct KernelBenchCase {
  std::string name;
  std::string text;  ///< a graph as PyTorch prints it
};

/// A case on bfloat16 instead of float32: "NAME_bf16".
KernelBenchCase inBfloat16(const KernelBenchCase& single);

const std::vector<KernelBenchCase>& kernelBenchCases();

}  // namespace kerf::bench
